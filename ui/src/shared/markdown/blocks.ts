/**
 * Markdown as a list of blocks that grows with the text. Only the unfinished tail is lexed again: finished blocks keep
 * their token and their id, so nothing that is drawn is touched. Nothing here makes HTML; components draw the tokens.
 */
import { Lexer, type Token, type TokensList } from 'marked';
import remend from 'remend';
import type { Growth } from '../text/growth';
import { OPTIONS } from './options';
import { Fence, isOpenCode, numberAfter, numberedFrom, partOf } from './parts';

export interface Block {
  /** Its place; stays the same when the block is finished. */
  id: number;
  token: Token;
  /** No later text can change it. */
  settled: boolean;
  /** It goes on with the block before, which was too long to be read again with everything that is added. */
  isRest: boolean;
}

/**
 * A piece that is lexed in one go. A paragraph or a list that is longer is drawn in parts: of what grows, only the last
 * part is read and laid out again.
 */
const PIECE = 8 * 1024;
/** A block that cannot be parted is read as a whole up to here; a longer one is drawn as plain text. */
const LONGEST = 512 * 1024;
/** What stands before a block of this length is not changed by what follows. */
const SURE = 1024;
/** A block that cannot be parted is read again when it has grown by this share of itself, so that all readings together stay few. */
const GROWTH = 1 / 8;

const HALF_WRITTEN = { linkMode: 'text-only', katex: false, htmlTags: false, setextHeadings: true } as const;

export class BlockReader {
  blocks: Block[] = [];
  private source = '';
  /** How much of `source` the settled blocks cover, and the rest of it. */
  private done = 0;
  private tail = '';
  /** Of the text that was read last, where it grows; `null` of one that cannot be added to as it is. */
  private version: number | null = null;
  private settledCount = 0;
  /** The next block to settle goes on with the one before. */
  private goesOn = false;
  /** The number it goes on with, where the one before is a part of a list that is counted. */
  private next: number | null = null;
  /** Below this length of the source the tail, which could not be parted, is not read again. */
  private readFrom = 0;
  /** Code at the end whose fence was not shut yet. */
  private fence: Fence | null = null;
  private links: TokensList['links'] = {};
  private defines = false;
  private ended = false;

  /** Takes the text as it is now. `whole` says that nothing follows, `growth` what was added to the text before it. */
  read(text: string, whole: boolean, growth?: Growth): Block[] {
    if (growth && growth.from === this.version && !this.ended && !growth.added.includes('\r')) {
      this.source = text;
      this.tail += growth.added;
      this.version = growth.version;
    } else {
      const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
      if (!source.startsWith(this.source.slice(0, this.done)) || this.ended) this.reset();
      this.source = source;
      this.tail = source.slice(this.done);
      this.version = source === text && growth ? growth.version : null;
    }
    if (!whole && this.source.length < this.readFrom) return this.blocks;
    this.blocks = [...this.blocks];
    if (whole || !this.growCode()) {
      while (this.tail.length > PIECE && this.settlePiece());
      this.readTail(whole);
    }
    if (whole && this.defines && this.source.length <= LONGEST) this.resolveReferences();
    this.ended = whole;
    return this.blocks;
  }

  private reset(): void {
    this.blocks = [];
    this.source = '';
    this.done = 0;
    this.tail = '';
    this.settledCount = 0;
    this.goesOn = false;
    this.next = null;
    this.readFrom = 0;
    this.fence = null;
    this.links = {};
    this.defines = false;
    this.ended = false;
  }

  /** Settles the blocks of one long piece; false where the tail is short enough or one open block. */
  private settlePiece(): boolean {
    for (let size = PIECE; size <= LONGEST; size *= 2) {
      const piece = this.tail.slice(0, size);
      const before = this.done;
      const tokens = this.lex(piece);
      if (this.settle(tokens).length === tokens.length && piece.length === size) this.settlePart(tokens);
      if (this.done > before) return true;
      if (piece.length < size) return false;
    }
    const raw = structuredClone(this.tail.slice(0, LONGEST));
    this.push({ type: 'text', raw, text: raw });
    return true;
  }

