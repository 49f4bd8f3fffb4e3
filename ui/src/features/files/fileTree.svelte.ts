/** The folders of one session as they were read, kept fresh while someone looks. */
import type { FilePreview, FolderView } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';
import { FilesLeft } from './left.svelte';
import { parentOf, rowsOf } from './tree';

export class FileTree {
  private listings = $state.raw<ReadonlyMap<string, FolderView>>(new Map());
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
    if (this.chosen !== null) void this.show(this.chosen, this.first);
  }

  get chosen(): string | null {
    return this.left.chosen;
  }

  private get first(): number {
    return this.left.first;
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

  /** Opens the folders that lead to a file, and looks at it. */
  async reveal(path: string): Promise<void> {
    const folders: string[] = [];
    for (let folder = parentOf(path); folder !== '/'; folder = parentOf(folder)) folders.push(folder);
    this.open = new Set([...this.open, ...folders]);
    await Promise.all([this.look(path), ...folders.map((folder) => this.read(folder))]);
  }

  /** Reads folders again, and the file at hand where it is in one of them. */
  async refresh(folders: readonly string[] = this.folders): Promise<void> {
    const known = folders.filter((path) => path === '/' || this.open.has(path));
    await Promise.all(known.map((path) => this.read(path)));
    if (this.chosen !== null && folders.includes(parentOf(this.chosen))) await this.look(this.chosen, this.first);
  }

  async look(path: string, first = 1): Promise<void> {
    this.left.chosen = path;
    this.left.first = first;
    await this.show(path, first);
  }

  private async show(path: string, first: number): Promise<void> {
    try {
      const preview = await this.client.previewFile(this.session, path, first);
      if (this.chosen !== path || this.first !== first) return;
      this.preview = preview;
      this.previewError = '';
    } catch (thrown) {
      if (this.chosen !== path) return;
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
