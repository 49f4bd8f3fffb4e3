/**
 * Text of unknown origin, made honest: what cannot be seen is named, what moves other text is named, nothing is
 * interpreted. Everything an approval shows goes through here (security.md, A02 to A07).
 */

export type Segment =
  | { kind: 'text'; text: string }
  /** A character, or a run of one, that would not be seen or would mislead. `source` is what stands in the text. */
  | { kind: 'mark'; label: string; count: number; source: string };

/** What the text is: in code, tabs and deep indentation are ordinary; in prose so is what languages are set with. */
export type Setting = 'command' | 'code' | 'prose';

/** How many in a row are drawn before they are counted instead: within a line, and as its indentation. */
const LIMITS = { ' ': { name: 'SPACE', inside: 16, leading: 64 }, '\t': { name: 'TAB', inside: 8, leading: 16 } };
const LINE_FEEDS = 4;
const COMBINING = 3;

const NAMES: Record<number, string> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x09: 'TAB',
  0x0b: 'VT',
  0x0c: 'FF',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0x85: 'NEL',
  0x9b: 'CSI',
  0x9d: 'OSC',
  0xa0: 'NBSP',
  0xad: 'SHY',
  0x34f: 'CGJ',
  0x61c: 'ALM',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x2028: 'LSEP',
  0x2029: 'PSEP',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x202f: 'NNBSP',
  0x2060: 'WJ',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
  0xfffc: 'OBJ',
};

/** Letters and fillers that are drawn as nothing. */
const FILLERS = new Set([0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0]);

/**
 * Text without it can be told at once to hold nothing worth a mark: no tab, no run of blanks, letters of Western Europe.
 * What is sought is the exception: a repeated group costs WebKit's engine memory for every letter of the text.
 */
const UNPLAIN = /[^\n -~\u00a1-\u00ac\u00ae-\u02ff]| {16}|\n{4}/;

/** The segments of `text`, in its own order; joined, their sources are the text again. */
export function visible(text: string, setting: Setting = 'command'): Segment[] {
  if (!UNPLAIN.test(text)) return text ? [{ kind: 'text', text }] : [];
  return new Scanner(text, setting).run();
}

/** The same as one string, every mark written as ⟨NAME⟩ or ⟨NAME ×count⟩: what copying yields. */
export function written(text: string): string {
  return visible(text)
    .map((segment) => (segment.kind === 'text' ? segment.text : `⟨${markText(segment.label, segment.count)}⟩`))
    .join('');
}

/** Whether anything in `text` would be hidden if it were simply printed. */
export const hidesSomething = (text: string): boolean => visible(text).some((segment) => segment.kind === 'mark');

/** What may be a mark that hides or turns text; blanks are none here, whatever their width. */
const HIDING =
  /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|\p{M}{4,}/gu;

/**
 * The first sign in a text or a file that is not seen or turns what stands around it. What languages, pictures and systems
 * write so is none: joined letters, the ends of lines on Windows, the mark at a file's beginning.
 */
export function firstHidden(text: string): { at: number; mark: string } | null {
  if (!UNPLAIN.test(text)) return null;
  for (const { 0: found, index: at } of text.matchAll(HIDING)) {
    const before = text.slice(Math.max(0, at - 3), at);
    const isLineEnd = found === '\r' && text[at + 1] === '\n';
    if (isLineEnd || (found === '\ufeff' && at === 0) || (JOINERS.test(found) && JOINING.test(before))) continue;
    const mark = /\p{M}{4}/u.test(found) ? 'COMBINING' : markOf(found.codePointAt(0) ?? 0, before);
    if (mark !== null) return { at, mark };
  }
  return null;
}

export const markText = (label: string, count: number): string => (count > 1 ? `${label} ×${count}` : label);

class Scanner {
  private out: Segment[] = [];
  private plain = '';
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly setting: Setting,
  ) {}

  run(): Segment[] {
    while (this.at < this.text.length) this.step();
    this.flush();
    return this.out;
  }

  private step(): void {
    const code = this.text.codePointAt(this.at) ?? 0;
    const char = String.fromCodePoint(code);
    if (this.setting === 'prose' && isTypography(char, this.text.slice(Math.max(0, this.at - 2), this.at))) {
      return this.draw(char);
    }
    if (char === ' ' || (char === '\t' && this.setting === 'code')) return this.blanks(char);
    if (char === '\n') {
      const run = this.runOf(char);
      return run.length < LINE_FEEDS ? this.draw(run) : this.mark('LF', run.length, run);
    }
    if (/\p{M}/u.test(char) && !isVariation(code)) return this.combining();
    const name = markOf(code, this.text.slice(Math.max(0, this.at - 3), this.at));
    if (name === null) return this.draw(char);
    const run = this.runOf(char);
    this.mark(name, run.length / char.length, run);
  }

  private runOf(char: string): string {
    let end = this.at;
    while (this.text.startsWith(char, end)) end += char.length;
    return this.text.slice(this.at, end);
  }

  private blanks(char: ' ' | '\t'): void {
    const run = this.runOf(char);
    const { name, inside, leading } = LIMITS[char];
    const starts = this.at === 0 || this.text[this.at - 1] === '\n';
    if (run.length < (starts ? leading : inside)) this.draw(run);
    else this.mark(name, run.length, run);
  }

  /** A few marks on a letter are writing; a pile of them is drawn over its neighbours. */
  private combining(): void {
    const pile = /^\p{M}+/u.exec(this.text.slice(this.at))?.[0] ?? '';
    const count = [...pile].length;
    if (count > COMBINING) this.mark('COMBINING', count, pile);
    else this.draw(pile);
  }

  private draw(text: string): void {
    this.plain += text;
    this.at += text.length;
  }

  private mark(label: string, count: number, source: string): void {
    this.flush();
    this.out.push({ kind: 'mark', label, count, source });
    this.at += source.length;
  }

  private flush(): void {
    if (this.plain) this.out.push({ kind: 'text', text: this.plain });
    this.plain = '';
  }
}

/** What an alphabet that joins its letters joins and parts them with. */
const JOINERS = /[\u200c\u200d]/;
const JOINING = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\p{L}\p{M}]$/u;

/** Blanks of every width, where a word may be broken, and joiners after letters that join. */
const isTypography = (char: string, before: string): boolean =>
  /[\p{Zs}\t\u00ad]/u.test(char) || (JOINERS.test(char) && JOINING.test(before));

const isVariation = (code: number) => (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);

/** The mark's name for one character, or `null` where it may be drawn as it is. `before` is the text just before it. */
function markOf(code: number, before: string): string | null {
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (NAMES[code] !== undefined) {
    const joinsEmoji = code === 0x200d && /[\p{Extended_Pictographic}\p{EMod}]\ufe0f?$/u.test(before);
    return joinsEmoji ? null : NAMES[code];
  }
  const char = String.fromCodePoint(code);
  if (isVariation(code)) return code === 0xfe0f && /\p{Emoji}$/u.test(before) ? null : hex;
  if (FILLERS.has(code) || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u.test(char)) return hex;
  // The wide blank is ordinary in Chinese and Japanese text and is as wide as it is; it is still not a space.
  if (/\p{Zs}/u.test(char)) return hex;
  return null;
}
