import type { Span } from '../../shared/markdown/highlight';

/** Coloured spans of a text, line by line. */
export function spansByLine(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    const parts = span.text.split('\n');
    parts.forEach((text, at) => {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ ...span, text });
    });
  }
  return lines;
}
