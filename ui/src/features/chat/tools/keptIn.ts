/** Where the whole of a result is that was too large for the conversation, as the result itself says; `null` where it is whole. */
export function keptIn(output: string): string | null {
  const moved = /^The result of the call \S+ was too large for this conversation and is in the file (\/\S+)\.\n/;
  const beside = /\[The whole output is in (\/\S+)\.\]\s*$/;
  return (moved.exec(output) ?? beside.exec(output))?.[1] ?? null;
}
