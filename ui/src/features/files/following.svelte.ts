/** Folders on disk that a pane follows, and why it cannot where it cannot. */
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';

export class Following {
  /** Why what is shown does not follow the disk; empty while it does. */
  problem = $state('');
  private attempts = $state(0);

  constructor(
    private readonly client: UiClient,
    /** Where the folders are on disk, as far as that can change under a session. */
    private readonly place: () => string,
  ) {}

  again(): void {
    this.attempts++;
  }

  /** Tells of what changes in the folders from now on. Called in an effect, and gives its end. */
  follow(session: string, folders: string[], onTouched: (touched: string[]) => void): () => void {
    void [this.attempts, this.place()];
    let close: (() => void) | null = null;
    let isGone = false;
    this.client.watchFolders(session, folders, onTouched).then(
      (subscription) => {
        if (isGone) return subscription.close();
        close = subscription.close;
        this.problem = '';
        // What came between the look at them and the watch over them is told to nobody else.
        onTouched(folders);
      },
      (thrown: unknown) => {
        if (!isGone) this.problem = asError(thrown).message;
      },
    );
    return () => {
      isGone = true;
      close?.();
    };
  }
}
