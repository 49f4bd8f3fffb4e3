/** What a person writes in the plan of a session; it is there until it is sent or given up. */
import { newTodoKey, todoKey, type Unsent } from '../../app/unsent.svelte';
import type { Todo } from '../../ipc/bindings';

/** Other words for a todo, and what it said when they were written. */
interface Reworded {
  was: string;
  words: string;
}

function isReworded(value: unknown): value is Reworded {
  const { was, words } = (value ?? {}) as Partial<Record<keyof Reworded, unknown>>;
  return typeof was === 'string' && typeof words === 'string';
}

/** The line that is added. */
export const newLine = (unsent: Unsent, session: string) => ({
  content: unsent.words(newTodoKey(session)) ?? '',
  onWrite: (content: string) => unsent.put(newTodoKey(session), content || undefined),
});

/** Other words for a todo. An id may go over to what stands in its place: of that they are no other words. */
export function otherWords(unsent: Unsent, session: string, { id, content: was }: Todo) {
  const key = todoKey(session, id);
  const kept = unsent.of(key, isReworded);
  return {
    written: kept?.was === was ? kept.words : null,
    onWrite: (words: string | null) => {
      // What is given up or taken is only what this todo was to be called.
      if (words !== null) unsent.put(key, { was, words } satisfies Reworded);
      else if (unsent.of(key, isReworded)?.was === was) unsent.forget(key);
    },
  };
}
