/** What can be open over the window. */
import type { AgentNode, Attachment, Checkpoint, ExportFormat, SessionSummary } from '../ipc/bindings';

export type SettingsSection =
  | 'models'
  | 'permissions'
  | 'sandbox'
  | 'servers'
  | 'hooks'
  | 'additions'
  | 'subagents'
  | 'shortcuts'
  | 'appearance'
  | 'data'
  | 'about';

/** A row that was found elsewhere, with the words that were looked for. */
export interface Sought {
  /** The row; `null` where only its call is known. */
  item: string | null;
  call?: string;
  /** The words that were looked for in it. */
  text: string;
}

export type Dialog =
  /** With a provider its card is open. */
  | { kind: 'settings'; section: SettingsSection; provider?: string }
  /** A place of the session at hand: looked at, or gone back to. */
  | { kind: 'past'; place: Checkpoint }
  | { kind: 'rewind'; seq: number }
  /** Something that stands with a message. */
  | { kind: 'attachment'; session: string; attachment: Attachment }
  /** What one subagent did; `sought` is gone to in it. */
  | { kind: 'agent'; node: AgentNode; sought?: Sought }
  /** What a session would be as a file. */
  | { kind: 'export'; session: SessionSummary; format: ExportFormat }
  | { kind: 'memories' | 'skills' | 'trust' }
  | { kind: 'shortcuts' | 'palette' | 'board' | 'inbox' | 'changes' | 'summary' };
