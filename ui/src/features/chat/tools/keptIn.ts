/**
 * Where the whole of a result is that was too large for the conversation, or both its ends where it was too large to keep, as
 * the result itself says; `null` where it is whole.
 * Whatever else an output names, it is no place that Bosun keeps results in.
 */
export function keptIn(output: string): string | null {
  const moved =
    /^The result of the call \S+ was too large for this conversation(?: and is|: of its \d+ bytes the first \d+ and the last \d+ are) in the file (\/(?:\S+\/)?_*large_tool_results\/\S+)\.\n/;
  const beside =
    /\[(?:The whole output is|Of the \d+ bytes of the output the first \d+ and the last \d+ are) in (\/(?:\S+\/)?_*large_tool_results\/\S+)\.\]\s*$/;
  return (moved.exec(output) ?? beside.exec(output))?.[1] ?? null;
}
