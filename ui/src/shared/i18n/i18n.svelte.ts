/** The language in use. Switching it redraws everything that reads it; nothing is loaded later. */
import type { Language } from '../../ipc/bindings';
import { en, type Messages } from './en';
import { Formats, type Locale } from './formats';
import { zh } from './zh';

const DICTIONARIES: Record<Locale, Messages> = { en, 'zh-CN': zh };

class I18n {
  locale = $state<Locale>('en');
  readonly t = $derived(DICTIONARIES[this.locale]);
  readonly f = $derived(new Formats(this.locale));

  /** Follows the setting; `system` is the system's language as a BCP 47 tag. */
  use(language: Language, system: string): void {
    this.locale = language === 'system' ? localeOf(system) : language;
    document.documentElement.lang = this.locale;
  }
}

/** The nearest of our languages; English where none is near. */
export function localeOf(tag: string): Locale {
  return /^zh(?![a-z])/i.test(tag) ? 'zh-CN' : 'en';
}

export const i18n = new I18n();
