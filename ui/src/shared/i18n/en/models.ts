import { Formats } from '../formats';

const f = new Formats('en');

export const local = {
  title: 'On this machine',
  hint: 'Bosun looks at the usual ports of this machine. With a model that runs here nothing is sent anywhere else.',
  looking: 'Looking for model servers…',
  none: 'No model server answered here. Start Ollama, LM Studio or llama.cpp and look again.',
  again: 'Look again',
  wantsKey: 'needs a key',
  noModels: 'has no model yet',
  use: 'Use',
  useModel: (model: string, server: string) => `Use ${model} at ${server}`,
  used: 'In use',
  more: (count: number) => `${f.count(count, 'more model', 'more models')} in the list of models`,
  add: 'Add',
  addServer: (server: string) => `Add ${server}`,
  stays: 'stays on this machine',
  mayHandOn: 'may hand requests on',
  goesTo: (host: string) => `Requests go to ${host}`,
  staysAt: (host: string) => `Requests stay on this machine (${host})`,
  goesToHere: (host: string) =>
    `Requests go to ${host} on this machine; what it does with them is out of Bosun’s hands`,
  handedOn: 'leaves this machine',
  handedOnAt: (host: string) => `Requests go to ${host}, which hands them on beyond this machine`,
};

export const efforts = {
  title: 'Thinking',
  default: 'Default',
  off: 'Off',
  least: 'Minimal',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  max: 'Maximum',
  on: 'On',
  asSettings: (level: string) => `As set (${level})`,
  hint: 'From the next turn on.',
  newHint: 'For new sessions with this model.',
  untold: 'Bosun sends this server no level: the model thinks as the server is set up.',
};

export const projectModels = {
  title: 'Models by project',
  text: 'The model for a project’s new sessions, here and on the command line, and how much it thinks. A session can change either.',
  usual: 'Same as all projects',
  label: (project: string) => `Model for new sessions in ${project}`,
  effort: (project: string) => `Thinking in new sessions in ${project}`,
  none: 'Open a folder to give it a model of its own.',
};

export const modelOptions = {
  helpers: 'Helper models',
  fallback: 'When the model is overloaded',
  fallbackHint:
    'This one answers the rest of the turn, and says so. A model on this machine falls back only to another on it.',
  small: 'Titles and summaries',
  smallHint:
    'A cheaper model names sessions and summarises long ones. For a model on this machine it has to run here too.',
  none: 'None',
  budgets: 'Budget',
  budgetsHint: 'In US dollars, as far as prices are known. At the limit the turn stops, saved; raise it and continue.',
  warnAt: 'Warn at',
  stopAt: 'Stop at',
  noLimit: 'no limit',
  scopes: { session: 'One session', day: 'One day' },
  known: 'Model details',
  knownHint:
    'Context window, limits and price, where the catalogue and the provider’s list lack them or have them wrong.',
  catalogue: (date: string, source: string) => `Catalogue as of ${date}: ${source}.`,
  addKnown: 'Add model details',
  change: (model: string) => `Edit the details of ${model}`,
  changeShort: 'Edit',
  forget: 'Reset',
  asKnown: 'as known',
  context_window: 'Context window, tokens',
  max_output: 'Longest output, tokens',
  prices: {
    input: 'Input, $ per million',
    output: 'Output, $ per million',
    cache_read: 'Cache read',
    cache_write: 'Cache write',
    cache_write_hour: 'Cache write, one hour',
    sound: 'Audio input',
  },
  bothPrices: 'A price needs both input and output.',
  priceOf: (input: string, output: string) => `${input} in, ${output} out per million`,
  priceUnchanged: 'price as known',
  abilities: { images: 'Images', documents: 'PDF', audio: 'Audio', video: 'Video', reasoning: 'Thinking' },
  yes: 'yes',
  no: 'no',
  network: 'Network',
  networkHint:
    'Models on this machine are never reached through a proxy. Without a trusted certificate there is no connection.',
  proxy: 'Proxy',
  asSystem: 'as the system is set',
  proxies: {
    none: 'Neither the environment nor the desktop names a proxy: requests go directly.',
    environment: (variable: string, address: string) => `From ${variable}: ${address}`,
    desktop: (desktop: string, address: string) => `From the ${desktop} settings: ${address}`,
    script: (desktop: string) =>
      `The ${desktop} settings choose the proxy with a script (PAC), which Bosun does not run: requests go directly. Enter the proxy here if they do not get through.`,
  },
  proxyLogin: {
    title: 'User name and password for the proxy',
    user: 'User name for the proxy',
    password: 'Password for the proxy',
    hint: 'Only if the proxy asks for them. They are kept in the keyring and never shown.',
    kept: 'Name and password are in the keyring.',
    memory: (reason: string) => `Name and password are forgotten when Bosun closes: ${reason}.`,
    locked: (reason: string) => `Name and password are stored but cannot be read: ${reason}.`,
    remove: 'Remove name and password',
  },
  certificates: 'Additional certificates to trust (PEM)',
  waits: {
    connect_seconds: 'To connect, seconds',
    first_byte_seconds: 'To the first byte, seconds',
    idle_seconds: 'Between two bytes, seconds',
    total_seconds: 'For a whole reply, seconds',
  },
};

export const usage = {
  title: 'Usage and cost',
  session: 'This session',
  days: (count: number) => `Last ${f.count(count, 'day', 'days')}`,
  today: 'Today',
  all: 'Total',
  what: 'What',
  calls: 'Calls',
  input: 'Read',
  cached: 'Cached',
  output: 'Written',
  thought: 'Thought',
  agent: 'Agent',
  agents: 'By agent',
  cost: 'Cost',
  unknown: 'price unknown',
  atLeast: (known: string) => `${known} +`,
  andUnknown: (known: string, calls: number) => `${known} and ${f.count(calls, 'call', 'calls')} of unknown price`,
  empty: 'No model was called yet.',
  lastCalls: (count: number) => `The last ${f.count(count, 'call', 'calls')}`,
  when: 'When',
  purpose: 'For',
  took: 'Took',
  purposes: { answer: 'Step', summary: 'Summary', title: 'Title' },
  hint: 'Tokens as the providers count them, subagents, summaries and titles included; what was thought is a part of what was written. Prices are those of the day.',
};

/** Input and output, per million tokens. */
export const modelPrices = {
  priceOf: (input: string, output: string) => `${input} / ${output}`,
};
