import Check from '@lucide/svelte/icons/check';
import type { Component } from 'svelte';
import type { Todo } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';
import Half from '../../shared/ui/icons/Half.svelte';
import Ring from '../../shared/ui/icons/Ring.svelte';

export interface Lane {
  status: Todo['status'];
  title: string;
  icon: Component;
  todos: Todo[];
}

/** The three lanes of a plan, as work flows through them. */
export function lanes(t: Messages['plan'], todos: readonly Todo[]): Lane[] {
  const of = (status: Todo['status']) => todos.filter((todo) => todo.status === status);
  return [
    { status: 'pending', title: t.pending, icon: Ring, todos: of('pending') },
    { status: 'in_progress', title: t.inProgress, icon: Half, todos: of('in_progress') },
    { status: 'completed', title: t.completed, icon: Check, todos: of('completed') },
  ];
}
