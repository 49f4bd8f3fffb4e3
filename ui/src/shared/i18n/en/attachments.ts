import { Formats } from '../formats';

const f = new Formats('en');

export const attachments = {
  attach: 'Attach a picture, a PDF or a text',
  drop: 'Drop it to attach it to your message',
  list: 'Attached',
  keeping: 'reading…',
  remove: (name: string) => `Take “${name}” away`,
  open: (name: string) => `Look at “${name}”`,
  content: 'Content',
  notShown: 'It cannot be shown here. The model got it as it is, as far as it can look at such files.',
  unseen: (count: number) =>
    `This model cannot look at ${f.number(count)} of these files and is told the names alone. Choose another model to have them seen.`,
  /** What a file without a name is called. */
  unnamed: 'pasted',
  tooLarge: (name: string) =>
    `“${name}” is larger than 20 MB. Put it into the project folder and name it with @ instead.`,
};
