/** What a person can do with a file or folder, wherever it stands. */
import type { Workspace } from '../../app/workspace.svelte';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { copyText } from '../../shared/text/clipboard';
import { displayPath } from '../chat/toolWords';

export function deedsOf(workspace: Workspace, session: string) {
  const { client } = workspace;
  return {
    mention: (path: string) => workspace.mention(path),
    open: (path: string) => void workspace.run(() => client.openFile(session, path)),
    reveal: (path: string) => void workspace.run(() => client.revealFile(session, path)),
    async copyPath(path: string): Promise<void> {
      const shown = displayPath(path);
      const result = await copyText(shown);
      workspace.tell({ text: result === 'failed' ? i18n.t.files.notCopied : i18n.t.files.copiedPath(shown) });
    },
    async save(path: string): Promise<void> {
      const saved = await workspace.run(() => client.saveFile(session, path));
      if (saved) workspace.tell({ text: i18n.t.files.saved(saved) });
    },
  };
}
