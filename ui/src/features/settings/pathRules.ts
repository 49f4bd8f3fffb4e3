/** A subagent's rules about paths, as rows of a form. */
import type { PathRuleMode, PathRuleOperation, SubagentPathRule } from '../../ipc/bindings';

/** What a rule is about. */
export type What = 'both' | 'read' | 'write';

export interface RuleRow {
  mode: PathRuleMode;
  what: What;
  /** With commas between them; a comma in braces is part of its path. */
  paths: string;
}

export const NEW_ROW: RuleRow = { mode: 'deny', what: 'both', paths: '' };

const OPERATIONS: Record<What, PathRuleOperation[]> = { both: ['read', 'write'], read: ['read'], write: ['write'] };

export function rowOf(rule: SubagentPathRule): RuleRow {
  const [first, second] = rule.operations;
  return { mode: rule.mode, what: second || !first ? 'both' : first, paths: rule.paths.join(', ') };
}

export const ruleOf = (row: RuleRow): SubagentPathRule => ({
  mode: row.mode,
  operations: OPERATIONS[row.what],
  paths: pathsOf(row.paths),
});

function pathsOf(text: string): string[] {
  const paths = [''];
  let depth = 0;
  for (const letter of text) {
    if (letter === '{') depth += 1;
    if (letter === '}') depth = Math.max(0, depth - 1);
    if (letter === ',' && depth === 0) paths.push('');
    else paths[paths.length - 1] += letter;
  }
  return paths.map((path) => path.trim()).filter(Boolean);
}
