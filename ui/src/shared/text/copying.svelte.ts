/** What became of a copy, for as long as that is said beside the button. */
import { i18n } from '../i18n/i18n.svelte';
import { copyText, type CopyResult } from './clipboard';

const SHOWN_MS = 1600;
const NOTES: Record<CopyResult, () => string> = {
  copied: () => i18n.t.app.copied,
  cleaned: () => i18n.t.app.copiedCleaned,
  failed: () => i18n.t.files.notCopied,
};

export class Copying {
  result = $state<CopyResult | null>(null);
  readonly note = $derived(this.result ? NOTES[this.result]() : '');
  private timer: ReturnType<typeof setTimeout> | undefined;

  async copy(text: string): Promise<void> {
    this.result = await copyText(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.result = null), SHOWN_MS);
  }
}
