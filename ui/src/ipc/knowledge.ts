import type {
  DecideTrust,
  FindMemories,
  Imported,
  MemoryFile,
  MemoryList,
  MemoryRef,
  MemoryShelf,
  ProjectTrust,
  SaveMemory,
  SaveSkillFile,
  SaveSubagent,
  SkillDetails,
  SkillFile,
  SkillList,
  SkillRef,
  SubagentEntry,
  SubagentList,
  SubagentRef,
  TrustText,
  WrittenBy,
} from './bindings';

/** What the agent knows besides the conversation, and what of a project it may go by. */
export interface KnowledgeClient {
  projectTrust(project: string): Promise<ProjectTrust>;
  trustText(project: string, path: string): Promise<TrustText>;
  /** Rejects, and decides nothing, where a file changed since it was looked at. */
  decideTrust(project: string, decision: DecideTrust): Promise<void>;

  listMemories(find: FindMemories): Promise<MemoryList>;
  loadMemory(memory: MemoryRef): Promise<MemoryFile>;
  /** Rejects where something else is there than what it was edited from. */
  saveMemory(save: SaveMemory): Promise<MemoryFile>;
  deleteMemory(memory: MemoryRef): Promise<void>;
  memoryVersion(memory: MemoryRef, number: number): Promise<string | null>;
  /** Puts an earlier version in place, of a deleted memory too. */
  restoreMemory(memory: MemoryRef, number: number): Promise<MemoryFile>;
  memorySource(memory: MemoryRef, number: number | null): Promise<WrittenBy | null>;
  /** Asks for a folder in the system's dialog; `null` when it was cancelled. So do the others that go out or come in. */
  exportMemories(shelf: MemoryShelf): Promise<string | null>;
  /** From a zip archive in base64 or, without one, from a folder. */
  importMemories(shelf: MemoryShelf, archive: string | null): Promise<Imported | null>;

  listSkills(project: string | null): Promise<SkillList>;
  loadSkill(skill: SkillRef): Promise<SkillDetails>;
  loadSkillFile(skill: SkillRef, path: string): Promise<SkillFile>;
  createSkill(name: string, description: string): Promise<SkillDetails>;
  saveSkillFile(save: SaveSkillFile): Promise<SkillFile>;
  /** The number of the version that brings it back. */
  deleteSkillFile(folder: string, path: string): Promise<number>;
  skillVersion(folder: string, path: string, number: number): Promise<string | null>;
  restoreSkillFile(folder: string, path: string, number: number): Promise<SkillFile>;
  deleteSkill(folder: string): Promise<void>;
  restoreSkill(folder: string): Promise<SkillDetails>;
  switchSkill(skill: SkillRef, off: boolean): Promise<void>;
  pinSkill(skill: SkillRef, pinned: boolean): Promise<void>;
  exportSkill(skill: SkillRef): Promise<string | null>;
  importSkills(archive: string | null): Promise<Imported | null>;

  listSubagents(project: string | null): Promise<SubagentList>;
  saveSubagent(save: SaveSubagent): Promise<SubagentEntry>;
  deleteSubagent(name: string): Promise<void>;
  restoreSubagent(name: string, number: number): Promise<SubagentEntry>;
  subagentVersion(name: string, number: number): Promise<string | null>;
  switchSubagent(subagent: SubagentRef, off: boolean): Promise<void>;
}
