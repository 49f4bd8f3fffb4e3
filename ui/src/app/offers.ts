/** What the palette offers by name: commands, modes, places of the settings, and other projects. */
import Folder from '@lucide/svelte/icons/folder';
import Settings from '@lucide/svelte/icons/settings';
import ShieldQuestion from '@lucide/svelte/icons/shield-question-mark';
import type { Component } from 'svelte';
import { MODES } from '../features/approvals/modes.svelte';
import { enter } from '../features/projects/enter';
import { sectionNames } from '../features/settings/sections';
import { i18n } from '../shared/i18n/i18n.svelte';
import type { SettingsSection } from './dialog';
import { keysOf, possible } from './commands';
import type { Workspace } from './workspace.svelte';

/** One line of the palette. */
interface Offer {
  id: string;
  label: string;
  note?: string;
  also: string;
  keys?: string | undefined;
  icon: Component;
  run: () => void;
}

export const commandOffers = (workspace: Workspace): Offer[] => [
  ...possible(workspace)
    .filter(({ id }) => id !== 'palette')
    .map(({ id, icon, slash, run }) => ({
      id,
      icon,
      keys: keysOf(id, workspace.shortcuts),
      label: i18n.t.commands[id],
      also: [slash, i18n.t.otherWords[id]].filter(Boolean).join(' '),
      run: () => run(workspace),
    })),
  ...modeOffers(workspace),
  ...sectionOffers(workspace),
];

/** Projects that are not at hand. */
export const projectOffers = (workspace: Workspace): Offer[] =>
  workspace.projects
    .filter(({ id }) => id !== workspace.projectId)
    .map((project) => ({
      id: `project-${project.id}`,
      icon: Folder,
      label: project.name,
      note: project.problem === null ? project.path : i18n.t.projects.problems[project.problem],
      also: i18n.t.palette.projectWords,
      run: () => enter(workspace, project),
    }));

/** Modes other than that of the session at hand, or of the one to come. */
function modeOffers(workspace: Workspace): Offer[] {
  const { modes, projectId } = workspace;
  const t = i18n.t.modes;
  return MODES.filter((mode) => projectId !== null && mode !== modes.current).map((mode) => ({
    id: `mode-${mode}`,
    icon: ShieldQuestion,
    label: `${t.label} · ${t[mode]}`,
    also: i18n.t.palette.modeWords,
    run: () => void modes.choose(mode),
  }));
}

function sectionOffers(workspace: Workspace): Offer[] {
  const { title } = i18n.t.settings;
  return Object.entries(sectionNames(i18n.t)).map(([name, label]) => {
    const section = name as SettingsSection;
    return {
      id: `settings-${section}`,
      icon: Settings,
      label: `${title} · ${label}`,
      also: i18n.t.palette.sectionWords[section],
      run: () => (workspace.dialog = { kind: 'settings', section }),
    };
  });
}
