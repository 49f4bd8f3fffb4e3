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

export type Dialog =
  | { kind: 'settings'; section: SettingsSection }
  /** A place of the session at hand: looked at, or gone back to. */
  | { kind: 'past'; place: Checkpoint }
  | { kind: 'rewind'; seq: number }
  /** Something that stands with a message. */
  | { kind: 'attachment'; session: string; attachment: Attachment }
  /** What one subagent did. */
  | { kind: 'agent'; node: AgentNode }
  /** What a session would be as a file. */
  | { kind: 'export'; session: SessionSummary; format: ExportFormat }
  | { kind: 'memories' | 'skills' | 'trust' }
  | { kind: 'shortcuts' | 'palette' | 'board' | 'inbox' | 'changes' | 'summary' };
