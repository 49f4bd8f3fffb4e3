/** The files of a session as a person left them. What is in them is read anew. */
export class FilesLeft {
  /** Folders that are open. */
  open = $state.raw<ReadonlySet<string>>(new Set());
  chosen = $state<string | null>(null);
  /** 1-based first line that is looked at. */
  first = $state(1);
}
