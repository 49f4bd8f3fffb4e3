import { Formats } from '../formats';

const f = new Formats('en');

export const modes = {
  label: 'Approval mode',
  plan_only: 'Plan only',
  plan_onlyHint: 'Reads and plans. Every change and every command is refused.',
  ask: 'Ask before changes',
  askHint: 'Changes to files and commands wait for your answer.',
  edits: 'Edit freely in the project',
  editsHint: 'Files of the project change without asking. Deleting, protected names and commands ask.',
  sandbox: 'Run freely in the sandbox',
  sandboxHint:
    'Files change and commands run without asking. Turns the project’s sandbox on: commands write the project only, with no network. What plainly deletes, or names files that run code later, asks.',
  next: 'Shift+Tab: next mode',
  changed: (mode: string) => `From now on: ${mode}`,
};

export const scopes = {
  label: 'How long this answer holds',
  once: 'Once',
  session: 'This session',
  project: 'This project',
  always: 'Always',
  onceAside: 'just this once',
  open: 'Let such calls pass from now on…',
  close: 'Close: it holds just this once',
  pattern: { command: 'Commands that pass', files: 'Files that pass', tool: 'Tool that passes' },
  patternHint: {
    command: 'Word for word; * at the end stands for any further words.',
    files: 'From the top of the project; * is any name, ** any folders.',
    tool: 'Every call of this tool.',
  },
  others: 'Or',
  rehearsing: 'Trying it on past requests…',
  rehearsed: (answered: number, asked: number) =>
    `Would have answered ${f.number(answered)} of ${f.count(asked, 'past request', 'past requests')}.`,
  passing: 'Would pass',
  asking: 'Would still ask',
  example: 'for example',
  approve: 'Approve and let pass',
  guarded: 'Asked for each time',
  guards: {
    protected: (name: string) =>
      `${name} is a protected name: it later runs code, holds configuration, or is a device on Windows.`,
    deletes: 'Deleting is always asked for.',
    hidden: 'It contains unusual characters.',
    shell: 'The shell would expand, redirect or start more than the words say.',
    outside: 'It names a place outside the project, or an address.',
    destructive: (command: string) => `“${command}” destroys what cannot be recovered.`,
    runs_other: (program: string) => `${program} runs whatever it is told to.`,
    option: (option: string) => `The option ${option} runs another program or writes elsewhere.`,
    several_commands: 'It is several commands; each needs a rule of its own.',
    too_long: 'It is too long to be inspected.',
    configured: 'Its tool is set to ask, or a hook asks for it.',
    script_changed: 'It is asked for again because of a script that it runs.',
  },
  problems: {
    empty: 'Write what should pass, in at most 1,000 characters.',
    everything: 'This would cover every command. Name one.',
    one_command: 'A rule is for one command. Make one for each.',
    vague: (program: string) => `${program} does many things. Say which, for example with its next word.`,
    not_a_path: 'Write a path from the top of the project, with * for a name and ** for folders.',
    not_this: 'This does not cover the call above.',
    guarded: (why: string) => `No rule may let this pass. ${why}`,
  },
};

export const permissions = {
  title: 'Permissions',
  rulesTitle: 'Rules',
  rulesText:
    'What you let pass when you approved a call. Places outside the project, protected names, deleting and everything that a rule cannot see through ask all the same.',
  noRules: 'No rules yet',
  noRulesText: 'Choose how long an answer holds when you approve a call; the rule is then here.',
  kinds: { command: 'command', files: 'files', tool: 'tool' },
  in: { session: 'one session', project: 'one project', always: 'everywhere' },
  remove: (pattern: string) => `Remove the rule “${pattern}”`,
  removed: (pattern: string) => `“${pattern}” asks again`,
  modesTitle: 'How sessions of a project begin',
  modesText: 'Holds for sessions in which you chose nothing else.',
  noProjects: 'Open a folder to choose how its sessions begin.',
};

