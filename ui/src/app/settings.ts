import type { Settings } from '../ipc/bindings';

/** Settings of another version may lack what this one knows. */
export type Complete = Required<Settings>;

/** What holds until something was chosen. */
export const START: Complete = {
  theme: 'system',
  language: 'system',
  model: null,
  welcomed: false,
  muted: false,
  editor: '',
  shortcuts: {},
  projects: {},
};
