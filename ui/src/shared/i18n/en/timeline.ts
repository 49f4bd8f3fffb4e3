import { Formats } from '../formats';

const f = new Formats('en');

export const timeline = {
  view: 'What is shown',
  views: { places: 'Checkpoints', ledger: 'Decisions' },
  loading: 'Reading the journal…',
  earlier: (count: number, all: number) =>
    count === all
      ? `Show ${f.count(all, 'earlier entry', 'earlier entries')}`
      : `Show ${f.number(count)} of ${f.number(all)} earlier entries`,
  emptyTitle: 'Nothing has happened yet',
  emptyText: 'Every message and every step becomes a checkpoint to look at, fork from and rewind to.',
  ledgerEmptyTitle: 'No calls yet',
  ledgerEmptyText: 'Every call of the agent is listed here: what it proposed, who decided, what ran.',
  turn: (turn: number) => `Turn ${f.number(turn)}`,
  kinds: { turn_start: 'Before this message', step: 'After this step', turn_end: 'End of the turn' },
  moments: {
    turn_start: (name: string) => `Before “${name}”`,
    step: (name: string) => `After “${name}”`,
    turn_end: (turn: number) => `End of turn ${f.number(turn)}`,
  },
  tokens: (count: string) => `${count} tokens`,
  files: (count: number) => f.count(count, 'file', 'files'),
  moreCalls: (count: number) => `+${f.number(count)} more`,
  menu: (label: string) => `More for “${label}”`,
  look: 'View as it was',
  fork: 'Fork from here',
  rewind: 'Rewind to here…',
  undoRewind: 'Undo last rewind',
  rewound: 'The session was rewound',
  byPerson: {
    approve: 'you approved',
    edit: 'you changed it',
    respond: 'you answered',
    reject: 'you rejected',
  },
  byRule: (rule: string) => `rule “${rule}”`,
  proposed: 'Proposed',
  ran: 'Ran with',
  stepCost: (cost: string) => `The model call of its step cost ${cost}.`,
  past: {
    title: 'As it was',
    earlier: 'Earlier checkpoint',
    later: 'Later checkpoint',
    conversation: 'Conversation as it was',
    todos: 'Plan',
    files: 'Files',
    noFiles: 'No file had been changed.',
    missing: 'The file was not there.',
    binary: 'Not text, so it cannot be shown.',
    readOnly: 'Nothing can be changed here.',
  },
  rewinding: {
    title: 'Rewind',
    what: 'What to rewind',
    whats: { conversation: 'Conversation', files: 'Files', both: 'Both' },
    rows: (count: number, first: string | null) =>
      `${f.count(count, 'row', 'rows')} of the conversation would be removed${first === null ? '' : `, with your messages from “${first}” on`}.`,
    noRows: 'The conversation stays.',
    files: (count: number) => `${f.count(count, 'file', 'files')} would be restored:`,
    noFiles: 'No file would change.',
    inTheWay: 'in the way',
    stays: 'stays as it is',
    show: (path: string) => `What would change in ${path}`,
    blocked: (count: number) =>
      `${f.count(count, 'file was', 'files were')} changed since, or cannot be restored. Nothing of yours is lost: look at what is named here, then leave it as it is, or rewind the conversation alone.`,
    leave: (count: number, others: number) =>
      `Leave ${count === 1 ? 'it' : `these ${f.number(count)}`}, rewind the other ${f.number(others)}`,
    aloneInstead: 'Rewind the conversation alone',
    running: 'A turn is running in this session. Stop it first.',
    canUndo: 'You can undo this until something else happens.',
    go: 'Rewind',
    going: 'Rewinding…',
  },
  noPlace: 'No turn begins with this message, so there is no checkpoint right before it. Choose one in the timeline.',
  editMessage: 'Edit it in a new session',
  edit: {
    label: 'The message in other words',
    hint: 'Enter sends it to a new session that has everything before it. This one stays as it is.',
    send: 'Send in a new session',
    left: 'The message stays as it was sent. What you changed is set aside.',
  },
  askAgain: 'Ask again in a new session',
  rewindTo: 'Rewind to before this message…',
};
