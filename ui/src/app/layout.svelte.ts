/** What a person arranged: widths, what is open. Remembered per project, on this machine only. */

import { TEXT_RESIZED, textScale } from './theme';

export type Tab = 'plan' | 'agents' | 'changes' | 'files' | 'timeline';

interface Saved {
  sidebar: number;
  inspector: number;
  sidebarOpen: boolean;
  inspectorOpen: boolean;
  tab: Tab;
  /** Diffs stand in two columns. */
  split: boolean;
}

export const WIDTHS = {
  sidebar: { min: 200, start: 248, max: 360 },
  inspector: { min: 320, start: 432, max: 720 },
} as const;

const START: Saved = {
  sidebar: WIDTHS.sidebar.start,
  inspector: WIDTHS.inspector.start,
  sidebarOpen: true,
  inspectorOpen: true,
  tab: 'plan',
  split: false,
};

export const TABS: readonly Tab[] = ['plan', 'agents', 'changes', 'files', 'timeline'];

/** Width of the window below which the side pane is always a drawer, and below which the sidebar is icons. */
const DRAWER = 900;
const ICONS = 700;
/** What the conversation keeps: the side pane gives way first by its width, then by becoming a drawer. */
const CENTRE = 560;
/** The sidebar when it is icons, and the share of the window it takes at most. */
const RAIL = 52;
const SIDEBAR_SHARE = 0.21;

export class Layout {
  sidebar = $state(START.sidebar);
  inspector = $state(START.inspector);
  sidebarOpen = $state(START.sidebarOpen);
  inspectorOpen = $state(START.inspectorOpen);
  tab = $state<Tab>(START.tab);
  split = $state(START.split);

  private window = $state(window.innerWidth);
  /** How large words are drawn: larger ones need more room everywhere. */
  private scale = $state(textScale());
  /** Too narrow for a sidebar with words. */
  readonly isNarrow = $derived(this.window < ICONS * this.scale);
  private readonly leastSidebar = $derived(WIDTHS.sidebar.min * this.scale);
  /** The sidebar as it is drawn beside the others. */
  readonly sidebarWidth = $derived(
    this.isNarrow || !this.sidebarOpen
      ? RAIL
      : Math.min(
          Math.max(this.sidebar, this.leastSidebar),
          Math.max(this.leastSidebar, Math.round(this.window * SIDEBAR_SHARE)),
        ),
  );
  private readonly room = $derived(this.window - this.sidebarWidth - CENTRE * this.scale);
  /** There is no room for three panes: the side pane lies over the conversation while it is open. */
  readonly isDrawer = $derived(this.window < DRAWER * this.scale || this.room < WIDTHS.inspector.min * this.scale);
  readonly inspectorWidth = $derived(this.isDrawer ? this.inspector : Math.min(this.inspector, this.room));
  /** A drawer is opened for the moment and never remembered. */
  drawerOpen = $state(false);
  sidebarPeek = $state(false);

  private project = '';

  constructor() {
    window.addEventListener('resize', () => this.resized());
    window.addEventListener(TEXT_RESIZED, () => this.resized());
  }

  /** What was opened for the moment shuts when there is room for it, or none any more. */
  private resized(): void {
    const { isDrawer, isNarrow } = this;
    this.window = window.innerWidth;
    this.scale = textScale();
    if (isDrawer !== this.isDrawer) this.drawerOpen = false;
    if (isNarrow !== this.isNarrow) this.sidebarPeek = false;
  }

  get isInspectorShown(): boolean {
    return this.isDrawer ? this.drawerOpen : this.inspectorOpen;
  }

  get isSidebarWide(): boolean {
    return this.isNarrow ? this.sidebarPeek : this.sidebarOpen;
  }

  toggleInspector(): void {
    if (this.isDrawer) this.drawerOpen = !this.drawerOpen;
    else this.inspectorOpen = !this.inspectorOpen;
    this.save();
  }

  toggleSidebar(): void {
    if (this.isNarrow) this.sidebarPeek = !this.sidebarPeek;
    else this.sidebarOpen = !this.sidebarOpen;
    this.save();
  }

  show(tab: Tab): void {
    this.tab = tab;
    if (this.isDrawer) this.drawerOpen = true;
    else this.inspectorOpen = true;
    this.save();
  }

  load(project: string): void {
    this.project = project;
    const saved = read(key(project));
    this.sidebar = within(saved.sidebar, WIDTHS.sidebar);
    this.inspector = within(saved.inspector, WIDTHS.inspector);
    this.sidebarOpen = saved.sidebarOpen !== false;
    this.inspectorOpen = saved.inspectorOpen !== false;
    this.tab = TABS.find((tab) => tab === saved.tab) ?? START.tab;
    this.split = saved.split === true;
  }

  save(): void {
    const { sidebar, inspector, sidebarOpen, inspectorOpen, tab, split } = this;
    try {
      localStorage.setItem(
        key(this.project),
        JSON.stringify({ sidebar, inspector, sidebarOpen, inspectorOpen, tab, split }),
      );
    } catch {
      // Storage is full or switched off: the layout then lasts for this run.
    }
  }
}

const key = (project: string) => `bosun.layout.${project}`;

function read(name: string): Partial<Saved> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function within(value: unknown, { min, start, max }: { min: number; start: number; max: number }): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : start;
}
