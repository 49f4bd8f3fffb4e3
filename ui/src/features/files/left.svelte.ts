import type { TextPlace } from '../../ipc/bindings';

/** The beginning of a file. */
export const START: TextPlace = { line: 1, part: 0 };

/** The files of a session as a person left them. What is in them is read anew. */
export class FilesLeft {
  /** Folders that are open. */
  open = $state.raw<ReadonlySet<string>>(new Set());
  chosen = $state<string | null>(null);
  /** Where the pages began that were looked at on the way here; the last is the one at hand. */
  pages = $state.raw<readonly TextPlace[]>([START]);
}
