/** What is done to changed files, from the pane and from the dock: whoever shows them reads them again afterwards. */
import type { Workspace } from '../../app/workspace.svelte';
import { toldOf } from '../../shared/problem';

export async function act<T>(workspace: Workspace, work: () => Promise<T>): Promise<T | undefined> {
  const done = await workspace.run(work);
  workspace.reviewed++;
  return done;
}

export const keepAll = (workspace: Workspace, session: string) =>
  act(workspace, () => workspace.client.keepChanges(session, null));

/** Puts every file back; of those that stay as they are the person is told why. */
export async function undoAll(workspace: Workspace, session: string): Promise<void> {
  const files = (await act(workspace, () => workspace.client.undoChanges(session))) ?? [];
  const stayed = files.flatMap(({ problem }) => problem ?? []);
  if (stayed.length > 0) workspace.fail(toldOf('invalid', stayed));
}
