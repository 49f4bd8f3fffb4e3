import type { Workspace } from '../../app/workspace.svelte';
import type { ProjectView } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { said } from '../../shared/problem';

/** Goes to a project, or says why that cannot be. */
export function enter(workspace: Workspace, { id, name, problem }: ProjectView): void {
  if (problem === null) workspace.enterProject(id);
  else workspace.fail(said('project_unusable', `${name}: ${i18n.t.projects.problems[problem]}`));
}
