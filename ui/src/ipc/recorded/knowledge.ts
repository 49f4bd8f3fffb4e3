/** What the recorded host answers about memories, skills, subagents and trust: kept as long as the page is. */
import type { MemoryFile, MemoryRef, SkillEntry, SkillRef, SubagentEntry, TrustItem } from '../bindings';
import type { KnowledgeClient } from '../knowledge';
import { later, type Act } from '../recorded';
import { ago, NOW } from './builders';
import type { Host } from './host';
import { CHANGED, memory, skill, subagent, text, TEXTS, trustItem, type Kept } from './knowledgeSamples';

class Shelves {
  memories: Kept[] = [
    memory(
      'user',
      '/AGENTS.md',
      '# How I like to work\n\n- Short answers, no praise.\n- British spelling.\n',
      30,
      null,
    ),
    memory('user', '/release-notes.md', 'Release notes name the reader first, then the change.\n', 400, 's-fixtures'),
    memory(
      'project',
      '/AGENTS.md',
      '- `cargo nextest run -p auth` takes 8 s; the whole suite takes 9 minutes.\n',
      90,
      's-refresh',
    ),
    memory(
      'project',
      '/clock.md',
      '# The fake clock\n\nLives in tests/support/clock.rs; advance it, never sleep.\n',
      2000,
      's-refresh',
    ),
  ];
  gone: (Kept & { number: number; at: number })[] = [];
  skills: SkillEntry[] = [
    skill('builtin', 'review-change', 'Reviews a change for mistakes before it is handed over.', {
      uses: 4,
      used_at: ago(60),
    }),
    skill('builtin', 'write-tests', 'Writes tests that can fail.', { hidden: 'off' }),
    skill('builtin', 'debug-failure', 'Finds the cause of a failure step by step.'),
    skill('builtin', 'write-skill', 'Writes a new skill, or mends one.'),
    skill('builtin', 'remember-lesson', 'Keeps something for later sessions.', { uses: 2, used_at: ago(300) }),
    skill('user', 'release-notes', 'Writes release notes from the commits since the last tag.', {
      pinned: true,
      uses: 12,
      used_at: ago(25),
    }),
    skill('user', 'pdf-forms', 'Fills in PDF forms.', { warnings: [{ problem: 'skill_name_other', folder: 'pdf' }] }),
    skill('project', 'release', 'Writes release notes from the commits since the last tag.', { hidden: 'untrusted' }),
  ];
  goneSkills: SkillEntry[] = [];
  /** Paths of files beside a SKILL.md, by the skill's folder. */
  skillFiles = new Map<string, string[]>();
  subagents: SubagentEntry[] = [
    subagent('builtin', 'general-purpose', 'Does a part of the work that needs many steps.', null),
    subagent('user', 'test-scout', 'Finds the tests that cover something, and their helpers.', null),
    subagent('project', 'scout', 'Looks things up.', 'untrusted'),
  ];
  goneSubagents: SubagentEntry[] = [];
  trust: TrustItem[] = [
    trustItem('instructions', 'AGENTS.md', 'changed', ['/AGENTS.md']),
    trustItem('skill', 'release', 'new', ['/.bosun/skills/release/SKILL.md']),
    trustItem('subagent', 'scout', 'new', ['/.bosun/agents/scout.md']),
    trustItem('config', 'config.toml', 'new', ['/.bosun/config.toml'], ['format: ./format.sh']),
  ];

  find({ scope, path }: MemoryRef): Kept {
    return this.memories.find(({ entry }) => entry.memory.scope === scope && entry.memory.path === path) ?? lost();
  }
}

function lost(): never {
  throw { code: 'not_found', message: '', problem: { problem: 'skill_gone' } };
}

const fileOf = ({ entry, text, versions }: Kept): MemoryFile => ({
  entry,
  text,
  revision: `r${String(text.length)}`,
  versions,
});

/** Only the world that is about it brings a folder with something in it. */
export const knowledge = (host: Host, act: Act): KnowledgeClient => {
  const shelves = new Shelves();
  const brings = host.world.brings ? shelves.trust : [];
  return {
    ...memories(shelves, act),
    ...skills(shelves, act),
    ...subagents(shelves, act),
    projectTrust: () =>
      later(() => ({
        items: brings,
        undecided: brings.filter(({ state }) => state === 'new' || state === 'changed').length,
      })),
    trustText: (_project, path) =>
      later(() => ({
        hash: `hash-of-${path}`,
        text: TEXTS[path] ?? lost(),
        diff: path === '/AGENTS.md' && brings[0]?.state === 'changed' ? CHANGED : null,
      })),
    decideTrust: (_project, decision) =>
      act('decideTrust', decision, () => {
        const paths = new Set(decision.files.map(({ path }) => path));
        brings.forEach((item, at) => {
          if (!item.files.some(({ path }) => paths.has(path))) return;
          brings[at] = { ...item, state: decision.verdict === 'trust' ? 'trusted' : 'set_aside' };
        });
      }),
  };
};

