/** What a person writes in the plan of a session; it is there until it is sent or given up. */
import { newTodoKey, todoKey, type Unsent } from '../../app/unsent.svelte';
import type { Workspace } from '../../app/workspace.svelte';
import type { Snapshot, Todo } from '../../ipc/bindings';
import { i18n } from '../../shared/i18n/i18n.svelte';

/** Other words for a todo, and what it said when they were written. */
interface Reworded {
  was: string;
  words: string;
}

function isReworded(value: unknown): value is Reworded {
  const { was, words } = (value ?? {}) as Partial<Record<keyof Reworded, unknown>>;
  return typeof was === 'string' && typeof words === 'string';
}

/** The line that is added; `add` tells whether it was taken. */
export function newLine(unsent: Unsent, session: string, add: (content: string) => Promise<boolean>) {
  const key = newTodoKey(session);
  return {
    content: unsent.words(key) ?? '',
    onWrite: (content: string) => unsent.put(key, content || undefined),
    isAway: unsent.isAway(key),
    onAdd: (content: string) => void unsent.give(key, () => add(content)),
  };
}

/** Whether these words stand at its end. */
export const endsLine = (unsent: Unsent, session: string, words: string): boolean =>
  words !== '' && (unsent.words(newTodoKey(session)) ?? '').endsWith(words);

/** Other words for a todo. An id may go over to what stands in its place: of that they are no other words. */
export function otherWords(unsent: Unsent, session: string, { id, content: was }: Todo) {
  const key = todoKey(session, id);
  const kept = unsent.of(key, isReworded);
  const isOf = kept?.was === was;
  return {
    // While they are on their way the todo may have become them.
    written: kept && (isOf || unsent.isAway(key)) ? kept.words : null,
    onWrite: (words: string | null) => {
      // What is given up or taken is only what this todo was to be called.
      if (words !== null) unsent.put(key, { was, words } satisfies Reworded);
      else if (unsent.of(key, isReworded)?.was === was) unsent.forget(key);
    },
    isAway: unsent.isAway(key),
    onGive: (give: () => Promise<boolean>) => unsent.give(key, give),
  };
}

/**
 * Words for todos that say something else by now, or are gone, stand in the line that is added: nothing written is lost.
 * While what is in the line is on its way they wait for it.
 */
export function keepWords(workspace: Workspace, { session: { id: session }, todos }: Snapshot): void {
  const { unsent } = workspace;
  if (unsent.isAway(newTodoKey(session))) return;
  for (const id of unsent.keysOf(todoKey(session, ''))) {
    const key = todoKey(session, id);
    const todo = todos.find((one) => one.id === id);
    const kept = unsent.of(key, isReworded);
    if (unsent.isAway(key) || (kept && kept.was === todo?.content)) continue;
    unsent.forget(key);
    const words = kept?.words.trim();
    if (!words || words === kept?.was || words === todo?.content) continue;
    const line = unsent.words(newTodoKey(session))?.trim();
    unsent.put(newTodoKey(session), line ? `${line}; ${words}` : words);
    workspace.tell({ text: i18n.t.plan.edit.kept });
  }
}
