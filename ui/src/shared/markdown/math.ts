/** Maths is shown as the code that it is: nothing is set, and no sign in it is taken for Markdown. */
import type { TokenizerExtension, Tokens } from 'marked';

/** On lines of its own, without an empty line in it: `$$ … $$`, `\[ … \]`. */
const BLOCK = /^ {0,3}(?:\$\$((?:(?!\n[ \t]*\n)[^$])+)\$\$|\\\[((?:(?!\n[ \t]*\n)[\s\S])+?)\\\])[ \t]*(?:\n+|$)/;
/** Within a line: `$x$`, `\( x \)`. Sums of money are none: a number follows, or a blank stands at an edge. */
const INLINE = /^(?:\$(?![\s$])((?:\\.|[^$\n\\])*?[^\s$\\])\$(?![\d$])|\\\(((?:[^\n\\]|\\(?!\)))+?)\\\))/;

const inner = (match: RegExpExecArray) => (match[1] ?? match[2] ?? '').trim();

const block: TokenizerExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (source) => /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(source)?.index,
  tokenizer(source): Tokens.Code | undefined {
    const match = BLOCK.exec(source);
    return match ? { type: 'code', raw: match[0], text: inner(match), lang: 'latex' } : undefined;
  },
};

const inline: TokenizerExtension = {
  name: 'mathInline',
  level: 'inline',
  start: (source) => /\$(?![\s$])|\\\(/.exec(source)?.index,
  tokenizer(source): Tokens.Codespan | undefined {
    const match = INLINE.exec(source);
    return match ? { type: 'codespan', raw: match[0], text: inner(match) } : undefined;
  },
};

export const MATHS: TokenizerExtension[] = [block, inline];
