import { Formats } from '../formats';

const f = new Formats('en');

export const chat = {
  emptyTitle: 'What should be done?',
  emptyTexts: {
    plan_only: 'Bosun reads and plans. It changes nothing and runs no command.',
    ask: 'Bosun reads and plans on its own. Before it changes a file or runs a command, it asks you.',
    edits: 'Bosun changes files of the project on its own. Before it deletes one or runs a command, it asks you.',
    sandbox: 'Bosun changes files and runs commands in the sandbox on its own. What plainly deletes, it asks about.',
  },
  noModelTitle: 'Choose a model first',
  noModelText: 'Bosun needs a model to work with. Add a key, or use a server that runs on this machine.',
  chooseModel: 'Choose a model',
  you: 'You',
  taskFrom: (agent: string) => `Task from ${agent}`,
  bosun: 'Bosun',
  thinking: 'Thinking',
  thought: 'Thought',
  working: 'Working…',
  earlier: (count: number) => `Show ${f.count(count, 'earlier row', 'earlier rows')}`,
  loadingEarlier: 'Loading earlier rows…',
  toEnd: 'Jump to latest',
  longMessage: (size: string) => `Show more (${size} left)`,
  longTable: (next: number, left: number) =>
    next < left
      ? `Show ${f.number(next)} of ${f.number(left)} more rows`
      : `Show the other ${f.count(left, 'row', 'rows')}`,
  image: 'Image, not loaded',
  copyCode: 'Copy code',
  copyMessage: 'Copy the message',
  contextUsed: (share: string) => `${share} of the context used`,
  contextTitle: (used: string, window: string) => `${used} of ${window} tokens in the model’s context`,
  costTitle: (cost: string, input: string, output: string) =>
    `Cost with all subagents: ${cost}. ${input} tokens read, ${output} written`,
  scripted: 'Scripted tour',
  scriptedTitle: 'The replies in this session are scripted; the tools, approvals and files are real.',
  agentTitle: 'Your own agent works in this session, as set in agent.toml',
};

export const composer = {
  label: 'Message',
  first: 'Say what should be done…',
  reply: 'Reply…',
  replyOrQueue: 'Reply, or queue what comes next…',
  send: 'Send',
  queue: 'Queue',
  stop: 'Stop',
  enterSends: 'Enter sends',
  enterQueues: 'Enter queues',
  escStops: 'Esc stops',
  sandboxOff: 'Sandbox: off, asks',
  sandboxOffTitle:
    'Commands run with your rights on this machine, so every one of them asks, unless a rule of yours lets it pass.',
  sandboxOn: 'Sandbox: on',
  sandboxOnTitle:
    'Commands can change the project and nothing else, and have no network. They ask, unless a rule of yours or the mode lets one pass.',
  noCommand: (word: string) => `There is no command “${word}” that could be done now. Send it as a message?`,
  sendAsIs: 'Send as it is',
  queued: (count: number) => `${f.number(count)} queued`,
  queuedTitle: 'Sent when the turn ends',
  steers: (keys: string) => `${keys} steers`,
  unqueue: 'Delete from the queue',
  unqueued: (message: string) => `Removed from the queue: “${message}”`,
  queuedLeft: 'The message you were changing left the queue as it was. Your words are in the message box.',
  editQueued: 'Edit the message',
  moveUp: 'Move up in the queue',
  moveDown: 'Move down in the queue',
  steerQueued: 'Steer the running turn with it, at its next step',
  sendNow: 'Stop the turn and send it now',
  mention: 'Mention a file, folder, memory or session (@)',
  mentions: 'Files, folders, memories and sessions',
  holdsKey: (model: string) =>
    `This message contains what looks like a key. Once it is sent, it goes to ${model} and stays in this session.`,
};

export const notices = {
  model_failed: 'The model did not answer',
  key_refused: 'The provider did not accept the key. Enter another in the settings, then try again.',
  stream_cut: 'The reply was cut off. Nothing in it was carried out.',
  stopped: 'You stopped the turn.',
  step_limit: 'The turn reached its step limit. Everything is saved.',
  interrupted: 'Bosun was closed in the middle of this turn. Nothing is lost.',
  failed: 'The turn ended because of an error inside Bosun',
  not_recorded: 'The turn was halted because it cannot be recorded',
  limit_reached: 'This turn reached one of its limits.',
  hook_refused: 'One of your hooks ended this turn.',
  budget_spent: 'The budget is used up, so this turn stopped.',
  empty_reply: 'The model sent an empty reply. Try again, or switch to another model.',
  output_limit: 'The reply was cut at the model’s output limit. Say “go on” to get the rest.',
  model_refused: 'The model declined to answer. Rephrase your message, or switch to another model.',
  reply_ended: 'The provider ended the reply early. Its reason:',
  asks_again: 'The model will be asked again shortly',
  budget_waits: 'Waiting for another call that counts towards the same budget',
  model_fell_back: 'Another model answers the rest of this turn',
  thinking_unseen: 'The thinking cannot be shown',
  budget_warning: 'The cost has reached an amount you set',
  hook_failed: 'A hook failed',
  key_seen: 'This may be a key',
  definition_wrong: 'The definition of a skill or subagent has errors',
  not_used: 'Not used here',
  price_unknown: 'Some costs are unknown',
  helper_missing: 'A helper model is missing',
  summary_failed: 'No summary could be made',
  summary_remade: 'The summary was made again',
  files_changed: 'Changed since the agent read them, and it was told:',
  summarized:
    'From here on the model reads a summary in place of the beginning; /compact shows it. Tokens before and after:',
  retry: 'Try again',
  continue: 'Continue',
  switchModel: 'Switch model',
  settings: 'Settings',
};

export const models = {
  title: 'Model',
  menu: 'Models',
  none: 'No model',
  search: 'Find or type a model’s name',
  loading: 'Loading the list of models…',
  failed: (reason: string) => `No list of models: ${reason}`,
  noneListed: 'Nothing is listed here. Type a name, at Azure that of a deployment.',
  unlisted: 'Not in a list',
  useTyped: (name: string, provider: string) => `Use “${name}” at ${provider}`,
  held: 'Looking for it in every list…',
  reload: 'Reload the lists of models',
  addProvider: 'Add a key or a server…',
  context: (tokens: string) => `${tokens} context`,
  scripted: 'scripted',
};

export const find = {
  label: 'Find in this session',
  place: (at: number, of: number) => `${f.number(at)} of ${f.number(of)}`,
  none: 'Not found',
  before: 'Previous match',
  after: 'Next match',
  earlier: (count: number) => `Search ${f.count(count, 'earlier row', 'earlier rows')}`,
  looking: (passed: number, of: number) =>
    `Looked through ${f.number(passed)} of ${f.count(of, 'earlier row', 'earlier rows')}…`,
  /** Of what is found in the rows that are read, none of the others having any of it. */
  lastPlace: (at: number, of: number) => `${f.number(at)} of ${f.number(of)}, none earlier`,
  stop: 'Stop',
};

/** What a person could ask for first: written into the message box as it stands here. */
export const firstTasks = {
  title: 'To get started',
  explain: (file: string) => `Read ${file} and tell me what this project does and how it is put together.`,
  test: (folder: string) => `Run the tests in ${folder} and explain what fails and why, without changing anything yet.`,
  addTests: (file: string) => `Look at how ${file} builds this, and add a first test for the part that matters most.`,
  describe: 'Write a README: what this project is for, how to build it, how to run it.',
  check: (file: string) => `Compare ${file} with the code and list what is no longer true.`,
};
