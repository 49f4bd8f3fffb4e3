/** What a lexer of messages is made with. */
import { Marked, type MarkedOptions, type TokenizerObject } from 'marked';
import { MATHS } from './math';

/** The line of signs below a heading that is written over two lines. */
const UNDERLINE = /\n {0,3}(?:=+|-+) *(?:\n|$)/;

const tokenizer: TokenizerObject = {
  // Without the line it is none. marked's own rule finds that out letter by letter, which takes milliseconds of a long
  // paragraph, and a paragraph that grows is read with every frame.
  lheading(source) {
    const end = source.search(/\n[ \t]*\n/);
    return UNDERLINE.test(end < 0 ? source : source.slice(0, end + 1)) ? false : undefined;
  },
};

export const OPTIONS: MarkedOptions = new Marked({ gfm: true }).use({ extensions: MATHS, tokenizer }).defaults;
