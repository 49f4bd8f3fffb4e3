import File from '@lucide/svelte/icons/file';
import FilePlus from '@lucide/svelte/icons/file-plus';
import FolderOpen from '@lucide/svelte/icons/folder-open';
import ListTodo from '@lucide/svelte/icons/list-todo';
import Pencil from '@lucide/svelte/icons/pencil';
import Search from '@lucide/svelte/icons/search';
import Terminal from '@lucide/svelte/icons/terminal';
import Trash from '@lucide/svelte/icons/trash-2';
import Wrench from '@lucide/svelte/icons/wrench';
import type { Component } from 'svelte';
import type { ToolItem, ToolKind } from '../../../ipc/bindings';
import EditView from './EditView.svelte';
import FileView from './FileView.svelte';
import GenericView from './GenericView.svelte';
import MatchView from './MatchView.svelte';
import SubagentView from './SubagentView.svelte';
import TerminalView from './TerminalView.svelte';
import Crew from '../../../shared/ui/icons/Crew.svelte';
import TodosView from './TodosView.svelte';

interface ToolLook {
  icon: Component;
  view: Component<{ tool: ToolItem }>;
}

/** One look per tool; a tool that is not here is drawn by its kind. */
const BY_NAME: Record<string, ToolLook> = {
  ls: { icon: FolderOpen, view: MatchView },
  glob: { icon: Search, view: MatchView },
  grep: { icon: Search, view: MatchView },
  read_file: { icon: File, view: FileView },
  write_file: { icon: FilePlus, view: EditView },
  edit_file: { icon: Pencil, view: EditView },
  delete: { icon: Trash, view: EditView },
  execute: { icon: Terminal, view: TerminalView },
  write_todos: { icon: ListTodo, view: TodosView },
  task: { icon: Crew, view: SubagentView },
  start_async_task: { icon: Crew, view: SubagentView },
  check_async_task: { icon: Crew, view: GenericView },
  update_async_task: { icon: Crew, view: GenericView },
  cancel_async_task: { icon: Crew, view: GenericView },
  list_async_tasks: { icon: Crew, view: GenericView },
};

const BY_KIND: Record<ToolKind, ToolLook> = {
  read: { icon: File, view: GenericView },
  edit: { icon: Pencil, view: EditView },
  execute: { icon: Terminal, view: GenericView },
  delegate: { icon: Crew, view: SubagentView },
  plan: { icon: ListTodo, view: GenericView },
  other: { icon: Wrench, view: GenericView },
};

export function lookOf(name: string, kind: ToolKind): ToolLook {
  return (Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined) ?? BY_KIND[kind];
}
