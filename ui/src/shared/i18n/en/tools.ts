import { Formats } from '../formats';

const f = new Formats('en');

/** Words around the objects of a call: `{name}` is drawn as code, or as a name. */
export const tools = {
  ls: { plan: 'List {path}', doing: 'Listing {path}', done: 'Listed {path}' },
  read_file: { plan: 'Read {path}', doing: 'Reading {path}', done: 'Read {path}' },
  write_file: { plan: 'Write {path}', doing: 'Writing {path}', done: 'Wrote {path}' },
  edit_file: { plan: 'Edit {path}', doing: 'Editing {path}', done: 'Edited {path}' },
  delete: { plan: 'Delete {path}', doing: 'Deleting {path}', done: 'Deleted {path}' },
  glob: { plan: 'Find {pattern}', doing: 'Finding {pattern}', done: 'Found {pattern}' },
  glob_in: {
    plan: 'Find {pattern} in {path}',
    doing: 'Finding {pattern} in {path}',
    done: 'Found {pattern} in {path}',
  },
  grep: { plan: 'Search {pattern}', doing: 'Searching {pattern}', done: 'Searched {pattern}' },
  grep_in: {
    plan: 'Search {pattern} in {path}',
    doing: 'Searching {pattern} in {path}',
    done: 'Searched {pattern} in {path}',
  },
  execute: { plan: 'Run {command}', doing: 'Running {command}', done: 'Ran {command}' },
  write_todos: { plan: 'Update the plan', doing: 'Updating the plan', done: 'Updated the plan' },
  task: { plan: 'Send {agent}: {task}', doing: '{agent} at work: {task}', done: 'Sent {agent}: {task}' },
  start_async_task: {
    plan: 'Send {agent} to the background: {task}',
    doing: 'Sending {agent} to the background: {task}',
    done: 'Sent {agent} to the background: {task}',
  },
  check_async_task: {
    plan: 'Look at a subagent’s work',
    doing: 'Looking at a subagent’s work',
    done: 'Looked at a subagent’s work',
  },
  update_async_task: {
    plan: 'Tell a subagent: {task}',
    doing: 'Telling a subagent: {task}',
    done: 'Told a subagent: {task}',
  },
  cancel_async_task: { plan: 'Stop a subagent', doing: 'Stopping a subagent', done: 'Stopped a subagent' },
  list_async_tasks: { plan: 'List the subagents', doing: 'Listing the subagents', done: 'Listed the subagents' },
  task_waiting: {
    plan: 'Send {agent}: {task}',
    doing: '{agent} waits for you: {task}',
    done: 'Sent {agent}: {task}',
  },
  other: { plan: 'Call {tool}', doing: 'Calling {tool}', done: 'Called {tool}' },
};

export const toolStates = {
  proposed: 'preparing',
  waiting: 'waiting',
  running: 'running',
  failed: 'failed',
  rejected: 'rejected',
  answered: 'answered by you',
  cancelled: 'cancelled',
  stopped: 'stopped',
  notRun: 'not run',
  unknown: 'outcome unknown',
};

export const figures = {
  lines: (count: number) => f.count(count, 'line', 'lines'),
  matches: (count: number) => f.count(count, 'match', 'matches'),
  files: (count: number) => f.count(count, 'file', 'files'),
  entries: (count: number) => f.count(count, 'entry', 'entries'),
  exit: (code: number) => `exit ${code}`,
  todos: (done: number, total: number) => `${done} of ${total} done`,
  media: { image: 'image', document: 'PDF', audio: 'audio', video: 'video' },
  timed_out: 'timed out',
  signal: (signal: number) => `ended by signal ${signal}`,
  broke_off: 'the connection broke off, outcome unknown',
  truncated: 'truncated',
  link_broken: 'hard link broken',
};

export const rows = {
  folded: (count: number) => f.count(count, 'call', 'calls'),
  edited: 'edited by you',
  foldedFailures: (count: number) => `${f.number(count)} failed`,
  unfold: 'Show the steps',
  fold: 'Fold the steps',
  open: 'Show details',
  shut: 'Hide details',
  noOutput: 'No output.',
  liveOutput: 'Output so far',
  truncated: 'Only the beginning and the end are shown.',
  whole: 'Open the output in Files',
  arguments: 'Arguments',
  result: 'Result',
  unknownOutcome:
    'Bosun was closed while this ran. What it did is not known, and it is not run again. Look before you go on.',
  cancelled: 'It was stopped before it finished.',
  decision: {
    approve: 'You approved it.',
    edit: 'You changed the call and let it run.',
    respond: 'You answered in its place.',
    reject: 'You rejected it.',
    rule: (rule: string) => `Decided by the rule “${rule}”.`,
  },
  ranWith: 'Ran with',
  reason: 'Reason',
  answer: 'Your answer',
  openAgent: 'Open',
  subagentAsked: 'Task',
  subagentEmpty: 'It has done nothing yet.',
};

export const diff = {
  created: 'new file',
  binary: 'Not text, so its lines cannot be shown.',
  truncated: 'The change is too long to be shown in full here.',
  unchanged: 'The content stays the same.',
  noNewline: 'no newline at end of file',
  skipped: (count: number) => f.count(count, 'unchanged line', 'unchanged lines'),
  show: (count: number, of: number) =>
    `Show ${count < of ? `${f.number(count)} of ` : ''}${f.count(of, 'unchanged line', 'unchanged lines')}`,
  another: 'The file has changed since: these lines cannot be shown.',
  label: (path: string) => `Changes to ${path}`,
};