  /** Settles what stands before one long block, or the first part of it. */
  private settlePart(tokens: readonly Token[]): void {
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    const long = tokens[last];
    if (!long || (last > 0 && long.raw.length < SURE)) return;
    const part = last > 0 ? null : partOf(long);
    const settled = part ? [part] : tokens.slice(0, last);
    if (!this.tail.startsWith(settled.map(({ raw }) => raw).join(''))) return;
    settled.forEach((token) => this.push(token));
    this.goesOn = part !== null;
    const pushed = this.blocks.at(-1);
    this.next = part && pushed ? numberAfter(pushed.token) : null;
  }

  /** Adds to code whose fence is open, without reading it again; false where it may have been shut. */
  private growCode(): boolean {
    const { fence } = this;
    const open = this.blocks[this.settledCount];
    if (!fence || !open || fence.mayEnd(this.tail)) return false;
    this.blocks[this.settledCount] = { ...open, token: fence.token(this.tail) };
    return true;
  }

  private readTail(whole: boolean): void {
    const tokens = this.lex(this.tail);
    const rest = whole ? tokens : this.settle(tokens);
    const open = this.settledCount;
    const old = this.blocks.slice(open);
    this.fence = !whole && isOpenCode(rest) ? Fence.at(this.tail) : null;
    const isLong = this.tail.length > PIECE && !this.fence;
    this.readFrom = isLong ? this.source.length + this.tail.length * GROWTH : 0;
    const raw = rest.map((token) => token.raw).join('');
    const closed = whole || isOpenCode(rest) ? raw : remend(raw, HALF_WRITTEN);
    // A blank that ends it is nobody's.
    const shown = closed.trimEnd() === raw.trimEnd() ? rest : this.lex(closed);
    this.blocks.length = open;
    shown.forEach((token, at) => {
      this.blocks.push(this.block(open + at, token, { settled: whole, isRest: this.goesOn && at === 0 }, old[at]));
    });
  }

  /** Settles what no later text can change, and returns the tokens of the tail. */
  private settle(tokens: Token[]): Token[] {
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    const end = tokens[last];
    // A short last line may still turn out to belong to the block above it, as a list's next mark does.
    const isSure = end && (end.raw.includes('\n') || end.raw.length > 16) && isEnd(tokens[last - 1]);
    if (!isSure) return tokens;
    const settled = tokens.slice(0, last);
    const raw = settled.map((token) => token.raw).join('');
    if (!this.tail.startsWith(raw)) return tokens;
    for (const token of settled) this.push(token);
    return tokens.slice(last);
  }

  private push(token: Token): void {
    const at = this.settledCount++;
    const block = this.block(at, token, { settled: true, isRest: this.goesOn }, this.blocks[at]);
    this.goesOn = false;
    this.next = null;
    this.blocks.length = at;
    this.blocks.push(block);
    this.done += token.raw.length;
    this.tail = this.tail.slice(token.raw.length);
  }

  /** A block that was drawn with the same source keeps its token. */
  private block(id: number, read: Token, is: Pick<Block, 'settled' | 'isRest'>, old: Block | undefined): Block {
    const token = is.isRest ? numberedFrom(this.next, read) : read;
    const same = old?.token.raw === token.raw && old.token.type === token.type;
    if (same && old.settled === is.settled && old.isRest === is.isRest) return old;
    return { id, token: same ? old.token : token, ...is };
  }

  private lex(text: string): Token[] {
    const lexer = new Lexer(OPTIONS);
    Object.assign(lexer.tokens.links, this.links);
    // Of a copy: engines keep a part of a string by keeping all of it, and every block would keep the message as it was then.
    const tokens = lexer.lex(structuredClone(text));
    this.links = { ...tokens.links };
    if (tokens.some((token) => token.type === 'def')) this.defines = true;
    return [...tokens];
  }

  /** A definition may stand below its use, in a block that was finished before. */
  private resolveReferences(): void {
    const tokens = this.lex(this.source);
    this.blocks = tokens.map((token, id) => {
      const old = this.blocks[id];
      const mayRefer = old?.token.raw !== token.raw || token.raw.includes('][') || /\[[^\]]+\](?!\()/.test(token.raw);
      return mayRefer || !old ? { id, token, settled: true, isRest: false } : old;
    });
  }
}

/** Whether the block before is over: a blank line follows it, or its fence was shut. */
const isEnd = (token: Token | undefined): boolean =>
  token?.type === 'space' || (token?.type === 'code' && token.codeBlockStyle !== 'indented');
