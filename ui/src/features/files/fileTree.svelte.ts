/** The folders of one session as they were read, kept fresh while someone looks. */
import type { FilePreview, FolderView, TextPlace } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';
import { FilesLeft, START } from './left.svelte';
import { parentOf, rowsOf } from './tree';

export class FileTree {
  private listings = $state.raw<ReadonlyMap<string, FolderView>>(new Map());
  /** The row at hand. */
  current = $state<string | null>(null);
  preview = $state.raw<FilePreview | null>(null);
  error = $state('');
  previewError = $state('');
  readonly rows = $derived(rowsOf(this.listings, this.open));
  readonly folders = $derived(['/', ...this.open]);

  constructor(
    private readonly client: UiClient,
    private readonly session: string,
    private readonly left = new FilesLeft(),
  ) {
    for (const path of this.folders) void this.read(path);
    this.current = this.chosen;
    if (this.chosen !== null) void this.page(this.pages);
  }

  get chosen(): string | null {
    return this.left.chosen;
  }

  get hasEarlier(): boolean {
    return this.pages.length > 1;
  }

  private get pages(): readonly TextPlace[] {
    return this.left.pages;
  }

  private get open(): ReadonlySet<string> {
    return this.left.open;
  }

  private set open(open: ReadonlySet<string>) {
    this.left.open = open;
  }

  async toggle(path: string): Promise<void> {
    const open = new Set(this.open);
    if (open.delete(path)) return void (this.open = open);
    this.open = open.add(path);
    await this.read(path);
  }

  /** Opens the folders that lead to a file, and looks at it; a folder is opened itself. */
  async reveal(path: string, isFolder = false): Promise<void> {
    const folders = isFolder ? [path] : [];
    for (let folder = parentOf(path); folder !== '/'; folder = parentOf(folder)) folders.push(folder);
    this.open = new Set([...this.open, ...folders]);
    this.current = path;
    const look = isFolder ? [] : [this.look(path)];
    await Promise.all([...look, ...folders.map((folder) => this.read(folder))]);
  }

  /** Reads folders again, and the file at hand where it is in one of them. */
  async refresh(folders: readonly string[] = this.folders): Promise<void> {
    const known = folders.filter((path) => path === '/' || this.open.has(path));
    if (known.includes('/')) await this.read('/');
    // What is open stays so where nothing is there for a while.
    if (!this.error) await Promise.all(known.filter((path) => path !== '/').map((path) => this.read(path)));
    if (this.chosen !== null && folders.includes(parentOf(this.chosen))) await this.page(this.pages);
  }

  async look(path: string): Promise<void> {
    this.left.chosen = path;
    await this.page([START]);
  }

  async later(): Promise<void> {
    const { preview } = this;
    if (preview?.body.kind === 'text' && preview.body.next) await this.page([...this.pages, preview.body.next]);
  }

  async earlier(): Promise<void> {
    if (this.hasEarlier) await this.page(this.pages.slice(0, -1));
  }

  /** Looks at the last of these pages. */
  private async page(pages: readonly TextPlace[]): Promise<void> {
    const path = this.chosen;
    if (path === null) return;
    this.left.pages = pages;
    try {
      const preview = await this.client.previewFile(this.session, path, pages.at(-1) ?? START);
      if (this.chosen !== path || this.pages !== pages) return;
      this.preview = preview;
      this.previewError = '';
    } catch (thrown) {
      if (this.chosen !== path || this.pages !== pages) return;
      this.preview = null;
      this.previewError = asError(thrown).message;
    }
  }

  private async read(path: string): Promise<void> {
    try {
      const folder = await this.client.listFolder(this.session, path);
      this.listings = new Map(this.listings).set(path, folder);
      if (path === '/') this.error = '';
    } catch (thrown) {
      const listings = new Map(this.listings);
      listings.delete(path);
      this.listings = listings;
      if (path === '/') this.error = asError(thrown).message;
      else this.open = new Set([...this.open].filter((open) => open !== path && !open.startsWith(`${path}/`)));
    }
  }
}
