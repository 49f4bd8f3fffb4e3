import type { Attachment } from 'svelte/attachments';
import { on } from 'svelte/events';
import { isComposing } from '../press';

/** Where Escape has something of its own to leave before the dialog over it. */
export const OWN_ESCAPE = 'data-escape';

/** Escape in here leaves what is here, and nothing around it. */
export const ownEscape =
  (leave: () => void): Attachment<HTMLElement> =>
  (node) => {
    node.setAttribute(OWN_ESCAPE, '');
    return on(node, 'keydown', (event) => {
      if (event.key !== 'Escape' || isComposing(event)) return;
      event.preventDefault();
      event.stopPropagation();
      leave();
    });
  };
