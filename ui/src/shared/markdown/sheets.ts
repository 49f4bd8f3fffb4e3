/**
 * A long message on sheets: neighbouring blocks that come into the page and go out of it together, so that of a message
 * of many pages only those near what a person sees are drawn.
 */
import type { Block } from './blocks';

export interface Sheet {
  /** The place of its first character in the message, in sheets; the same however the blocks were read. */
  id: number;
  blocks: readonly Block[];
  /** No later text can change it. */
  settled: boolean;
}

/** Characters of a sheet; a block that is longer has one to itself. */
const SHEET = 8 * 1024;
/** A message of fewer characters than this is drawn as a whole wherever it is. */
const LONG = 4 * SHEET;

export const isLong = (text: string): boolean => text.length > LONG;

/** Deals blocks out to sheets. One whose blocks are those it had before stays the same. */
export class SheetKeeper {
  private sheets: Sheet[] = [];

  read(blocks: readonly Block[]): readonly Sheet[] {
    const old = new Map(this.sheets.map((sheet) => [sheet.id, sheet]));
    const dealt: (Sheet & { blocks: Block[] })[] = [];
    let place = 0;
    for (const block of blocks) {
      const id = Math.floor(place / SHEET);
      const last = dealt.at(-1);
      if (last?.id === id) last.blocks.push(block);
      else dealt.push({ id, blocks: [block], settled: true });
      place += block.token.raw.length;
    }
    this.sheets = dealt.map((sheet) => {
      const before = old.get(sheet.id);
      sheet.settled = sheet.blocks.every(({ settled }) => settled);
      return before && isSame(before, sheet) ? before : sheet;
    });
    return this.sheets;
  }
}

const isSame = (one: Sheet, other: Sheet): boolean =>
  one.blocks.length === other.blocks.length && one.blocks.every((block, at) => block === other.blocks[at]);
