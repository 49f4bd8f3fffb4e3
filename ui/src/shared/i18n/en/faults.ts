import { Formats } from '../formats';

const f = new Formats('en');

/** Something in the page itself failed. */
export const faults = {
  row: 'This row could not be shown.',
  request: 'This request could not be shown.',
  /** Said to who does not see that they came. */
  requests: (count: number) =>
    count === 1
      ? 'A request waits for an answer and could not be shown.'
      : `${f.number(count)} requests wait for an answer and could not be shown.`,
  dialog: 'This dialog could not be shown.',
  conversation: 'The conversation could not be shown.',
  session: 'The session could not be shown.',
  list: 'The list of sessions could not be shown.',
  /** A pane by its name. */
  pane: (name: string) => `“${name}” could not be shown.`,
  content: 'This part could not be shown.',
  window: 'The window could not be shown.',
  safe: 'No work is lost; Bosun keeps working.',
  /** Of a request, with the tool that it asks for where that has a plain name. */
  unseen: (tool: string | null) =>
    `${tool === null ? 'It waits' : `It asks for ${tool} and waits`}; none of it runs until then. What nobody can see cannot be approved.`,
  stop: 'Stop the turn',
  copy: 'Copy details',
  reload: 'Load the window again',
  notDone: (reason: string) =>
    `What you asked for may not have happened: ${reason}. No work is lost. If it happens again, the log has the details.`,
};
