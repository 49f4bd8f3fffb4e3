/**
 * How well what was typed fits a name. The words that were typed may stand in it in any order, as in the find; letters
 * that stand apart count for one short word only, and always for less.
 */
import { wordsOf } from './words';

/** How a name fits, the better the higher. */
const FIT = {
  /** The letters in their order, some of them at the beginnings of words. */
  scattered: 1,
  /** Each letter begins a word. */
  initials: 2,
  /** The words are parts of others. */
  within: 3,
  /** The words begin words. */
  words: 4,
  /** The words begin words, as they were typed. */
  phrase: 5,
  /** The name begins like that. */
  prefix: 6,
  whole: 7,
} as const;
type Fit = (typeof FIT)[keyof typeof FIT];

/** Between two ways of fitting; within one of them the place, the length and whole words count. */
const STEP = 1000;
const MIDDLE = STEP / 2;
const WHOLE_WORD = 200;
const OTHER_WORDS = 300;
const FARTHEST = 99;
/** Letters that may stand apart: more are words, of which a part would be known. */
const FEWEST = 2;
const MOST = 8;

/** Between the name of a group and that of one in it. */
const GROUP = ' · ';

/** What is written without spaces: each of these is a word of its own, as it is to the search of what was said. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const BETWEEN = /[\s/._:·"“”'‘’()[\]{}<>@#,，、；（）-]/;

type Kind = 'between' | 'unspaced' | 'upper' | 'lower' | 'other';
/** Thousands of names are looked through at each key, and have few letters between them. */
const kinds = new Map<string, Kind>();

function kindAt(text: string, at: number): Kind {
  const letter = text[at] ?? '';
  const known = kinds.get(letter);
  if (known !== undefined) return known;
  const kind = BETWEEN.test(letter)
    ? 'between'
    : UNSPACED.test(letter)
      ? 'unspaced'
      : /\p{Lu}/u.test(letter)
        ? 'upper'
        : /\p{Ll}/u.test(letter)
          ? 'lower'
          : 'other';
  kinds.set(letter, kind);
  return kind;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const [before, here] = [kindAt(text, at - 1), kindAt(text, at)];
  if (before === 'between' || before === 'unspaced' || here === 'unspaced') return true;
  return here === 'upper' && before === 'lower';
}

const isWordEnd = (text: string, at: number) =>
  at >= text.length || isWordStart(text, at) || kindAt(text, at) === 'between';

/** The higher the better; `null` where it does not fit. Nothing typed fits everything alike, and shorter names better. */
export const score = (typed: string, name: string, also = ''): number | null =>
  scored(typed, wordsOf(typed), name, also);

function scored(typed: string, words: readonly string[], name: string, also: string): number | null {
  if (words.length === 0) return -name.length / STEP;
  // What many names begin with says less of each than what is its own.
  const own = name.split(GROUP).at(-1) ?? name;
  const found = byWords(words, own);
  if (found !== null) return found;
  // Of other words for it single letters say nothing.
  const meant = also === '' && own === name ? null : byWords(words, `${name} ${also}`);
  if (meant !== null) return Math.min(meant, (FIT.words + 1) * STEP - 1) - OTHER_WORDS;
  const [word = ''] = words;
  const isShort = words.length === 1 && word === typed.trim().toLowerCase() && !/\s/.test(word);
  if (!isShort || word.length < FEWEST || word.length > MOST || !hasLetters(word, name)) return null;
  if (isInitials(word, name)) return graded(FIT.initials, 0, name);
  return isScattered(word, name) ? graded(FIT.scattered, 0, name) : null;
}

/** Whether the words themselves are there, and not only their letters. */
export const hasTheWords = (score: number): boolean => score <= 0 || score >= FIT.within * STEP;

/** The way in which it fits, without what counts between two that fit in the same way. */
export const wayOf = (score: number): number => Math.max(0, Math.floor(score / STEP));

/** What was said and is known to have the words: it fits as it shows, and never as a name of just these words would. */
export function scoreSaid(typed: string, text: string): number {
  const found = byWords(wordsOf(typed), text) ?? 0;
  return Math.min(Math.max(found, FIT.words * STEP), (FIT.phrase + 1) * STEP - 1);
}

/** Those that fit, the best first; what fits alike keeps its order. */
export function ranked<T extends { label: string; also?: string | undefined }>(
  typed: string,
  list: readonly T[],
): { one: T; score: number }[] {
  const words = wordsOf(typed);
  return list
    .flatMap((one) => {
      const found = scored(typed, words, one.label, one.also ?? '');
      return found === null ? [] : [{ one, score: typed.trim() ? found : 0 }];
    })
    .sort((a, b) => b.score - a.score);
}

const graded = (fit: Fit, at: number, name: string) =>
  fit * STEP + MIDDLE - Math.min(FARTHEST, at) - Math.min(name.length, STEP) / STEP;

function byWords(words: readonly string[], name: string): number | null {
  const text = name.toLowerCase();
  const phrase = words.join(' ');
  const ends = (at: number, word: string) => (isWordEnd(name, at + word.length) ? WHOLE_WORD : 0);
  if (text === phrase) return graded(FIT.whole, 0, name);
  if (text.startsWith(phrase)) return graded(FIT.prefix, 0, name) + ends(0, phrase);
  const together = placeOf(phrase, name, text);
  if (together?.begins) return graded(FIT.phrase, together.at, name) + ends(together.at, phrase);
  const places = words.map((word) => placeOf(word, name, text));
  const [first] = places;
  if (!first || places.some((place) => place === null)) return null;
  const fit = places.every((place) => place?.begins) ? FIT.words : FIT.within;
  return graded(fit, first.at, name);
}

/** Where it stands: at the beginning of a word, if it does so anywhere. */
function placeOf(word: string, name: string, text: string): { at: number; begins: boolean } | null {
  const first = text.indexOf(word);
  for (let at = first; at >= 0; at = text.indexOf(word, at + 1)) if (isWordStart(name, at)) return { at, begins: true };
  return first < 0 ? null : { at: first, begins: false };
}

/** Whether they are there in their order at all: most names of many have not even that. */
function hasLetters(letters: string, name: string): boolean {
  const text = name.toLowerCase();
  let from = 0;
  return [...letters].every((letter) => (from = text.indexOf(letter, from) + 1) > 0);
}

function isInitials(letters: string, name: string): boolean {
  const text = name.toLowerCase();
  let from = 0;
  for (const letter of letters) {
    while (from < text.length && !(text[from] === letter && isWordStart(name, from))) from++;
    if (from++ >= text.length) return false;
  }
  return true;
}

/** The first letter begins a word, and each after it goes on in that word or begins a later one. */
function isScattered(letters: string, name: string): boolean {
  const text = name.toLowerCase();
  /** By words, the first place in each that the letters so far can end at. */
  let ends = new Map<number, number>();
  for (const [nth, letter] of [...letters].entries()) {
    const next = new Map<number, number>();
    const earliest = Math.min(...ends.values());
    let word = 0;
    for (let at = 0; at < text.length; at++) {
      const begins = isWordStart(name, at);
      if (begins) word++;
      if (text[at] !== letter || next.has(word)) continue;
      const follows = nth > 0 && (begins ? earliest < at : (ends.get(word) ?? at) < at);
      if (follows || (nth === 0 && begins)) next.set(word, at);
    }
    ends = next;
  }
  return ends.size > 0;
}
