/**
 * Markdown as a list of blocks that grows with the text. Only the unfinished tail is lexed again: finished blocks keep
 * their token and their id, so nothing that is drawn is touched. Nothing here makes HTML; components draw the tokens.
 */
import { Lexer, type Token, type TokensList } from 'marked';
import remend from 'remend';
import { OPTIONS } from './math';

export interface Block {
  /** Its place; stays the same when the block is finished. */
  id: number;
  token: Token;
  /** No later text can change it. */
  settled: boolean;
}

/** A piece that is lexed in one go; longer runs without an end of block are drawn as plain text. */
const PIECE = 64 * 1024;
const LONGEST = 512 * 1024;

const HALF_WRITTEN = { linkMode: 'text-only', katex: false, htmlTags: false, setextHeadings: true } as const;

export class BlockReader {
  blocks: Block[] = [];
  private source = '';
  /** How much of `source` the settled blocks cover. */
  private done = 0;
  private settledCount = 0;
  private links: TokensList['links'] = {};
  private defines = false;
  private ended = false;

  /** Takes the text as it is now. `whole` says that nothing follows. */
  read(text: string, whole: boolean): Block[] {
    const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    if (!source.startsWith(this.source.slice(0, this.done)) || this.ended) this.reset();
    this.source = source;
    while (this.source.length - this.done > PIECE && this.settlePiece());
    this.readTail(whole);
    if (whole && this.defines && source.length <= LONGEST) this.resolveReferences();
    this.ended = whole;
    return this.blocks;
  }

  private reset(): void {
    this.blocks = [];
    this.done = 0;
    this.settledCount = 0;
    this.links = {};
    this.defines = false;
    this.ended = false;
  }

  /** Settles the blocks of one long piece; false where the tail is short enough or one open block. */
  private settlePiece(): boolean {
    for (let size = PIECE; size <= LONGEST; size *= 2) {
      const piece = this.source.slice(this.done, this.done + size);
      const before = this.done;
      this.settle(this.lex(piece));
      if (this.done > before) return true;
      if (piece.length < size) return false;
    }
    const raw = this.source.slice(this.done, this.done + LONGEST);
    this.push({ type: 'text', raw, text: raw });
    return true;
  }

  private readTail(whole: boolean): void {
    const tail = this.source.slice(this.done);
    const tokens = this.lex(tail);
    if (whole) {
      const open = this.settledCount;
      const kept = this.blocks.slice(0, open);
      const old = this.blocks.slice(open);
      this.blocks = kept.concat(tokens.map((token, at) => this.block(open + at, token, true, old[at])));
      return;
    }
    const rest = this.settle(tokens);
    const open = this.settledCount;
    const old = this.blocks.slice(open);
    const shown = isOpenFence(rest) ? rest : this.lex(remend(rest.map((token) => token.raw).join(''), HALF_WRITTEN));
    this.blocks = this.blocks.slice(0, open);
    shown.forEach((token, at) => this.blocks.push(this.block(open + at, token, false, old[at])));
  }

  /** Settles what no later text can change, and returns the tokens of the tail. */
  private settle(tokens: Token[]): Token[] {
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    const end = tokens[last];
    // A short last line may still turn out to belong to the block above it, as a list's next mark does.
    const isSure = end && (end.raw.includes('\n') || end.raw.length > 16) && tokens[last - 1]?.type === 'space';
    if (!isSure) return tokens;
    const settled = tokens.slice(0, last);
    const raw = settled.map((token) => token.raw).join('');
    if (!this.source.startsWith(raw, this.done)) return tokens;
    for (const token of settled) this.push(token);
    return tokens.slice(last);
  }

  private push(token: Token): void {
    const at = this.settledCount++;
    const block = this.block(at, token, true, this.blocks[at]);
    this.blocks = this.blocks.slice(0, at);
    this.blocks.push(block);
    this.done += token.raw.length;
  }

  /** A block that was drawn with the same source keeps its token. */
  private block(id: number, token: Token, settled: boolean, old: Block | undefined): Block {
    const same = old?.token.raw === token.raw && old.token.type === token.type;
    if (same && old.settled === settled) return old;
    return { id, token: same ? old.token : token, settled };
  }

  private lex(text: string): Token[] {
    const lexer = new Lexer(OPTIONS);
    Object.assign(lexer.tokens.links, this.links);
    const tokens = lexer.lex(text);
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
      return mayRefer || !old ? { id, token, settled: true } : old;
    });
  }
}

/** Code that is still being written needs no closing of half-written marks. */
const isOpenFence = (tokens: Token[]): boolean => tokens.length === 1 && tokens[0]?.type === 'code';
