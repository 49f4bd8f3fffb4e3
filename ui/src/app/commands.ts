/** Everything that can be asked for from anywhere: by its keys, in the palette, from the message box. */
import Bell from '@lucide/svelte/icons/bell';
import BookMarked from '@lucide/svelte/icons/book-marked';
import Columns3 from '@lucide/svelte/icons/columns-3';
import Compass from '@lucide/svelte/icons/compass';
import FileDiff from '@lucide/svelte/icons/file-diff';
import Folder from '@lucide/svelte/icons/folder';
import FolderOpen from '@lucide/svelte/icons/folder-open';
import History from '@lucide/svelte/icons/history';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Languages from '@lucide/svelte/icons/languages';
import ListTodo from '@lucide/svelte/icons/list-todo';
import Moon from '@lucide/svelte/icons/moon';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import PanelRight from '@lucide/svelte/icons/panel-right';
import Pencil from '@lucide/svelte/icons/pencil';
import Play from '@lucide/svelte/icons/play';
import Plus from '@lucide/svelte/icons/plus';
import FoldVertical from '@lucide/svelte/icons/fold-vertical';
import Rewind from '@lucide/svelte/icons/rewind';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import Sparkles from '@lucide/svelte/icons/sparkles';
import Square from '@lucide/svelte/icons/square';
import Star from '@lucide/svelte/icons/star';
import Sun from '@lucide/svelte/icons/sun';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import CheckCheck from '@lucide/svelte/icons/check-check';
import Download from '@lucide/svelte/icons/download';
import Paperclip from '@lucide/svelte/icons/paperclip';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Trash from '@lucide/svelte/icons/trash-2';
import Undo from '@lucide/svelte/icons/undo-2';
import type { Component } from 'svelte';
import type { ExportFormat, SessionSummary } from '../ipc/bindings';
import { keep } from '../features/changes/all';
import Crew from '../shared/ui/icons/Crew.svelte';
import { chordName, chordOf, type Shortcuts } from './keys';
import type { Workspace } from './workspace.svelte';

interface Spec {
  icon: Component;
  /** Its keys where nobody may give it others, as they are written in the interface. */
  keys?: string;
  /** What calls it from the message box. */
  slash?: string;
  isPossible?: (workspace: Workspace) => boolean;
  run: (workspace: Workspace) => void;
}

const goesOn = ({ session }: Workspace) => session?.status === 'running' || session?.status === 'waiting';
const canGoOn = ({ session }: Workspace) =>
  session?.status === 'failed' || session?.status === 'stopped' || session?.status === 'interrupted';
const hasSession = ({ sessionId }: Workspace) => sessionId !== null;

/** What is done beside the side pane is seen: where that lies over it, it goes. */
const uncovered =
  (run: Spec['run']): Spec['run'] =>
  (workspace) => {
    workspace.layout.drawerOpen = false;
    run(workspace);
  };

const hasChanges = ({ sessionId, feeds }: Workspace) =>
  sessionId !== null && (feeds.peek(sessionId).snapshot?.changes.length ?? 0) > 0;

/** What is done to the session at hand, as its menu in the list does it. */
const withSession = (act: (workspace: Workspace, session: SessionSummary) => unknown) => (workspace: Workspace) => {
  const { session } = workspace;
  if (session) void act(workspace, session);
};
const exportAs = (format: ExportFormat) =>
  withSession((workspace, session) => (workspace.dialog = { kind: 'export', session, format }));

/** What closes gives the focus back first. */
const afterwards = (act: () => void) => void setTimeout(act);

/** To the button that asks whether it is meant; where there is none nothing is open, which the pane tells. */
function askToUndoAll({ layout }: Workspace): void {
  const button = document.querySelector<HTMLElement>('[data-does=undo-all]');
  if (!button) return layout.show('changes');
  button.focus();
  button.click();
}

