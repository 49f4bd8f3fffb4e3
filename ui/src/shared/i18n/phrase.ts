/** A sentence with places: `Searched {pattern} in {path}`. */
export type Part = { text: string } | { slot: string };

export function parts(template: string): Part[] {
  return template
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? { slot: piece.slice(1, -1) } : { text: piece }));
}

/** The sentence as one string. */
export function fill(template: string, values: Record<string, string>): string {
  return parts(template)
    .map((part) => ('text' in part ? part.text : (values[part.slot] ?? '')))
    .join('');
}
