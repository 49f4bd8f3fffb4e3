import type { Workspace } from './workspace.svelte';

/** Asks where the folder of a project is now, in the system's dialog: the project is there from then on. */
export async function moveProject(workspace: Workspace, id: string): Promise<void> {
  const moved = await workspace.run(() => workspace.client.moveProject(id), { moved: id });
  if (!moved) return;
  // One that was only opened there is none any more; what was written in it is not lost.
  const gone = workspace.projects.filter((one) => one.path === moved.path && one.id !== id).map((one) => one.id);
  for (const other of gone) workspace.drafts.add(`new:${id}`, workspace.drafts.of(`new:${other}`));
  const left = workspace.projects.filter((one) => !gone.includes(one.id));
  workspace.projects = left.map((one) => (one.id === id ? moved : one));
  if (workspace.projectId === id) workspace.troubles.forget('project_unusable');
  else workspace.addProject(moved);
  workspace.feeds.reopen();
  workspace.reviewed++;
}
