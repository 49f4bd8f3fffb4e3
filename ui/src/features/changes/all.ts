/** What is done to changed files, from the pane and from the dock: whoever shows them reads them again afterwards. */
import type { Workspace } from '../../app/workspace.svelte';
import type { ChangeScope, Problem } from '../../ipc/bindings';
import { toldOf } from '../../shared/problem';

export async function act<T>(workspace: Workspace, work: () => Promise<T>): Promise<T | undefined> {
  const done = await workspace.run(work);
  workspace.reviewed++;
  return done;
}

/** Keeps what the scope shows of a file, or of all; of those that cannot be kept alone the person is told why. */
export async function keep(
  workspace: Workspace,
  session: string,
  path: string | null,
  scope: ChangeScope,
): Promise<void> {
  stayed(workspace, (await act(workspace, () => workspace.client.keepChanges(session, path, scope))) ?? []);
}

/** Undoes what the scope shows of every file; of those that stay as they are the person is told why. */
export async function undoAll(workspace: Workspace, session: string, scope: ChangeScope): Promise<void> {
  const files = (await act(workspace, () => workspace.client.undoChanges(session, scope))) ?? [];
  stayed(
    workspace,
    files.flatMap(({ problem }) => problem ?? []),
  );
}

function stayed(workspace: Workspace, problems: Problem[]): void {
  if (problems.length > 0) workspace.fail(toldOf('invalid', problems));
}
