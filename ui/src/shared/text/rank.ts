/** How well what was typed fits a name: the letters in their order, better at the beginnings of words and in runs. */

const AT_START = 8;
const AT_WORD = 6;
const IN_RUN = 4;

const isWordStart = (text: string, at: number) =>
  at === 0 ||
  /[\s/._:·-]/.test(text[at - 1] ?? '') ||
  (/\p{Lu}/u.test(text[at] ?? '') && /\p{Ll}/u.test(text[at - 1] ?? ''));

/** The higher the better; `null` where a letter is missing. Nothing typed fits everything alike. */
export function score(typed: string, name: string): number | null {
  const wanted = typed.toLowerCase().replace(/\s+/g, '');
  const text = name.toLowerCase();
  const whole = wanted ? text.indexOf(typed.toLowerCase().trim()) : -1;
  if (whole >= 0) return 1000 + (isWordStart(name, whole) ? 100 : 0) - Math.min(99, whole) - text.length / 1000;
  let total = 0;
  let from = 0;
  let last = -2;
  for (const letter of wanted) {
    const at = text.indexOf(letter, from);
    if (at < 0) return null;
    total += at === last + 1 ? IN_RUN : 1;
    if (isWordStart(name, at)) total += at === 0 ? AT_START : AT_WORD;
    last = at;
    from = at + letter.length;
  }
  return total - text.length / 1000;
}

/** Those that fit, the best first; what fits alike keeps its order. */
export function ranked<T>(typed: string, list: readonly T[], nameOf: (one: T) => string): { one: T; score: number }[] {
  return list
    .flatMap((one) => {
      const found = score(typed, nameOf(one));
      return found === null ? [] : [{ one, score: typed.trim() ? found : 0 }];
    })
    .sort((a, b) => b.score - a.score);
}

/** What something is looked for by: its name, and as a whole other words for it, of which single letters say nothing. */
export function nameFor(typed: string): (one: { label: string; also?: string | undefined }) => string {
  const wanted = typed.trim().toLowerCase();
  return ({ label, also = '' }) => (also.toLowerCase().includes(wanted) ? `${label} ${also}` : label);
}
