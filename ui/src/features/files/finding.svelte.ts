/** Files and folders of a session found by their names, while someone types. */
import type { FoundFiles } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';
import { rowsOfFound } from './tree';

export class Finding {
  typed = $state('');
  found = $state.raw<FoundFiles | null>(null);
  error = $state('');
  current = $state<string | null>(null);
  readonly isOn = $derived(this.typed.trim() !== '');
  readonly rows = $derived(this.found ? rowsOfFound(this.found) : []);
  private isAsking = false;
  /** What is known of the files is not enough: they are looked through once more. */
  private isOld = false;

  constructor(
    private readonly client: UiClient,
    private readonly session: string,
  ) {}

  type(text: string): void {
    this.typed = text;
    this.current = null;
    if (!this.isOn) [this.found, this.error] = [null, ''];
    void this.find();
  }

  /** Looks through the files anew, and not only in what was known of them a moment ago. */
  async refresh(): Promise<void> {
    await this.client.lookAnew();
    this.isOld = true;
    await this.find();
  }

  /** Asks once at a time: of the letters typed meanwhile only the last count. */
  async find(): Promise<void> {
    if (this.isAsking || !this.isOn) return;
    this.isAsking = true;
    for (let asked = ''; this.isOn && (this.isOld || asked !== this.typed);) {
      asked = this.typed;
      this.isOld = false;
      let answer: [FoundFiles | null, string];
      try {
        answer = [await this.client.findFiles(this.session, asked.trim()), ''];
      } catch (thrown) {
        answer = [null, asError(thrown).message];
      }
      if (this.isOn) [this.found, this.error] = answer;
    }
    this.isAsking = false;
  }
}
