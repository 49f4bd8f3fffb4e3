export const commands = {
  newSession: 'New session',
  stop: 'Stop the turn',
  continue: 'Go on with the turn',
  model: 'Choose the model',
  inbox: 'Everything that waits for you',
  find: 'Find in this session',
  plan: 'Plan',
  board: 'Plan as a board',
  agents: 'Agents',
  changes: 'Changes',
  timeline: 'Timeline',
  rewind: 'Go back to before the last message',
  rename: 'Rename the session',
  sidebar: 'Show or hide the sessions',
  inspector: 'Show or hide the side pane',
  openFolder: 'Open a folder',
  palette: 'Find a command, a session or a file',
  settings: 'Settings',
  sheet: 'Keyboard shortcuts',
  light: 'Light theme',
  dark: 'Dark theme',
  asSystem: 'Theme of the system',
  english: 'Switch to English',
  chinese: 'Switch to Chinese (中文)',
  firstSteps: 'Show the first steps again',
};

export const palette = {
  title: 'Commands, sessions and files',
  placeholder: 'Find a command, a session or a file',
  none: 'Nothing of that name',
  commands: 'Commands',
  sessions: 'Sessions',
  files: 'Changed files of this session',
  said: 'Said in sessions',
};

export const inbox = {
  title: 'Waiting for you',
  open: 'Open the session',
  emptyTitle: 'Nothing waits for you',
  emptyText: 'When an agent of any session wants to change a file or run a command, its request is here.',
};
