import type { Workspace } from './workspace.svelte';

/** Asks where the folder of a project is now, in the system's dialog: the project is there from then on. */
export async function moveProject(workspace: Workspace, id: string): Promise<void> {
  const before = workspace.projects;
  const moved = await workspace.run(() => workspace.client.moveProject(id), { moved: id });
  if (!moved) return;
  // One that was only opened there, be it while the dialog was up, is none any more, and the list may know that already;
  // what was written in it is not lost, with what was to go along.
  const listed = [...before, ...workspace.projects].filter((one) => one.path === moved.path && one.id !== id);
  const gone = [...new Set(listed.map((one) => one.id))];
  const here = `new:${id}`;
  for (const there of gone.map((other) => `new:${other}`)) {
    workspace.drafts.add(here, workspace.drafts.of(there));
    workspace.alongs.put(here, workspace.alongs.of(there).kept());
    for (const store of [workspace.drafts, workspace.alongs]) store.forget(there);
  }
  // The core forgot what was chosen for it, and the next choice would bring it back.
  for (const other of gone) if (workspace.projectModels.of(other)) await workspace.projectModels.save(other, null);
  const left = workspace.projects.filter((one) => !gone.includes(one.id));
  workspace.projects = left.map((one) => (one.id === id ? moved : one));
  if (workspace.projectId === id) workspace.troubles.forget('project_unusable');
  else workspace.addProject(moved);
  workspace.feeds.reopen();
  workspace.reviewed++;
  // What was deleted there is this one's.
  if (gone.length > 0) await workspace.bin.refresh();
}
