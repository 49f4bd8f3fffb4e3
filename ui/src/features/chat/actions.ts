import type { Edit } from '../../app/edits.svelte';
import type { Step } from '../../app/wayOut';
import type { Attachment, Item, Problem, QueuedMessage } from '../../ipc/bindings';

/** What a person can do about a turn that ended badly. */
export interface TurnActions {
  /** The ways out that a problem's sentence names. */
  ways: (problem: Problem) => Step[];
  onContinue: () => void;
  onSwitchModel: () => void;
  onSettings: () => void;
}

/** What a person can do with messages that wait. */
export interface QueueActions {
  /** Whether it was taken. */
  onEdit: (id: string, text: string) => Promise<boolean>;
  /** What one is being changed to; `null` while it is as it was. */
  written: (id: string) => string | null;
  onWrite: (id: string, text: string | null) => void;
  /** To a place of the queue, from 0. */
  onMove: (id: string, to: number) => void;
  /** Gives it to the running turn, whose model reads it at its next step. */
  onSteer: (id: string) => void;
  /** Stops the turn and begins the next with it. */
  onSendNow: (id: string) => void;
  onDelete: (message: QueuedMessage) => void;
}

/** What a person can do with a message they sent. */
export interface MessageActions {
  /** What is being said in other words. */
  readonly edit: Edit | null;
  /** Begins to say it in other words. */
  onEdit: (item: Item) => void;
  onText: (text: string) => void;
  /** The field of it has the keys. */
  onFocused: () => void;
  /** Sends what is said in other words, to a session of its own. */
  onSend: () => void;
  onCancel: () => void;
  /** Asks the same once more for another reply than this one, in a session of its own. */
  onAgain: (reply: Item) => void;
  /** Goes back to before it. */
  onRewind: (item: Item) => void;
  /** Shows something that stands with it. */
  onOpen: (attachment: Attachment) => void;
}