type Memories = Pick<
  KnowledgeClient,
  | 'listMemories'
  | 'loadMemory'
  | 'saveMemory'
  | 'deleteMemory'
  | 'memoryVersion'
  | 'restoreMemory'
  | 'memorySource'
  | 'exportMemories'
  | 'importMemories'
>;

const memories = (shelves: Shelves, act: Act): Memories => ({
  listMemories: ({ text }) =>
    later(() => ({
      entries: shelves.memories
        .filter((kept) => !text || kept.text.toLowerCase().includes(text.toLowerCase()))
        .map(({ entry, text: words }) => ({
          ...entry,
          snippet: text ? [{ text: words.slice(0, 60), hit: false }] : [],
        })),
      deleted: shelves.gone.map(({ entry, number, at }) => ({
        memory: entry.memory,
        title: entry.title,
        number,
        deleted_at: at,
      })),
    })),
  loadMemory: (memory) => later(() => fileOf(shelves.find(memory))),
  saveMemory: async ({ memory: named, text, base }) => {
    await act('saveMemory', { named, text });
    if (base === null) {
      shelves.memories.push(memory(named.scope, named.path, text, 0, null));
      return fileOf(shelves.find(named));
    }
    const kept = shelves.find(named);
    const { author, updated_at } = kept.entry;
    const number = kept.versions.length + 1;
    kept.versions = [
      { number, size: kept.text.length, author, written_at: updated_at, ended_at: NOW, text: kept.text },
      ...kept.versions,
    ];
    kept.text = text;
    kept.entry = { ...kept.entry, author: null, updated_at: NOW, size: text.length };
    return fileOf(kept);
  },
  deleteMemory: (memory) =>
    act('deleteMemory', memory, () => {
      const kept = shelves.find(memory);
      shelves.memories = shelves.memories.filter((one) => one !== kept);
      shelves.gone.unshift({ ...kept, number: 90 + shelves.gone.length, at: NOW });
    }),
  memoryVersion: (memory, number) =>
    later(() => shelves.find(memory).versions.find((one) => one.number === number)?.text ?? null),
  restoreMemory: async (memory, number) => {
    await act('restoreMemory', { memory, number });
    const gone = shelves.gone.find((one) => one.number === number);
    if (gone) {
      shelves.gone = shelves.gone.filter((one) => one !== gone);
      shelves.memories.push(gone);
    }
    return fileOf(shelves.find(memory));
  },
  memorySource: () => later(() => null),
  exportMemories: (shelf) => act('exportMemories', shelf).then(() => '~/bosun-memories'),
  importMemories: (shelf) =>
    act('importMemories', shelf).then(() => ({ added: ['/new.md'], replaced: [], left_out: [] })),
});

type Skills = Pick<
  KnowledgeClient,
  | 'listSkills'
  | 'loadSkill'
  | 'loadSkillFile'
  | 'createSkill'
  | 'saveSkillFile'
  | 'deleteSkillFile'
  | 'skillVersion'
  | 'restoreSkillFile'
  | 'deleteSkill'
  | 'restoreSkill'
  | 'switchSkill'
  | 'pinSkill'
  | 'exportSkill'
  | 'importSkills'
>;

