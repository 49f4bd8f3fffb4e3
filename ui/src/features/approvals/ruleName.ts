import type { ApprovalMode } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';

/** What the core calls the modes that decide as rules do. */
const MODES: Record<string, ApprovalMode> = {
  'plan only': 'plan_only',
  'edit freely in the project': 'edits',
  'run freely in the sandbox': 'sandbox',
};

/** What a rule is called: those that Bosun has by itself in the window's language, a person's as they are written. */
export function ruleName(t: Messages, rule: string): string {
  const { ownRules } = t.approvals;
  const mode = Object.hasOwn(MODES, rule) ? MODES[rule] : undefined;
  if (mode) return t.modes[mode];
  return Object.hasOwn(ownRules, rule) ? ownRules[rule as keyof typeof ownRules] : rule;
}
