/** What a comment on a line begins with. */
import type { DiffLine } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';

/** More of a line would bury what is said about it. */
const MOST = 200;

/** The place of a line, and the line itself: by its number alone nobody finds it once the file has changed. */
export function quoted({ old, new: now, segments }: DiffLine): string {
  const text = segments.map((segment) => segment.text).join('');
  const letters = [...text];
  const shown = letters.length > MOST ? `${letters.slice(0, MOST).join('')}…` : text;
  const place = now === null ? i18n.t.changes.removedLine(old ?? 0) : `:${now}`;
  return `${place}\n> ${shown.trim()}\n`;
}
