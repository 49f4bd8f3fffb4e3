import { Formats } from '../formats';

const f = new Formats('en');

export const summary = {
  title: 'Summary of the conversation',
  explained:
    'A long conversation goes to the model with a summary in place of its beginning. Nothing is removed from the session.',
  none: 'Nothing has been summarised yet: the model reads the whole conversation.',
  text: 'What the model reads in its place',
  edited: 'edited',
  figures: (messages: number, before: string, after: string) =>
    `Stands for ${f.count(messages, 'message', 'messages')}: about ${before} tokens became ${after}.`,
  causes: {
    threshold: 'Made because the conversation had grown long.',
    overflow: 'Made because the provider refused the conversation as too long.',
    agent: 'Made because the agent asked for it.',
    person: 'Made because you asked for it.',
  },
  original: (file: string) => `The agent can read the original in ${file}.`,
  leftOut: (characters: number) =>
    `${f.count(characters, 'character', 'characters')} of its middle did not fit and are not in the summary.`,
  facts: 'Carried over word for word',
  guidance: 'Instructions for the summary',
  guidanceHint: 'For example: keep every decision about the database',
  running: 'A turn is running. Stop it, or wait until it ends.',
  compact: 'Summarise now',
  working: 'Working…',
  making: 'Summarising the conversation…',
  stop: 'Stop',
  save: 'Save',
  undo: 'Undo the summary',
};
