/** What is being begun at the caret: a command at the start of the message, or a file's name after `@`. */

export interface Trigger {
  kind: 'command' | 'file';
  /** Where the sign stands, and where what was typed after it ends. */
  from: number;
  to: number;
  typed: string;
}

export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\/([\p{L}\p{N}_-]*)$/u.exec(before);
  if (command && caret === text.length) return { kind: 'command', from: 0, to: caret, typed: command[1] ?? '' };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return null;
  const typed = file[1] ?? '';
  return { kind: 'file', from: caret - typed.length - 1, to: caret, typed };
}

/** The word of a message that is nothing but one word after a slash. */
export const commandIn = (text: string): string | null => /^\/([\p{L}\p{N}_-]+)\s*$/u.exec(text)?.[1] ?? null;

/** The text with the begun name replaced by the whole one, and where the caret then stands. */
export function complete(text: string, trigger: Trigger, name: string): { text: string; caret: number } {
  const rest = text.slice(trigger.to);
  const written = `@${name}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: text.slice(0, trigger.from) + written + rest, caret: trigger.from + written.length };
}
