/** What a person arranged: widths, what is open. Remembered per project, on this machine only. */

export type Tab = 'plan' | 'agents' | 'changes';

interface Saved {
  sidebar: number;
  inspector: number;
  sidebarOpen: boolean;
  inspectorOpen: boolean;
  tab: Tab;
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
};

const TABS: readonly Tab[] = ['plan', 'agents', 'changes'];

/** Widths of the window below which the side pane is a drawer, and the sidebar icons. */
const DRAWER = '(max-width: 899.98px)';
const ICONS = '(max-width: 699.98px)';

export class Layout {
  sidebar = $state(START.sidebar);
  inspector = $state(START.inspector);
  sidebarOpen = $state(START.sidebarOpen);
  inspectorOpen = $state(START.inspectorOpen);
  tab = $state<Tab>(START.tab);

  /** The window is too narrow for three panes. */
  isDrawer = $state(false);
  isNarrow = $state(false);
  /** A drawer is opened for the moment and never remembered. */
  drawerOpen = $state(false);
  sidebarPeek = $state(false);

  private project = '';

  constructor() {
    this.watch(DRAWER, (matches) => {
      this.isDrawer = matches;
      this.drawerOpen = false;
    });
    this.watch(ICONS, (matches) => {
      this.isNarrow = matches;
      this.sidebarPeek = false;
    });
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
  }

  save(): void {
    const { sidebar, inspector, sidebarOpen, inspectorOpen, tab } = this;
    try {
      localStorage.setItem(key(this.project), JSON.stringify({ sidebar, inspector, sidebarOpen, inspectorOpen, tab }));
    } catch {
      // Storage is full or switched off: the layout then lasts for this run.
    }
  }

  private watch(query: string, listener: (matches: boolean) => void): void {
    const list = window.matchMedia(query);
    listener(list.matches);
    list.addEventListener('change', (event) => listener(event.matches));
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
