import { Formats } from '../formats';

const f = new Formats('en');

export const attachments = {
  attach: 'Attach an image, a PDF or a text file',
  drop: 'Drop it to attach it to your message',
  list: 'Attached',
  keeping: 'reading…',
  remove: (name: string) => `Remove “${name}”`,
  open: (name: string) => `Open “${name}”`,
  content: 'Content',
  notShown: 'It cannot be shown here. The model got it as it is, as far as it can read such files.',
  unseen: (count: number) =>
    `This model cannot see ${f.number(count)} of these files and gets only their names. Choose another model to have them read.`,
  /** What a file without a name is called. */
  unnamed: 'pasted',
  tooLarge: (name: string) =>
    `“${name}” is larger than 20 MB. Put it into the project folder and name it with @ instead.`,
};
