/** The words of what was typed to find something. */

/** In small letters; what stands in quotes stays together. */
export function wordsOf(typed: string): string[] {
  const found = typed.toLowerCase().matchAll(/["“]([^"“”]+)["”](?=\s|$)|["“]([^"“”]+)$|\S+/g);
  return [...found].map(([word, phrase = word, begun = phrase]) => begun.trim()).filter(Boolean);
}

/** Whether a text has all of these words, in any order and as parts of others. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const small = text.toLowerCase();
  return words.every((word) => small.includes(word));
}
