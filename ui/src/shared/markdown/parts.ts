/** How a block that goes on and on is read in parts. */
import type { Token, Tokens } from 'marked';
import { hidesSomething } from '../text/visibleText';

/** A word after a space or after a sentence of Chinese: nothing that begins there is taken for a mark of Markdown. */
const WORD = /[ \u3001\u3002\uff01\uff0c\uff1b\uff1f]\p{L}/gu;

/** What may open a mark whose end was not read yet. */
const MARK = /[`[\\]|[*~<$](?!\s)|(?<![\p{L}\p{N}])_(?!\s)/u;

/** The first part of a paragraph or a list that something follows; `null` where it cannot be parted. */
export function partOf(token: Token): Token | null {
  if (token.type === 'list') return firstEntries(token as Tokens.List);
  return token.type === 'paragraph' ? firstWords(token as Tokens.Paragraph) : null;
}

/** All entries but the last, which may go on. */
function firstEntries(list: Tokens.List): Token | null {
  const items = list.items.slice(0, -1);
  if (items.length === 0) return null;
  return { ...list, items, raw: items.map(({ raw }) => raw).join('') };
}

/**
 * As many words as end before the first mark that was opened and not shut: it may be shut in what follows, whatever stands
 * between. `null` where these are few.
 */
function firstWords(paragraph: Tokens.Paragraph): Token | null {
  const { tokens, raw } = paragraph;
  let part: Token | null = null;
  let length = 0;
  for (const [at, token] of tokens.entries()) {
    const opened = token.type === 'text' ? token.raw.search(MARK) : -1;
    const plainly = opened < 0 ? token.raw : token.raw.slice(0, opened);
    const end = token.type === 'text' ? ([...plainly.matchAll(WORD)].at(-1)?.index ?? -1) + 1 : 0;
    if (end > 0 && length + end > raw.length / 2) {
      const words = plain(token.raw.slice(0, end));
      part = { ...paragraph, ...said(raw.slice(0, length) + words.raw), tokens: [...tokens.slice(0, at), words] };
    }
    if (opened >= 0) break;
    length += token.raw.length;
  }
  return part;
}

/** The number that the entry after a part of a list has; `null` of what is not counted. */
export function numberAfter(token: Token): number | null {
  const list = token as Tokens.List;
  return token.type === 'list' && list.ordered ? Number(list.start) + list.items.length : null;
}

/** The rest of a list that was parted: it goes on with the number that is next, whatever the source says. */
export const numberedFrom = (start: number | null, token: Token): Token =>
  token.type === 'list' && start !== null ? ({ ...token, start } as Token) : token;

const said = (raw: string) => ({ raw, text: raw });
const plain = (raw: string): Token => ({ type: 'text', raw, text: raw, escaped: false });

/** Whether code stands at the end, alone: it needs no closing of half-written marks. */
export const isOpenCode = (tokens: readonly Token[]): boolean => tokens.length === 1 && tokens[0]?.type === 'code';

/** A fence that was opened and not shut yet: what is added is looked through once, for the end of it. */
export class Fence {
  private constructor(
    private readonly lang: string,
    /** Where the code begins. */
    private readonly start: number,
    private readonly end: RegExp,
    /** The first line that was not seen whole. */
    private line: number,
  ) {}

  /** The open fence that `source` begins with; `null` where the lines in it would have to be changed. */
  static at(source: string): Fence | null {
    const opening = /(`{3,}|~{3,})([^\n]*)\n/y;
    const found = opening.exec(source);
    const [, mark = '', lang = ''] = found ?? [];
    if (!found || lang.includes('\\')) return null;
    const end = new RegExp(`^ {0,3}${mark}`, 'gm');
    const start = opening.lastIndex;
    const fence = new Fence(lang.trim(), start, end, start);
    return fence.mayEnd(source) ? null : fence;
  }

  mayEnd(source: string): boolean {
    this.end.lastIndex = this.line;
    if (this.end.test(source)) return true;
    this.line = Math.max(this.start, source.lastIndexOf('\n') + 1);
    return false;
  }

  /** The code as it is now. */
  token(source: string): Token {
    const text = source.endsWith('\n') ? source.slice(this.start, -1) : source.slice(this.start);
    return { type: 'code', raw: source, lang: this.lang, text };
  }
}

/** So much of code is laid out again when more of it comes. */
const CODE_PART = 4 * 1024;

/** A line without an end, of which every part would be marked again with each word, is marked when it is whole. */
const LONGEST_MARKED = 4 * CODE_PART;

export interface CodePart {
  text: string;
  /** It has signs that are not seen or turn others, which are to be marked. */
  hides: boolean;
}

/** Code as runs of whole lines. Those before the last stay as they are while more is added; only that is looked through. */
export class CodeParts {
  private done: CodePart[] = [];
  private last: CodePart | null = null;
  private known = '';

  read(code: string): CodePart[] {
    if (!code.startsWith(this.known)) [this.done, this.last, this.known] = [[], null, ''];
    let end = this.known.length;
    while (code.length - end > 2 * CODE_PART) {
      const line = code.indexOf('\n', end + CODE_PART) + 1;
      if (line === 0) break;
      const text = code.slice(end, line);
      this.done.push({ text, hides: hidesInCode(text) });
      this.last = null;
      end = line;
    }
    this.known = code.slice(0, end);
    const text = code.slice(end);
    // A line without an end is looked through when it is whole.
    this.last = { text, hides: text.length <= LONGEST_MARKED && this.hidesNow(text) };
    return [...this.done, this.last];
  }

  private hidesNow(text: string): boolean {
    const { last } = this;
    if (!last || !text.startsWith(last.text)) return hidesInCode(text);
    return last.hides || hidesInCode(text.slice(settledAt(last.text)));
  }
}

/** Blanks are ordinary in code, however many there are. */
export const hidesInCode = (code: string): boolean =>
  hidesSomething(code.replaceAll('\t', ' ').replace(/ {16,}/g, ' '));

/** A sign that is judged by itself, whatever stands before it. */
const SETTLED = /[!-~\p{L}]/u;

/** Where what follows can be judged by itself: at the last such sign. */
function settledAt(text: string): number {
  let at = text.length - 1;
  while (at > 0 && !SETTLED.test(text.charAt(at))) at--;
  return Math.max(0, at);
}
