/**
 * Where the whole of a result is that was too large for the conversation, as the result itself says; `null` where it is whole.
 * Whatever else an output names, it is no place that Bosun keeps results in.
 */
export function keptIn(output: string): string | null {
  const moved =
    /^The result of the call \S+ was too large for this conversation and is in the file (\/(?:\S+\/)?_*large_tool_results\/\S+)\.\n/;
  const beside = /\[The whole output is in (\/(?:\S+\/)?_*large_tool_results\/\S+)\.\]\s*$/;
  return (moved.exec(output) ?? beside.exec(output))?.[1] ?? null;
}
