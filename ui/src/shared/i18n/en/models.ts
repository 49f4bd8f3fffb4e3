import { Formats } from '../formats';

const f = new Formats('en');

export const local = {
  title: 'On this machine',
  hint: 'Bosun looks at the usual ports of this machine. With a model from here nothing is sent anywhere else.',
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
};
