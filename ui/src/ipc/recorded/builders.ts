/** Short ways to write down protocol values for recorded sessions and tests. */
import type {
  AgentNode,
  Approval,
  Attachment,
  Checkpoint,
  DiffLine,
  DiffLineKind,
  FileDiff,
  Item,
  ItemBody,
  SessionSummary,
  Snapshot,
  ToolItem,
  UsageSummary,
} from '../bindings';

/** The moment at which recorded sessions stand still. */
export const NOW = new Date(2026, 10, 20, 15, 24, 0).getTime();
export const ago = (minutes: number, seconds = 0) => NOW - (minutes * 60 + seconds) * 1000;

export function usage(share: number, cost: number | null): UsageSummary {
  return {
    input_tokens: Math.round(share * 400_000),
    output_tokens: Math.round(share * 30_000),
    cache_read_tokens: 0,
    cost,
    context_tokens: Math.round(share * 200_000),
    context_window: 200_000,
  };
}

export const MODEL = { provider: 'anthropic', name: 'claude-sonnet' };

export function summary(id: string, given: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    project: 'p-harbour',
    parent: null,
    title: id,
    status: 'idle',
    model: MODEL,
    created_at: ago(60),
    updated_at: ago(10),
    waiting: 0,
    pinned: false,
    archived: false,
    deleted_at: null,
    effort: null,
    summing_up: false,
    usage: usage(0.1, 0.1),
    ...given,
  };
}

export function snapshot(session: SessionSummary, given: Partial<Snapshot> = {}): Snapshot {
  return {
    seq: 1,
    session,
    items: [],
    items_before: 0,
    todos: [],
    evidence: [],
    approvals: [],
    queue: [],
    agents: [agent(session.id, { status: session.status === 'running' ? 'running' : 'done', usage: session.usage })],
    changes: [],
    ...given,
  };
}

let count = 0;

export function item(body: ItemBody, at = ago(6), turn = 1): Item {
  return { id: `i${String(++count).padStart(5, '0')}`, turn, at, body };
}

/** The first of its turn begins it; any other was said to it under way. */
export const human = (text: string, at?: number, attachments: Attachment[] = [], turn?: number) =>
  item({ kind: 'human', text, attachments }, at, turn);
export const ai = (text: string, reasoning = '') => item({ kind: 'ai', text, reasoning, streaming: false });

const KINDS: Record<string, ToolItem['tool_kind']> = {
  write_file: 'edit',
  edit_file: 'edit',
  delete: 'edit',
  execute: 'execute',
  task: 'delegate',
  write_todos: 'plan',
  ls: 'read',
  read_file: 'read',
  glob: 'read',
  grep: 'read',
};

export function tool(name: string, args: unknown, given: Partial<ToolItem> & { took?: number } = {}): Item {
  const { took = 40, ...rest } = given;
  const id = ++count;
  return item({
    kind: 'tool',
    call_id: `call-${id}`,
    name,
    tool_kind: KINDS[name] ?? 'other',
    args,
    state: 'done',
    started_at: ago(5),
    ended_at: ago(5) + took,
    figures: [],
    output: '',
    output_truncated: false,
    diff: null,
    decision: null,
    child: null,
    todos: [],
    ...rest,
  });
}

export function agent(session: string, given: Partial<AgentNode> = {}): AgentNode {
  return {
    session,
    parent: null,
    call_id: null,
    name: 'main',
    description: '',
    beside: false,
    status: 'done',
    current: null,
    usage: usage(0.1, 0.1),
    model: MODEL,
    started_at: ago(6, 12),
    ended_at: null,
    ...given,
  };
}

export const SCHEMAS: Record<string, unknown> = {
  edit_file: {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: 'The file to change.' },
      old_string: { type: 'string', description: 'The text to replace, exactly as it stands in the file.' },
      new_string: { type: 'string', description: 'The text to put in its place.' },
      replace_all: { type: ['boolean', 'null'], description: 'Replace every occurrence instead of exactly one.' },
    },
    required: ['file_path', 'old_string', 'new_string'],
  },
  execute: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The shell command.' },
      timeout: { type: ['integer', 'null'], minimum: 1, maximum: 3600, description: 'Seconds until it is ended.' },
    },
    required: ['command'],
  },
  delete: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
};

export function approval(tool: string, args: unknown, given: Partial<Approval> = {}): Approval {
  const id = ++count;
  return {
    call_id: `call-${id}`,
    session: 's-refresh',
    agent: ['main'],
    tool,
    tool_kind: KINDS[tool] ?? 'other',
    args,
    schema: SCHEMAS[tool] ?? { type: 'object' },
    preview: { preview: 'fields' },
    reach: { place: 'project', network: false, sandbox: null, undo: 'yes' },
    reason: { reason: 'edits_ask' },
    allowed: ['approve', 'edit', 'respond', 'reject'],
    description: null,
    scripts: [],
    more_scripts: false,
    again: null,
    todo: null,
    asked_at: ago(0, 42),
    digest: `digest-${id}`,
    ...given,
  };
}

const SIGNS: Record<string, DiffLineKind> = { '+': 'added', '-': 'removed', ' ': 'context' };

/** A diff from lines that begin with ` `, `+` or `-`; ⟦…⟧ marks the changed words. */
export function diff(
  path: string,
  heading: string,
  start: number,
  text: string,
  given: Partial<FileDiff> = {},
): FileDiff {
  let oldAt = start;
  let newAt = start;
  const lines = text.split('\n').map((line): DiffLine => {
    const kind = SIGNS[line[0] ?? ' '] ?? 'context';
    const segments = line
      .slice(1)
      .split(/(⟦[^⟧]*⟧)/)
      .filter(Boolean)
      .map((part) => ({ text: part.replace(/[⟦⟧]/g, ''), changed: part.startsWith('⟦') }));
    return {
      kind,
      old: kind === 'added' ? null : oldAt++,
      new: kind === 'removed' ? null : newAt++,
      segments,
      no_newline: false,
    };
  });
  const hunk = {
    old_start: start,
    old_lines: oldAt - start,
    new_start: start,
    new_lines: newAt - start,
    heading,
    lines,
  };
  return {
    path,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
    hunks: [hunk],
    binary: false,
    truncated: false,
    created: false,
    deleted: false,
    ...given,
  };
}

export function checkpoint(seq: number, given: Partial<Checkpoint> = {}): Checkpoint {
  return {
    row: String(seq),
    seq,
    kind: 'step',
    turn: 1,
    at: NOW,
    label: `step ${seq}`,
    calls: [],
    calls_count: 0,
    item: null,
    files: [],
    input_tokens: 0,
    output_tokens: 0,
    cost: null,
    ...given,
  };
}
