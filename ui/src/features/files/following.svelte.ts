/** Folders on disk that a pane follows, and why it cannot where it cannot. */
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';

type Touched = (folders: string[]) => void;

interface Watch {
  folders: readonly string[];
  place: string;
  onTouched: Touched;
  close: () => void;
}

/** News that are gathered reach who follows within this time. */
const GATHERED_MS = 2_500;

export class Following {
  /** Why what is shown does not follow the disk; empty while it does. */
  problem = $state('');
  private attempts = $state(0);
  /** What was followed until just now: it goes on where more or fewer folders are followed for the same. */
  private left: Watch | null = null;

  constructor(
    private readonly client: UiClient,
    /** Where the folders are on disk, as far as that can change under a session. */
    private readonly place: () => string,
  ) {}

  again(): void {
    this.attempts++;
  }

  /**
   * Tells of what changes in the folders from now on, and at once of those that nobody watched until now: something may
   * have come between the look at them and the watch. Called in an effect, and gives its end. Where the next call has the
   * same `onTouched` in the same place, the folders of both are followed without a gap.
   */
  follow(session: string, folders: readonly string[], onTouched: Touched): () => void {
    void this.attempts;
    const place = this.place();
    let before = this.takeLeft(onTouched, place);
    let standing: Watch | null = null;
    let isGone = false;
    this.client.watchFolders(session, folders, onTouched).then(
      ({ close }) => {
        if (isGone) return close();
        standing = { folders, place, onTouched, close };
        this.problem = '';
        const fresh = folders.filter((folder) => !before?.folders.includes(folder));
        // What it has gathered and not told yet is told.
        if (before) setTimeout(before.close, GATHERED_MS);
        before = null;
        if (fresh.length > 0) onTouched(fresh);
      },
      (thrown: unknown) => {
        if (!isGone) this.problem = asError(thrown).message;
      },
    );
    return () => {
      isGone = true;
      const left = standing ?? before;
      if (left) this.leave(left);
    };
  }

  private leave(watch: Watch): void {
    this.left = watch;
    queueMicrotask(() => this.takeLeft(null, watch.place));
  }

  /** What was left, for who goes on with it; for anybody else it is over. */
  private takeLeft(onTouched: Touched | null, place: string): Watch | null {
    const { left } = this;
    this.left = null;
    if (!left || (left.onTouched === onTouched && left.place === place)) return left;
    left.close();
    return null;
  }
}
