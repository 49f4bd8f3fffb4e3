/** Letters of another script that pass for Latin ones, and host names written in punycode (security.md, A06). */

export interface Suspect {
  /** The word as it stands. */
  word: string;
  reason: 'mixed' | 'imitates' | 'wide' | 'punycode';
  /** The strange letters with their code points; for punycode, the decoded host. */
  detail: string;
}

/** Cyrillic, Greek, Armenian and Cherokee letters that are drawn like Latin ones. */
const IMITATORS = 'асеорхуѕіјһԁԛԝгпкьАВСЕНІЈКМОРЅТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχօսոցհյΒᎪᎬᎷᏒᏚᎢᏟ';
const NO_IMITATOR = new RegExp(`(?![${IMITATORS}])\\p{L}`, 'u');
const MOST = 40;

export function lookalikes(text: string): Suspect[] {
  const found: Suspect[] = [];
  for (const suspect of suspectsOf(text)) {
    found.push(suspect);
    if (found.length >= MOST) break;
  }
  return found;
}

function* suspectsOf(text: string): Generator<Suspect> {
  const seen = new Set<string>();
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{N}._-]+/gu)) {
    if (seen.has(word)) continue;
    seen.add(word);
    const suspect = judge(word);
    if (suspect) yield suspect;
  }
}

/** The same in a text or a file, in which there are other languages: what they are written with is nothing strange. */
export function strangeWords(text: string): Suspect[] {
  if (!STRANGE.test(text)) return [];
  const found = new Map<string, Suspect>();
  for (const line of text.split('\n')) {
    if (!STRANGE.test(line)) continue;
    const languages = new Languages(line);
    for (const suspect of suspectsOf(line)) {
      if (suspect.reason === 'mixed' ? isMixed(suspect) : !languages.have(suspect)) found.set(suspect.word, suspect);
      if (found.size >= MOST) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** ASCII alone passes for nothing, but for the hosts that are written in it. */
// eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
const STRANGE = /[^\x00-\x7f]|xn--/i;

/** Greek letters that science and its code write with, and that pass for no Latin one: `Δt`, `λx`. */
const OF_SCIENCE = /[ΓΔΘΛΞΠΣΦΨΩβγδεζηθλμξπσςφψωϑϕϵ]/g;

/** A word of one alphabet is often beside one of another, as in the name of a file. */
const isMixed = ({ word }: Suspect): boolean =>
  word.split(/[._-]/).some((part) => judge(part.replace(OF_SCIENCE, ''))?.reason === 'mixed');

/** Letters that no Latin text has and none of which passes for a Latin one, by what they are written beside. */
const PLAINLY = {
  wide: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
  cyrillic: new RegExp(`(?![${IMITATORS}])\\p{Script=Cyrillic}`, 'u'),
  greek: new RegExp(`(?![${IMITATORS}])\\p{Script=Greek}`, 'u'),
  armenian: new RegExp(`(?![${IMITATORS}])\\p{Script=Armenian}`, 'u'),
};

/** The languages of a line. Each is sought once, however many words ask for it: a line may be a whole file. */
class Languages {
  private readonly known = new Map<keyof typeof PLAINLY, boolean>();

  constructor(private readonly line: string) {}

  /** Whether the line has words that are plainly of the language in which such letters are written. */
  have({ reason, word }: Suspect): boolean {
    if (reason === 'wide') return this.has('wide');
    if (reason !== 'imitates') return false;
    if (/\p{Script=Cyrillic}/u.test(word)) return this.has('cyrillic');
    if (/\p{Script=Greek}/u.test(word)) return this.has('greek');
    return /\p{Script=Armenian}/u.test(word) && this.has('armenian');
  }

  private has(language: keyof typeof PLAINLY): boolean {
    const known = this.known.get(language) ?? PLAINLY[language].test(this.line);
    this.known.set(language, known);
    return known;
  }
}

function judge(word: string): Suspect | null {
  if (/(?:^|\.)xn--/i.test(word)) return { word, reason: 'punycode', detail: decodeHost(word) };
  // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(word)) return null;
  const wide = letters(word, /[\uff01-\uff5e\u{1d400}-\u{1d7ff}\u2460-\u24ff\u{1f100}-\u{1f1ff}]/gu);
  if (wide) return { word, reason: 'wide', detail: wide };
  const foreign = letters(word, /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/gu);
  if (!foreign) return null;
  if (/\p{Script=Latin}/u.test(word)) return { word, reason: 'mixed', detail: foreign };
  const imitates = !NO_IMITATOR.test(word);
  return imitates ? { word, reason: 'imitates', detail: foreign } : null;
}

/** The letters of `word` that match, each with its code point; empty where none does. */
function letters(word: string, kind: RegExp): string {
  const unique = new Set([...word.matchAll(kind)].map(([char]) => char));
  return [...unique].map((char) => `${char} ${point(char)}`).join(', ');
}

const point = (char: string) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A host with its `xn--` labels decoded; a label that does not decode stays as it is. */
export function decodeHost(host: string): string {
  const labels = host.split('.').map((label) => {
    if (!/^xn--/i.test(label)) return label;
    return punycode(label.slice(4)) ?? label;
  });
  return labels.join('.');
}

/** RFC 3492 with the parameters of IDNA; `null` for what is not punycode. */
function punycode(input: string): string | null {
  const dash = input.lastIndexOf('-');
  const out = dash > 0 ? [...input.slice(0, dash)].map((char) => char.codePointAt(0) ?? 0) : [];
  let code = 128;
  let index = 0;
  let bias = 72;
  let at = dash > 0 ? dash + 1 : 0;
  while (at < input.length) {
    const before = index;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = at < input.length ? digitOf(input.charCodeAt(at++)) : -1;
      if (digit < 0) return null;
      index += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
      if (index > 0x7fffffff || weight > 0x7fffffff) return null;
    }
    const length = out.length + 1;
    bias = adapt(index - before, length, before === 0);
    code += Math.floor(index / length);
    index %= length;
    if (code > 0x10ffff) return null;
    out.splice(index++, 0, code);
  }
  return String.fromCodePoint(...out);
}

function digitOf(char: number): number {
  if (char >= 48 && char <= 57) return char - 22;
  if (char >= 65 && char <= 90) return char - 65;
  if (char >= 97 && char <= 122) return char - 97;
  return -1;
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1;
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}
