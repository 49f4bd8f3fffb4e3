import type { TextRow } from '../../ipc/bindings';
import type { Span } from '../../shared/markdown/highlight';

/** The text that rows are of: the parts of a line are one line again. */
export const textOf = (rows: readonly TextRow[]): string =>
  rows.map(({ part, text }, at) => (at > 0 && part === 0 ? `\n${text}` : text)).join('');

/** Coloured spans of the text of some rows, row by row. */
export function spansByRow(spans: readonly Span[], rows: readonly TextRow[]): Span[][] {
  const shown: Span[][] = rows.map(() => []);
  let at = 0;
  let left = rows[0]?.text.length ?? 0;
  for (const span of spans) {
    let { text } = span;
    while (text !== '') {
      if (left === 0) {
        const next = rows[++at];
        if (!next) return shown;
        left = next.text.length;
        if (next.part === 0) text = text.slice(1);
        continue;
      }
      shown[at]?.push({ ...span, text: text.slice(0, left) });
      const rest = text.slice(left);
      left -= text.length - rest.length;
      text = rest;
    }
  }
  return shown;
}