const skills = (shelves: Shelves, act: Act): Skills => {
  const find = ({ origin, folder }: SkillRef) =>
    shelves.skills.find(({ skill }) => skill.origin === origin && skill.folder === folder) ?? lost();
  const own = (folder: string) => find({ origin: 'user', project: null, folder });
  const details = (entry: SkillEntry) => ({
    entry,
    files: [
      { path: 'SKILL.md', size: 412 },
      ...(entry.skill.folder === 'pdf-forms' ? [{ path: 'scripts/fill.py', size: 2048 }] : []),
      ...(shelves.skillFiles.get(entry.skill.folder) ?? []).map((path) => ({ path, size: 0 })),
    ],
    license: null,
    compatibility: null,
    allowed_tools: [],
    editable: entry.skill.origin === 'user',
  });
  const file = (entry: SkillEntry, path: string) => ({
    path,
    text: path === 'SKILL.md' ? text(entry.name, entry.description) : 'import sys\n',
    revision: 'r1',
    versions: [],
  });
  const change = (entry: SkillEntry, changed: Partial<SkillEntry>) => {
    shelves.skills = shelves.skills.map((one) => (one === entry ? { ...one, ...changed } : one));
  };
  return {
    listSkills: () =>
      later(() => ({
        entries: shelves.skills,
        deleted: shelves.goneSkills.map(({ skill: { folder } }) => ({ folder, deleted_at: NOW })),
      })),
    loadSkill: (skill) => later(() => details(find(skill))),
    loadSkillFile: (skill, path) => later(() => file(find(skill), path)),
    createSkill: async (name, description) => {
      await act('createSkill', { name, description });
      shelves.skills.push(skill('user', name, description));
      return details(own(name));
    },
    saveSkillFile: (save) =>
      act('saveSkillFile', save).then(() => {
        if (save.base === null) shelves.skillFiles.set(save.folder, [save.path]);
        return { ...file(own(save.folder), save.path), text: save.text };
      }),
    deleteSkillFile: (folder, path) =>
      act('deleteSkillFile', { folder, path }, () => shelves.skillFiles.delete(folder)).then(() => 1),
    skillVersion: () => later(() => null),
    restoreSkillFile: (folder, path) =>
      later(() => {
        shelves.skillFiles.set(folder, [path]);
        return file(own(folder), path);
      }),
    deleteSkill: (folder) =>
      act('deleteSkill', folder, () => {
        const gone = own(folder);
        shelves.skills = shelves.skills.filter((one) => one !== gone);
        shelves.goneSkills.push(gone);
      }),
    restoreSkill: async (folder) => {
      await act('restoreSkill', folder);
      const back = shelves.goneSkills.find(({ skill }) => skill.folder === folder) ?? lost();
      shelves.goneSkills = shelves.goneSkills.filter((one) => one !== back);
      shelves.skills.push(back);
      return details(back);
    },
    switchSkill: (skill, off) =>
      act('switchSkill', { skill, off }, () => change(find(skill), { hidden: off ? 'off' : null })),
    pinSkill: (skill, pinned) => act('pinSkill', { skill, pinned }, () => change(find(skill), { pinned })),
    exportSkill: (skill) => act('exportSkill', skill).then(() => `~/${skill.folder}`),
    importSkills: () => act('importSkills', null).then(() => ({ added: ['pdf'], replaced: [], left_out: [] })),
  };
};

type Subagents = Pick<
  KnowledgeClient,
  'listSubagents' | 'saveSubagent' | 'deleteSubagent' | 'restoreSubagent' | 'subagentVersion' | 'switchSubagent'
>;

const subagents = (shelves: Shelves, act: Act): Subagents => {
  const own = (name: string) =>
    shelves.subagents.find(({ subagent }) => subagent.origin === 'user' && subagent.name === name) ?? lost();
  return {
    listSubagents: () =>
      later(() => ({
        entries: shelves.subagents,
        deleted: shelves.goneSubagents.map((one, at) => ({ name: one.form.name, number: at, deleted_at: NOW })),
      })),
    saveSubagent: async (save) => {
      await act('saveSubagent', save);
      const made = subagent('user', save.name, '', null);
      if (save.content.type === 'form') made.form = save.content.form;
      const others = shelves.subagents.filter(
        ({ subagent: { origin, name } }) => origin !== 'user' || name !== save.name,
      );
      shelves.subagents = [...others, made];
      return made;
    },
    deleteSubagent: (name) =>
      act('deleteSubagent', name, () => {
        const gone = own(name);
        shelves.subagents = shelves.subagents.filter((one) => one !== gone);
        shelves.goneSubagents.push(gone);
      }),
    restoreSubagent: async (name) => {
      await act('restoreSubagent', name);
      const back = shelves.goneSubagents.find(({ form }) => form.name === name) ?? lost();
      shelves.goneSubagents = shelves.goneSubagents.filter((one) => one !== back);
      shelves.subagents.push(back);
      return back;
    },
    subagentVersion: () => later(() => null),
    switchSubagent: ({ origin, name }, off) =>
      act('switchSubagent', { name, off }, () => {
        shelves.subagents = shelves.subagents.map((one) =>
          one.subagent.origin === origin && one.subagent.name === name ? { ...one, hidden: off ? 'off' : null } : one,
        );
      }),
  };
};
