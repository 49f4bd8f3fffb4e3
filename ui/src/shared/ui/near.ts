/** Which lines of a long list are drawn: those near the view, and those that somebody needs wherever they are. */

/** Lines under headings. */
export interface Block<T> {
  key: string;
  lines: readonly T[];
}

/** Where a line stands: the room before it, and that it is the first, second and so on of so many. */
export interface LinePlace {
  gap: number;
  at: number;
  of: number;
}

/** A line that is drawn, its place among those of its block, and the room before it for lines that are not drawn. */
interface Drawn<T> {
  line: T;
  at: number;
  gap: number;
}

interface DrawnBlock<T, B extends Block<T>> {
  block: B;
  gap: number;
  lines: Drawn<T>[];
  /** The room for lines behind the last one. */
  rest: number;
}

/** In pixels: of every heading and of every line. */
export interface Sizes {
  head: number;
  line: number;
}

/** The part in sight, from the beginning of the list. */
export interface View {
  from: number;
  to: number;
}

/**
 * Beside what is near the view, the first line and the last are drawn, and what is kept with its neighbours: the keys
 * go from any of them to the next one.
 */
export function near<T, B extends Block<T>>(
  blocks: readonly B[],
  { head, line }: Sizes,
  { from, to }: View,
  isKept: (line: T) => boolean,
): { blocks: DrawnBlock<T, B>[]; rest: number } {
  const drawn: DrawnBlock<T, B>[] = [];
  const last = blocks.length - 1;
  let top = 0;
  let end = 0;
  for (const [nth, block] of blocks.entries()) {
    const { length } = block.lines;
    const wanted = new Set<number>();
    const want = (at: number) => at >= 0 && at < length && wanted.add(at);
    const begins = top + head;
    const first = Math.max(0, Math.floor((from - begins) / line));
    for (let at = first; at < length && begins + at * line <= to; at++) want(at);
    if (nth === 0) want(0);
    if (nth === last) want(length - 1);
    // A neighbour may be in another block.
    if (at(blocks[nth - 1]?.lines, -1, isKept)) want(0);
    if (at(blocks[nth + 1]?.lines, 0, isKept)) want(length - 1);
    block.lines.forEach((one, place) => isKept(one) && [place - 1, place, place + 1].forEach(want));
    const bottom = begins + length * line;
    if (wanted.size > 0) {
      let next = 0;
      const lines = [...wanted]
        .sort((a, b) => a - b)
        .flatMap((place): Drawn<T>[] => {
          const one = block.lines[place];
          const gap = (place - next) * line;
          next = place + 1;
          return one === undefined ? [] : [{ line: one, at: place, gap }];
        });
      drawn.push({ block, gap: top - end, lines, rest: (length - next) * line });
      end = bottom;
    }
    top = bottom;
  }
  return { blocks: drawn, rest: top - end };
}

function at<T>(lines: readonly T[] | undefined, place: number, isKept: (line: T) => boolean): boolean {
  const one = lines?.at(place);
  return one !== undefined && isKept(one);
}