export const sandbox = {
  title: 'Sandbox',
  here: 'For {project}, the current project.',
  nowhere: 'No project is open. Open a folder to see what holds its commands and its files.',
  stateTitle: 'Commands',
  on: 'In the sandbox',
  onText:
    'Commands of this project can write the project and nothing else, and find an empty home folder beside your toolchains. What runs later or configures programs, such as git hooks or .envrc, they cannot change where it is there, nor make at the top of the project. They ask all the same, unless a rule or the mode lets one pass.',
  off: 'With your rights',
  offText:
    'Commands of this project run with your rights on this machine, with an environment that holds no keys, a time limit, and everything they start ended with them. That is no wall: a command could read and change whatever you may. So every command asks, unless a rule of yours lets it pass.',
  filesTitle: 'File tools',
  files: 'Confined to the project',
  filesText:
    'Reading and changing files goes through a handle of the project folder that leads nowhere else, whatever links and names are used. It is enforced by the system, not by a list.',
  networkTitle: 'Network',
  network: 'Commands may use it',
  noNetwork: 'Commands have none',
  networkText: 'Bosun itself speaks only to the model you chose and the servers you added.',
  switchTitle: 'Run in a sandbox',
  switchText: 'The commands of these projects, from the next one on. Without bubblewrap on this machine there is none.',
  missing: 'Missing: ',
  all: 'The agent’s declaration wants it of every project.',
  noProjects: 'Open a folder to choose where its commands run.',
};

export const additions = {
  title: 'Folders and limits',
  text: 'More folders for the agent and limits of a turn, as TOML. Servers and hooks stand here too, as their forms write them. Applies to sessions opened from now on; those already open keep what they started with.',
  label: 'Servers, hooks and folders as TOML',
  check: 'Check',
  save: 'Save',
  fine: 'This can be used.',
  saved: 'Saved. New sessions have it.',
  unsaved: 'Not saved yet',
  notInForce: 'What is saved is not in effect',
  templates: 'Add',
  template: {
    local: 'A server that runs here',
    remote: 'A server at an address',
    hook: 'A hook',
    folder: 'A folder beside the project',
    machine: 'A folder on another machine (SSH)',
    container: 'A container',
    store: 'Files that outlast sessions',
    limits: 'Limits of a turn',
  },
};

export const keysSection = {
  title: 'Shortcuts',
  other: 'Change shortcuts…',
  text: 'Press Change, then the new keys. Esc leaves it as it is.',
  change: 'Change',
  changeOf: (command: string) => `Change the shortcut for “${command}”`,
  press: 'Press the keys…',
  none: 'none',
  clear: (command: string) => `Remove the shortcut for “${command}”`,
  reset: 'Reset',
  resetOf: (command: string) => `Reset the shortcut for “${command}”`,
  resetAll: 'Reset all',
  taken: (keys: string, command: string) => `${keys} is taken by “${command}”.`,
  reserved: (keys: string) => `${keys} is reserved. Use Ctrl or Cmd with a letter, digit or sign.`,
};

export const dataSection = {
  title: 'Data and privacy',
  folderTitle: 'Data folder',
  open: 'Show in the file manager',
  holds: (projects: number, sessions: number) =>
    `${f.count(projects, 'project', 'projects')}, ${f.count(sessions, 'session', 'sessions')}`,
  total: 'Total',
  parts: {
    database: 'Sessions, settings, memories',
    blobs: 'Earlier versions of files, large outputs',
    backups: 'Backups from before updates',
    logs: 'Log',
    page: 'Window data',
    other: 'Other',
  },
  weighing: 'Measuring…',
  unweighed: 'Its size could not be read.',
  privacyTitle: 'Privacy',
  privacy: [
    'No telemetry: Bosun sends nothing about you or your work to its makers.',
    'Your messages and what the tools read go to the model you chose, and to tool servers that you added.',
    'Keys are in the system’s keyring, never in the database, the log or a command’s environment. So are the values of headers and variables that servers and hooks get; those that no keyring took yet are named in their form.',
    'Pictures and links in answers load nothing until you open them.',
  ],
  noticesTitle: 'Notifications',
  notices: 'Notify me when a session I am not looking at needs me or is done',
  noNotices:
    'On this system Bosun shows no notifications. Where its icon can carry a number, that counts the sessions that wait for you.',
  diagnosticsTitle: 'Diagnostics',
  diagnosticsText:
    'For somebody who helps you. No keys, nothing that was said. Read it first; it is written where you choose.',
  preview: 'Preview',
  previewLabel: 'Preview of the diagnostics',
  write: 'Write it as a file…',
  written: (path: string) => `Written to ${path}`,
};
