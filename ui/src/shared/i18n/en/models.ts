import { Formats } from '../formats';

const f = new Formats('en');

export const local = {
  title: 'On this machine',
  hint: 'Bosun looks at the usual ports of this machine. With a model that runs here nothing is sent anywhere else.',
  looking: 'Looking for model servers…',
  none: 'No model server answered here. Start Ollama, LM Studio or llama.cpp and look again.',
  again: 'Look again',
  wantsKey: 'wants a key',
  noModels: 'has no model yet',
  use: 'Use',
  useModel: (model: string, server: string) => `Use ${model} at ${server}`,
  used: 'In use',
  more: (count: number) => `${f.count(count, 'more model', 'more models')} in the list of models`,
  add: 'Add',
  addServer: (server: string) => `Add ${server}`,
  stays: 'stays on this machine',
  goesTo: (host: string) => `Requests go to ${host}`,
  staysAt: (host: string) => `Requests stay on this machine (${host})`,
  goesToHere: (host: string) => `Requests go to ${host} on this machine; what that does with them is its own affair`,
  handedOn: 'leaves this machine',
  handedOnAt: (host: string) => `Requests go to ${host}, which hands them on beyond this machine`,
};

export const efforts = {
  title: 'Thinking',
  default: 'As usual',
  off: 'Off',
  least: 'Least',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  max: 'Most',
  on: 'On',
  asSettings: (level: string) => `As set (${level})`,
  hint: 'From the next turn on.',
  newHint: 'For new sessions with this model.',
  untold: 'This server is told nothing of it: the model thinks as the server has it, or not at all.',
};

export const projectModels = {
  title: 'Models of projects',
  text: 'The model of a project’s new sessions, here and on the command line, and how much it thinks. A session may change either.',
  usual: 'As all projects',
  label: (project: string) => `Model of new sessions in ${project}`,
  effort: (project: string) => `Thinking in new sessions in ${project}`,
  none: 'Open a folder to give it a model of its own.',
};

export const modelOptions = {
  helpers: 'Models that help out',
  fallback: 'When the model is overloaded',
  fallbackHint: 'This one answers the rest of the turn, and says so. A model on this machine is helped by such alone.',
  small: 'Titles and summaries',
  smallHint:
    'A cheaper model names sessions and sums up long ones; not for a model on this machine unless it is there too.',
  none: 'None',
  budgets: 'Budget',
  budgetsHint: 'In US dollars, as far as prices are known. At the limit the turn stops, saved; raise it and continue.',
  warnAt: 'Tell me at',
  stopAt: 'Stop at',
  noLimit: 'no limit',
  scopes: { session: 'One session', day: 'One day' },
  known: 'What Bosun does not know of a model',
  knownHint:
    'Its window, limits and price, where the catalogue and the provider’s list do not have them or have them wrong.',
  catalogue: (date: string, source: string) => `The catalogue is of ${date}: ${source}.`,
  addKnown: 'Say something of a model',
  change: (model: string) => `Change what is known of ${model}`,
  changeShort: 'Change',
  forget: 'As Bosun knows it',
  asKnown: 'as known',
  context_window: 'Context window, tokens',
  max_output: 'Longest output, tokens',
  prices: {
    input: 'Input, $ per million',
    output: 'Output, $ per million',
    cache_read: 'Read from the cache',
    cache_write: 'Written to the cache',
    cache_write_hour: 'Written for an hour',
  },
  bothPrices: 'A price counts once input and output are both there.',
  priceOf: (input: string, output: string) => `${input} in, ${output} out per million`,
  priceUnchanged: 'price as known',
  abilities: { images: 'Images', documents: 'PDF', audio: 'Audio', video: 'Video', reasoning: 'Thinks' },
  yes: 'yes',
  no: 'no',
  network: 'Network',
  networkHint:
    'Models on this machine are never reached through a proxy. Without a trusted certificate there is no connection.',
  proxy: 'Proxy',
  asSystem: 'as the system has it',
  proxies: {
    none: 'Neither the environment nor the desktop names a proxy: requests go directly.',
    environment: (variable: string, address: string) => `As ${variable} has it: ${address}`,
    desktop: (desktop: string, address: string) => `As the settings of ${desktop} have it: ${address}`,
    script: (desktop: string) =>
      `The settings of ${desktop} choose the proxy by a script (PAC), which Bosun does not run: requests go directly. Enter the proxy here if they do not arrive.`,
  },
  proxyLogin: {
    title: 'Name and password for the proxy',
    user: 'Name for the proxy',
    password: 'Password for the proxy',
    hint: 'Only if the proxy asks for them. They go into the keyring and are shown nowhere.',
    kept: 'Name and password are in the keyring.',
    memory: (reason: string) => `Name and password are forgotten when Bosun closes: ${reason}.`,
    locked: (reason: string) => `Name and password are stored but cannot be read: ${reason}.`,
    remove: 'Remove name and password',
  },
  certificates: 'Certificates to trust besides the system’s (PEM)',
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
  all: 'Together',
  what: 'What',
  calls: 'Calls',
  input: 'Read',
  cached: 'Cached',
  output: 'Written',
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
  hint: 'Tokens as the providers count them, subagents, summaries and titles included. A price is that of the day.',
};

/** Input and output, per million tokens. */
export const modelPrices = {
  priceOf: (input: string, output: string) => `${input} / ${output}`,
};
