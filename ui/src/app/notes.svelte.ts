/** Something that was done, and how to take it back. */
export interface Note {
  text: string;
  undo?: () => Promise<void>;
}

/** A note goes by itself after this long. */
const NOTE_MS = 12_000;

/** What was done last, for as long as it is worth a word. */
export class Notes {
  current = $state.raw<Note | null>(null);
  private timer: ReturnType<typeof setTimeout> | undefined;

  tell(note: Note): void {
    this.current = note;
    this.release();
  }

  /** It stays while a person is at it. */
  hold(): void {
    clearTimeout(this.timer);
  }

  release(): void {
    this.hold();
    this.timer = setTimeout(() => this.dismiss(), NOTE_MS);
  }

  dismiss(): void {
    this.current = null;
  }
}