const SPECS = {
  newSession: {
    icon: Plus,
    slash: 'new',
    isPossible: ({ project }) => project !== null,
    run: (workspace) => workspace.newSession(),
  },
  stop: { icon: Square, keys: 'Esc', slash: 'stop', isPossible: goesOn, run: (workspace) => workspace.stop() },
  continue: { icon: Play, slash: 'continue', isPossible: canGoOn, run: (workspace) => workspace.continue() },
  model: { icon: Sparkles, slash: 'model', run: uncovered((workspace) => (workspace.isModelMenuOpen = true)) },
  inbox: {
    icon: Bell,
    slash: 'waiting',
    isPossible: ({ needYou }) => needYou.length > 0,
    run: (workspace) => (workspace.dialog = { kind: 'inbox' }),
  },
  find: {
    icon: Search,
    slash: 'find',
    isPossible: hasSession,
    run: uncovered((workspace) => (workspace.isFinding = true)),
  },
  plan: { icon: ListTodo, slash: 'plan', isPossible: hasSession, run: ({ layout }) => layout.show('plan') },
  board: {
    icon: Columns3,
    slash: 'board',
    isPossible: hasSession,
    run: (workspace) => (workspace.dialog = { kind: 'board' }),
  },
  agents: { icon: Crew, slash: 'agents', isPossible: hasSession, run: ({ layout }) => layout.show('agents') },
  changes: {
    icon: FileDiff,
    slash: 'changes',
    isPossible: hasSession,
    run: ({ layout }) => layout.show('changes'),
  },
  files: { icon: Folder, slash: 'files', isPossible: hasSession, run: ({ layout }) => layout.show('files') },
  timeline: { icon: History, slash: 'timeline', isPossible: hasSession, run: ({ layout }) => layout.show('timeline') },
  rewind: {
    icon: Rewind,
    keys: 'Esc Esc',
    slash: 'rewind',
    isPossible: (workspace) => hasSession(workspace) && !goesOn(workspace),
    run: (workspace) => void workspace.past.rewindTo(null),
  },
  compact: {
    icon: FoldVertical,
    slash: 'compact',
    isPossible: hasSession,
    run: (workspace) => (workspace.dialog = { kind: 'summary' }),
  },
  rename: {
    icon: Pencil,
    slash: 'rename',
    isPossible: hasSession,
    run: uncovered((workspace) => {
      if (!workspace.layout.isSidebarWide) workspace.layout.toggleSidebar();
      afterwards(() => workspace.sessionId !== null && workspace.renaming.begin(workspace.sessionId));
    }),
  },
  pin: {
    icon: Pin,
    slash: 'pin',
    isPossible: ({ session }) => session?.pinned === false,
    run: withSession((workspace, { id }) => workspace.run(() => workspace.client.pinSession(id, true))),
  },
  unpin: {
    icon: PinOff,
    slash: 'unpin',
    isPossible: ({ session }) => session?.pinned === true,
    run: withSession((workspace, { id }) => workspace.run(() => workspace.client.pinSession(id, false))),
  },
  archive: {
    icon: Archive,
    slash: 'archive',
    isPossible: ({ session }) => session?.archived === false,
    run: withSession(({ bin }, session) => bin.archive(session)),
  },
  unarchive: {
    icon: ArchiveRestore,
    slash: 'unarchive',
    isPossible: ({ session }) => session?.archived === true,
    run: withSession((workspace, { id }) => workspace.run(() => workspace.client.archiveSession(id, false))),
  },
  delete: { icon: Trash, isPossible: hasSession, run: withSession(({ bin }, session) => bin.delete(session)) },
  exportMarkdown: { icon: Download, slash: 'export', isPossible: hasSession, run: exportAs('markdown') },
  exportJson: { icon: Download, isPossible: hasSession, run: exportAs('json') },
  exportHtml: { icon: Download, isPossible: hasSession, run: exportAs('html') },
  attach: {
    icon: Paperclip,
    slash: 'attach',
    isPossible: ({ project }) => project !== null,
    run: ({ alongs }) => afterwards(() => (alongs.isPicking = true)),
  },
  keepAll: {
    icon: CheckCheck,
    slash: 'keep',
    isPossible: hasChanges,
    run: withSession((workspace, { id }) => keep(workspace, id, null, 'session')),
  },
  undoAll: {
    icon: Undo,
    isPossible: (workspace) => hasChanges(workspace) && !goesOn(workspace),
    run: (workspace) => afterwards(() => askToUndoAll(workspace)),
  },
  sidebar: { icon: PanelLeft, run: uncovered(({ layout }) => layout.toggleSidebar()) },
  inspector: { icon: PanelRight, isPossible: hasSession, run: ({ layout }) => layout.toggleInspector() },
  openFolder: { icon: FolderOpen, slash: 'open', run: (workspace) => void workspace.pickProject() },
  palette: { icon: Search, run: (workspace) => (workspace.dialog = { kind: 'palette' }) },
  memories: {
    icon: BookMarked,
    slash: 'memories',
    run: (workspace) => (workspace.dialog = { kind: 'memories' }),
  },
  skills: { icon: Star, slash: 'skills', run: (workspace) => (workspace.dialog = { kind: 'skills' }) },
  subagents: {
    icon: Crew,
    slash: 'subagents',
    run: (workspace) => (workspace.dialog = { kind: 'settings', section: 'subagents' }),
  },
  trust: {
    icon: ShieldCheck,
    slash: 'trust',
    isPossible: ({ project }) => project !== null,
    run: (workspace) => (workspace.dialog = { kind: 'trust' }),
  },
  settings: {
    icon: Settings,
    slash: 'settings',
    run: (workspace) => (workspace.dialog = { kind: 'settings', section: 'models' }),
  },
  sheet: {
    icon: Keyboard,
    slash: 'keys',
    run: (workspace) => (workspace.dialog = { kind: 'shortcuts' }),
  },
  light: { icon: Sun, run: (workspace) => void workspace.saveSettings({ theme: 'light' }) },
  dark: { icon: Moon, run: (workspace) => void workspace.saveSettings({ theme: 'dark' }) },
  asSystem: { icon: SunMoon, run: (workspace) => void workspace.saveSettings({ theme: 'system' }) },
  english: { icon: Languages, run: (workspace) => void workspace.saveSettings({ language: 'en' }) },
  chinese: { icon: Languages, run: (workspace) => void workspace.saveSettings({ language: 'zh-CN' }) },
  firstSteps: { icon: Compass, run: (workspace) => (workspace.isWelcoming = true) },
} satisfies Record<string, Spec>;

export type CommandId = keyof typeof SPECS;

export interface Command extends Spec {
  id: CommandId;
}

export const COMMANDS: readonly Command[] = Object.entries(SPECS as Record<string, Spec>).map(([id, spec]) => ({
  ...spec,
  id: id as CommandId,
}));

/** The keys of a command as they are written in the interface. */
export function keysOf(id: CommandId, shortcuts: Shortcuts): string | undefined {
  const spec: Spec = SPECS[id];
  const chord = chordOf(id, shortcuts);
  return spec.keys ?? (chord ? chordName(chord) : undefined);
}

/** What could be done as things stand. */
export const possible = (workspace: Workspace): Command[] =>
  COMMANDS.filter((command) => command.isPossible?.(workspace) ?? true);

/** Does it where it can be done. */
export function perform(workspace: Workspace, id: CommandId): void {
  possible(workspace)
    .find((command) => command.id === id)
    ?.run(workspace);
}
