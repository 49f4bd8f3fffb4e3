import type { Settings } from '../ipc/bindings';

/** Settings of another version may lack what this one knows. */
export type Complete = Required<Settings>;

/** What holds until something was chosen. */
export const START: Complete = {
  theme: 'system',
  language: 'system',
  model: null,
  welcomed: false,
  muted: false,
  editor: '',
  shortcuts: {},
  projects: {},
};

/** Keeps settings; nothing where that failed and was told of. */
type Keep = (settings: Settings) => Promise<Settings | undefined>;

/** Changes of the settings, kept one after the other: each is made to what became of the one before. */
export class Saves {
  private kept: Complete;
  private waiting: Partial<Settings>[] = [];
  private last: Promise<void> = Promise.resolve();

  constructor(
    given: Settings,
    private readonly keep: Keep,
    private readonly show: (settings: Complete) => void,
  ) {
    this.kept = { ...START, ...given };
  }

  save(change: Partial<Settings>): Promise<void> {
    this.waiting.push(change);
    this.show(this.shown);
    this.last = this.last.then(() => this.next(change));
    return this.last;
  }

  private async next(change: Partial<Settings>): Promise<void> {
    const kept = await this.keep({ ...this.kept, ...change });
    // What could not be kept holds for this run.
    this.kept = kept ? { ...START, ...kept } : { ...this.kept, ...atOnce(change) };
    this.waiting = this.waiting.filter((one) => one !== change);
    this.show(this.shown);
  }

  private get shown(): Complete {
    return this.waiting.reduce<Complete>((settings, change) => ({ ...settings, ...atOnce(change) }), this.kept);
  }
}

/** What holds before it is kept: an editor is confirmed first. */
function atOnce({ editor: _, ...change }: Partial<Settings>): Partial<Settings> {
  return change;
}
