import { Formats } from '../formats';

const f = new Formats('en');

export const settings = {
  title: 'Settings',
  models: 'Models and keys',
  appearance: 'Appearance',
  about: 'About',
  theme: 'Theme',
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  language: 'Language',
  languages: { system: 'As the system', en: 'English', 'zh-CN': '简体中文' },
  textSize: 'Size of the words',
  defaultModel: 'Model of new sessions',
  providers: 'Providers',
  version: (version: string) => `Version ${version}`,
  tagline: 'A deep agent in your project folder, under your command.',
  licence: 'Licence: Apache-2.0',
  replayTitle: 'First steps',
  replay: 'Show the first steps again',
  saveFailed: 'The settings could not be saved',
};

export const providers = {
  key: 'Key',
  keySources: {
    missing: 'no key',
    none: 'needs no key',
    keyring: 'key in the keyring',
    environment: (variable: string) => `key from ${variable}`,
    cloud: 'credentials of the cloud',
    memory: 'key for this run only',
    locked: 'keyring locked',
  },
  noKeyringHint:
    'No keyring answers here, so the key is forgotten when Bosun closes. Unlock or install one (for example gnome-keyring) to keep it.',
  memoryHint: (reason: string) => `The key is forgotten when Bosun closes: ${reason}.`,
  lockedHint: (reason: string) => `A key is stored but cannot be read: ${reason}.`,
  environmentHint: (variable: string) =>
    `Found in the environment as ${variable}. A key saved here is used in its place.`,
  cloudHint: (from: string) => `Signed in with ${from}. A key saved here is used in its place.`,
  bedrockHint:
    'Without a key, Bosun signs with AWS_ACCESS_KEY_ID or your profile in ~/.aws. The address names the region.',
  vertexHint:
    'Without a token, Bosun uses your application-default credentials (gcloud auth application-default login). The project is theirs, or GOOGLE_CLOUD_PROJECT.',
  azureHint: 'Every resource has an address of its own. Its name stands in the portal: enter it here, then the key.',
  region: 'Region',
  resource: 'Resource name',
  location: 'Location',
  saveRegion: 'Use it',
  pasteKey: 'Paste the key',
  replaceKey: 'Paste another key',
  saveKey: 'Save key',
  removeKey: 'Remove key',
  headers: 'Headers of your own',
  headersHint: (host: string) =>
    `Sent to ${host} with every request, for a gateway that wants more than a key. Their values are kept where keys are.`,
  headerName: 'Name',
  headerValue: 'Value',
  addHeader: 'Add header',
  removeHeader: (name: string) => `Remove the header ${name}`,
  test: 'Test call',
  testing: 'Calling…',
  works: (time: string, model: string | null) =>
    model ? `Works: ${model} answered in ${time}` : `Works: its list came in ${time}`,
  fails: (model: string | null) => (model ? `The provider refused a call to ${model}` : 'The provider refused'),
  others: (count: number) => `${f.count(count, 'more provider', 'more providers')}`,
  fewer: 'Fewer providers',
  baseUrl: 'Base URL',
  name: 'Name',
  add: 'Add a server',
  addTitle: 'A server that speaks the OpenAI format',
  addHint:
    'Ollama, LM Studio, llama.cpp, vLLM and most hosted services. The address usually ends in /v1; with /responses behind it, OpenAI Responses is spoken.',
  keyOptional: 'Key, if it wants one',
  remove: 'Remove this provider',
  saving: 'Saving…',
};

export const welcome = {
  title: 'Welcome to Bosun',
  skip: 'Skip',
  continue: 'Continue',
  finish: 'Start working',
  step: (at: number, of: number) => `Step ${f.number(at)} of ${f.number(of)}`,
  filesTitle: 'What it does to your files',
  files: {
    reads: 'It reads in the folder you open, and nowhere else.',
    asks: 'It asks before it changes a file or runs a command. You see exactly what would happen.',
    keeps: 'It keeps the bytes from before every change.',
  },
  modelTitle: 'Choose a model',
  modelText: 'Your messages go to the model you choose and to nobody else.',
  found: 'A key was found',
  noneFound: 'No key was found yet. Paste one, add a server, or look around with the tour.',
  chosen: 'Chosen',
  ownServer: 'Your own server',
  tourTitle: 'See it work first',
  tourText: 'No key needed: a scripted model works on a sample project, through the real tools, approvals and files.',
  tour: 'Take the tour',
  folderTitle: 'Open a folder',
  folderText: 'One project at a time. Your home folder and the whole disk are refused.',
  chooseFolder: 'Choose a folder…',
};
