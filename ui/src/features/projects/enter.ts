import type { Workspace } from '../../app/workspace.svelte';
import type { ProjectProblem, ProjectView } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { said } from '../../shared/problem';

/** Whether a folder that is not what it was may be elsewhere now; others are where they are and may not be used. */
export function hasMoved(problem: ProjectProblem | null): boolean {
  return problem === 'missing' || problem === 'not_a_folder' || problem === 'unreadable';
}

/** Goes to a project, or says why that cannot be. */
export function enter(workspace: Workspace, { id, name, problem }: ProjectView): void {
  if (problem === null) workspace.enterProject(id);
  else
    workspace.fail(said('project_unusable', `${name}: ${i18n.t.projects.problems[problem]}`), {
      moved: hasMoved(problem) ? id : undefined,
    });
}

/** Where the folder of a project is, and whether it is there: another text whenever that is another. */
export const whereIs = (project: ProjectView | null): string =>
  project === null ? '' : `${project.problem ?? ''}:${project.path}`;
