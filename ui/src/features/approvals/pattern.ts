/**
 * A text against a pattern of somebody else's. An engine that goes back over what it tried takes longer than anyone waits
 * with the wrong pattern, and nothing stops it: a pattern is only tried where its cost can be told beforehand.
 */

/** So many ways to read texts are tried at the most, over all of what is looked at. */
const MOST_WAYS = 3_000_000;
const LONGEST_PATTERN = 500;

export class Patterns {
  private left = MOST_WAYS;

  /** Whether the text has the form; `null` where that is not tried. */
  fit(pattern: string, text: string): boolean | null {
    const ways = pattern.length > LONGEST_PATTERN ? Infinity : waysOf(pattern, text.length + 1);
    if (ways > this.left) return null;
    this.left -= ways;
    return compiled(pattern)?.test(text) ?? null;
  }
}

/** Without its flag an engine takes what other engines know, as `\z` and `[[:alpha:]]`, for plain letters. */
const OF_OTHERS = /\\(?![bBdDwWsSnrtvfcxu])[A-Za-z]|\[:\^?[a-z]+:\]/;

function compiled(pattern: string): RegExp | null {
  for (const flags of ['u', '']) {
    if (flags === '' && OF_OTHERS.test(pattern.replaceAll('\\\\', ''))) return null;
    try {
      return new RegExp(pattern, flags);
    } catch {
      // The other way of reading it remains.
    }
  }
  return null;
}

/** A sign with a backslash, a class, the beginning of a group, a quantifier, or any one sign. */
const PARTS = /\\(?:[pPu]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\(\?(?:<[^>]*>|[:=!]|<[=!])|[*+?]\??|\{\d+(,\d*)?\}\??|./gsu;

/** In how many ways a text of `size` may be read at the most; without end where a group is repeated or looked back at. */
function waysOf(pattern: string, size: number): number {
  let ways = pattern.startsWith('^') && !pattern.includes('|') ? 1 : size;
  let before = '';
  for (const [part, range] of pattern.matchAll(PARTS)) {
    if (/^\\[1-9k]/.test(part) || /^\(\?[=!]/.test(part) || /^\(\?<[=!]/.test(part)) return Infinity;
    const isRepeat = /^(?:[*+]|\{\d)/.test(part);
    if (isRepeat && before === ')') return Infinity;
    // An exact count leaves no choice.
    if (isRepeat && !(part.startsWith('{') && range === undefined)) ways *= size;
    else if (part.startsWith('?') || part === '|') ways *= 2;
    before = part;
  }
  return ways;
}
