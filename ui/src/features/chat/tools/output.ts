/** The texts tools answer with, read back into what they list. What does not fit stays text. */

export interface NumberedLine {
  /** The line's number; `N.1` for a continued row. */
  number: string;
  text: string;
}

/** Rows in the shape of `cat -n`; `null` where the text is something else. A last line that is none is the note. */
export function numbered(output: string): { lines: NumberedLine[]; note: string } | null {
  const lines: NumberedLine[] = [];
  const notes: string[] = [];
  for (const row of output.replace(/\n$/, '').split('\n')) {
    const match = /^ *(\d+(?:\.\d+)?)\t(.*)$/.exec(row);
    if (match && notes.length === 0) lines.push({ number: match[1] ?? '', text: match[2] ?? '' });
    else notes.push(row);
  }
  return lines.length > 0 && notes.length <= 3 ? { lines, note: notes.join('\n').trim() } : null;
}

export interface FileMatches {
  path: string;
  matches: NumberedLine[];
}

/** Matches by file: `path:` with `  12: text` below, or one path on each line. `rest` is what was neither. */
export function matches(output: string): { files: FileMatches[]; rest: string } {
  const files: FileMatches[] = [];
  const rest: string[] = [];
  for (const row of output.split('\n')) {
    const match = /^ +(\d+): ?(.*)$/.exec(row);
    const path = /^(\/.*?)(?::(?: (\d+))?)?$/.exec(row);
    if (match && files.length > 0) files.at(-1)?.matches.push({ number: match[1] ?? '', text: match[2] ?? '' });
    else if (path) files.push({ path: path[1] ?? '', matches: path[2] ? [{ number: path[2], text: '' }] : [] });
    else if (row.trim()) rest.push(row);
  }
  return { files, rest: rest.join('\n') };
}
