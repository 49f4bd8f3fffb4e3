/** What memories, skills, subagents and trust of recorded worlds are made from. */
import type {
  FileDiff,
  FileVersion,
  MemoryEntry,
  MemoryRef,
  SkillEntry,
  SkillRef,
  SubagentEntry,
  TrustItem,
} from '../bindings';
import { ago, diff } from './builders';

export interface Kept {
  entry: MemoryEntry;
  text: string;
  versions: (FileVersion & { text: string })[];
}

export const memory = (
  scope: MemoryRef['scope'],
  path: string,
  text: string,
  minutes: number,
  author: string | null,
): Kept => ({
  entry: {
    memory: { scope, project: scope === 'project' ? 'p1' : null, path },
    agent_path: scope === 'user' ? `/memories${path}` : `/memories/project${path}`,
    title: text.split('\n')[0]?.replace(/^[#\s-]+/, '') ?? path,
    snippet: [],
    size: text.length,
    always_read: path === '/AGENTS.md',
    author,
    created_at: ago(minutes + 6000),
    updated_at: ago(minutes),
  },
  text,
  versions: [],
});

export const skill = (
  origin: SkillRef['origin'],
  folder: string,
  description: string,
  change: Partial<SkillEntry> = {},
): SkillEntry => ({
  skill: { origin, project: origin.startsWith('project') ? 'p1' : null, folder },
  name: folder,
  description,
  agent_path: `/skills/${origin}/${folder}/SKILL.md`,
  hidden: null,
  pinned: false,
  warnings: [],
  problem: null,
  uses: 0,
  used_at: null,
  ...change,
});

export const text = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n1. Look at what changed since the last tag.\n2. Group it by what a reader cares about.\n`;

export const subagent = (
  origin: SubagentEntry['subagent']['origin'],
  name: string,
  description: string,
  hidden: SubagentEntry['hidden'],
): SubagentEntry => ({
  subagent: { origin, project: origin === 'project' ? 'p1' : null, name },
  form: {
    name,
    description,
    prompt: 'Look before you answer, and say where you looked.',
    tools: origin === 'builtin' ? null : ['read_file', 'grep', 'glob'],
    model: null,
    effort: null,
    skills: [],
    interrupt_on: [],
    permissions:
      origin === 'user' ? [{ mode: 'deny', operations: ['read', 'write'], paths: ['/secrets/**', '/**/*.pem'] }] : [],
    max_steps: origin === 'builtin' ? null : 20,
  },
  hidden,
  warnings: [],
  problem: null,
  text: '',
  revision: 'r1',
  versions: [],
});

export const trustItem = (
  kind: TrustItem['kind'],
  name: string,
  state: TrustItem['state'],
  paths: string[],
  effects: string[] = [],
): TrustItem => ({
  kind,
  name,
  state,
  files: paths.map((path) => ({ path, state, hash: `hash-of-${path}`, size: 412 })),
  effects,
  problem: null,
});

export const CHANGED: FileDiff = diff(
  '/AGENTS.md',
  '',
  1,
  ' # Working here\n \n-- Run the tests before you finish.\n+- Run the tests before you finish, and push the result.\n - Keep functions short.',
);

export const TEXTS: Record<string, string> = {
  '/AGENTS.md': '# Working here\n\n- Run the tests before you finish, and push the result.\n- Keep functions short.\n',
  '/.bosun/skills/release/SKILL.md': text('release', 'Writes release notes from the commits since the last tag.'),
  '/.bosun/agents/scout.md': '---\nname: scout\ndescription: Looks things up.\n---\n\nLook, do not change.\n',
  '/.bosun/config.toml': '[[hooks]]\nname = "format"\npoint = "after_tool"\ncommand = "./format.sh"\n',
};
