import type { Attachment, Item } from '../../ipc/bindings';

/** What a person can do about a turn that ended badly. */
export interface TurnActions {
  onContinue: () => void;
  onSwitchModel: () => void;
  onSettings: () => void;
}

/** What a person can do with messages that wait. */
export interface QueueActions {
  onEdit: (id: string, text: string) => void;
  /** One begins to be changed. Gives where its words go when its row goes first. */
  onEditing: () => (text: string) => void;
  /** To a place of the queue, from 0. */
  onMove: (id: string, to: number) => void;
  /** Gives it to the running turn, whose model reads it at its next step. */
  onSteer: (id: string) => void;
  /** Stops the turn and begins the next with it. */
  onSendNow: (id: string) => void;
  onDelete: (id: string) => void;
}

/** What a person can do with a message they sent. */
export interface MessageActions {
  /** Says it differently, in a session of its own. */
  onEdit: (item: Item) => void;
  /** Asks the same once more for another reply than this one, in a session of its own. */
  onAgain: (reply: Item) => void;
  /** Goes back to before it. */
  onRewind: (item: Item) => void;
  /** Shows something that stands with it. */
  onOpen: (attachment: Attachment) => void;
}
