import type { Messages } from '../../shared/i18n/en';

/** What a rule is called: those that Bosun has by itself in the window's language, a person's as they are written. */
export function ruleName(t: Messages, rule: string): string {
  const { ownRules } = t.approvals;
  return Object.hasOwn(ownRules, rule) ? ownRules[rule as keyof typeof ownRules] : rule;
}
