/** What a person writes in the plan of a session; it is there until it is sent or given up. */
import { newTodoKey, todoKey, type Unsent } from '../../app/unsent.svelte';

/** The line that is added. */
export const newLine = (unsent: Unsent, session: string) => ({
  content: unsent.words(newTodoKey(session)) ?? '',
  onWrite: (content: string) => unsent.put(newTodoKey(session), content || undefined),
});

/** Other words for a todo. */
export const otherWords = (unsent: Unsent, session: string, todo: string) => ({
  written: unsent.words(todoKey(session, todo)),
  onWrite: (words: string | null) => unsent.put(todoKey(session, todo), words ?? undefined),
});
