/** What a person can press beside the sentence of something that went wrong. */
import type { Problem, ProviderView } from '../ipc/bindings';
import { hostOf } from '../features/settings/address';
import { i18n } from '../shared/i18n/i18n.svelte';
import type { Dialog } from './dialog';
import type { About } from './troubles.svelte';
import { wayOf, type Way } from './ways';
import { moveProject } from './moving';
import type { Workspace } from './workspace.svelte';

/** One button: what it says, and what it does. */
export interface Step {
  way: Way;
  label: string;
  run: () => void;
}

/** Where a person is asked for a folder: what is wrong with the one they named is no trouble of the project at hand. */
const ASKS_FOR_FOLDER = ['pickProject', 'startTour'];

export function stepsOut(workspace: Workspace, problem: Problem, about: About = {}): Step[] {
  const { way, of } = wayOf(problem);
  // Said in the window's own words, of a project that is listed as gone.
  if (way === 'folder' || about.moved !== undefined) return folderSteps(workspace, about, of);
  const t = i18n.t.ways;
  const opening = (label: string, dialog: Dialog): Step[] => [{ way, label, run: () => (workspace.dialog = dialog) }];
  switch (way) {
    case 'again': {
      const { again } = about;
      return again ? [{ way, label: i18n.t.app.tryAgain, run: () => void again() }] : [];
    }
    case 'provider': {
      const provider = providerOf(workspace, of);
      const label = provider ? t.provider(provider.label) : t.models;
      return opening(label, { kind: 'settings', section: 'models', ...(provider ? { provider: provider.id } : {}) });
    }
    case 'choose_model':
      return [{ way, label: t.choose_model, run: () => (workspace.isModelMenuOpen = true) }];
    case 'trust':
      return workspace.project ? opening(t.trust, { kind: 'trust' }) : [];
    case 'skills':
      return opening(t.skills, { kind: 'skills' });
    case 'timeline':
      return workspace.session ? [{ way, label: t.timeline, run: () => workspace.layout.show('timeline') }] : [];
    case 'models':
    case 'permissions':
    case 'sandbox':
    case 'servers':
    case 'subagents':
    case 'appearance':
    case 'data':
      return opening(t[way], { kind: 'settings', section: way });
    case 'none':
      return [];
  }
}

/** A project that is not where it was may only have moved. */
function folderSteps(workspace: Workspace, { request, project: asked, moved }: About, { problem }: Problem): Step[] {
  const isAsked = ASKS_FOR_FOLDER.some((name) => request?.startsWith(name));
  const project = moved ?? (isAsked || request === undefined ? null : (asked ?? null));
  const t = i18n.t.projects;
  const move = { way: 'folder' as const, label: t.moved, run: () => void (project && moveProject(workspace, project)) };
  const open = { way: 'folder' as const, label: t.openAnother, run: () => void workspace.pickProject() };
  return project === null || problem === 'project_still_there' ? [open] : [move, open];
}

/** The provider that a problem is about: by its name or its host, else that of the model at hand. */
function providerOf({ providers, model }: Workspace, problem: Problem): ProviderView | null {
  const value = (name: string) => (problem as unknown as Record<string, unknown>)[name] ?? null;
  const address = value('address');
  const host = value('host') ?? (typeof address === 'string' ? (hostOf(address) ?? address) : null);
  const fits = (one: ProviderView) =>
    one.id === value('id') ||
    one.label === value('provider') ||
    (host !== null && (one.host === host || hostOf(one.base_url) === host));
  return providers.find(fits) ?? providers.find((one) => one.id === model?.provider) ?? null;
}
