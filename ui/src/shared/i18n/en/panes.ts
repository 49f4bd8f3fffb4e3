import { Formats } from '../formats';

const f = new Formats('en');

export const panes = {
  plan: 'Plan',
  agents: 'Agents',
  changes: 'Changes',
  timeline: 'Timeline',
};

export const plan = {
  done: (done: number, total: number) => `${f.number(done)} of ${f.number(total)} done`,
  progress: 'Progress of the plan',
  pending: 'Pending',
  inProgress: 'In progress',
  completed: 'Completed',
  calls: (count: number) => f.count(count, 'call', 'calls'),
  moreFiles: (count: number) => `+${f.count(count, 'file', 'files')}`,
  waiting: 'waiting for you',
  board: 'Open as a board',
  boardTitle: 'Plan',
  lastCalls: 'Last calls',
  files: 'Changed files',
  showOnly: 'Show only what was done for it',
  showAll: 'Show the whole conversation',
  filtered: (todo: string) => `Only what was done for “${todo}”`,
  gathering: (rows: number) => `Looking through ${f.count(rows, 'earlier row', 'earlier rows')}…`,
  notGathered: (rows: number) => `${f.count(rows, 'earlier row', 'earlier rows')} not looked through`,
  edit: {
    add: 'Add to the plan',
    new: 'Add a to-do…',
    reword: 'Edit the text',
    up: 'Move up in the plan',
    down: 'Move down in the plan',
    drop: 'Remove from the plan',
    menu: (todo: string) => `More for “${todo}”`,
    words: 'Text of the to-do',
    told: 'The agent is told of your changes at its next step.',
  },
  emptyTitle: 'No plan yet',
  emptyText: 'For work of several steps the agent writes a list here and ticks it off as it goes.',
};

export const agents = {
  tree: 'Agents of this session',
  status: {
    queued: 'waits for its turn',
    running: 'running',
    waiting: 'waiting for you',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
  },
  emptyTitle: 'Only the main agent',
  emptyText: 'When it sends subagents, they appear here with what they do, how long and at what cost.',
  transcript: (name: string) => `What ${name} did`,
  stop: (name: string) => `Stop ${name}`,
  open: 'Open with more room',
  whole: 'Everything it did',
  beside: 'in the background',
  stopped: 'Its parent is told that you stopped it, and goes on.',
  loading: 'Loading…',
  sentTo: 'Sent to',
};

export const changes = {
  files: (count: number) => f.count(count, 'file', 'files'),
  kinds: { created: 'new', changed: 'changed', deleted: 'deleted' },
  list: 'Changed files',
  pending: 'pending',
  loading: 'Comparing…',
  split: 'Before and after side by side',
  wide: 'Open with more room',
  comment: 'Comment on this line',
  removedLine: (line: number) => `:${line} (removed)`,
  undo: 'Undo',
  undoFile: (path: string) => `Undo the changes to ${path}`,
  undoAll: 'Undo all',
  changed: (count: number) => `${f.count(count, 'file', 'files')} changed`,
  look: 'Review',
  undoAllSure: (count: number) => `Put ${f.count(count, 'file', 'files')} back?`,
  undoAtWork: 'The agent is at work. Stop it first.',
  emptyTitle: 'No file changed',
  emptyText: 'Every file this session creates, changes or deletes is listed here, with what changed in it.',
};
