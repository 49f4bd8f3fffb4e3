/** Names behind an `@` that were typed, and not chosen from the list. */
const MOST = 20;

/** What each name in the text may be, the likeliest first: with what stands behind it, without, and without a line. */
export function typedNames(text: string, known: readonly string[]): string[][] {
  const found = [...text.matchAll(/(?:^|\s)@([^\s@]+)/g)].map(([, name = '']) => {
    const bare = name.replace(/[.,;:!?'")\]}，。；：！？」）]+$/, '');
    return [...new Set([name, bare, bare.replace(/:\d+$/, '')])].filter(Boolean);
  });
  const isKnown = (names: string[]) => names.some((name) => known.includes(name));
  return found.filter((names) => !isKnown(names)).slice(0, MOST);
}
