/** What the core said about a request, in words. */
import type { Approval, PatternProblem, RuleGuard } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';

export function whyAsked(t: Messages, { reason }: Approval): string {
  const words = t.approvals.reasons;
  switch (reason.reason) {
    case 'protected_name':
      return words.protected_name(reason.name);
    case 'rule':
      return words.rule(reason.rule);
    case 'hook':
      return words.hook(reason.rule, reason.name);
    case 'edits_ask':
    case 'commands_ask':
    case 'deletes_ask':
      return words[reason.reason];
  }
}

/** Why a request that was approved is made again. */
export function whyAgain(t: Messages, { again }: Approval): string | null {
  if (again === null) return null;
  const words = t.approvals.again;
  return 'path' in again ? words[again.again](again.path) : words[again.again];
}

/** The chain of agents that asks: only the innermost for the main agent, all below it for a subagent. */
export function whoAsks(t: Messages, { agent }: Approval): string {
  return agent.length <= 1 ? t.approvals.main : agent.slice(1).join(' › ');
}

/** What is shown of it, line by line. */
export function shownText({ preview, args }: Approval): string {
  switch (preview.preview) {
    case 'command':
      return preview.command;
    case 'diff':
      return preview.diff.hunks
        .flatMap((hunk) => hunk.lines)
        .map((line) => line.segments.map((segment) => segment.text).join(''))
        .join('\n');
    case 'delete':
      return preview.path;
    case 'fields':
    case 'problem':
      return typeof args === 'object' && args !== null ? Object.entries(args).map(lineOf).join('\n') : jsonOf(args);
  }
}

const lineOf = ([name, value]: [string, unknown]): string =>
  `${name} ${typeof value === 'string' ? value : jsonOf(value)}`;

const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';

/** Why no rule lets a call pass. */
export function guardWords(t: Messages, guard: RuleGuard): string {
  const words = t.scopes.guards;
  switch (guard.guard) {
    case 'protected':
      return words.protected(guard.name);
    case 'destructive':
      return words.destructive(guard.command);
    case 'runs_other':
      return words.runs_other(guard.program);
    case 'option':
      return words.option(guard.option);
    default:
      return words[guard.guard];
  }
}

/** Why a pattern cannot be kept. */
export function problemWords(t: Messages, problem: PatternProblem): string {
  const words = t.scopes.problems;
  switch (problem.problem) {
    case 'vague':
      return words.vague(problem.program);
    case 'guarded':
      return words.guarded(guardWords(t, problem.guard));
    default:
      return words[problem.problem];
  }
}
