/** What the recorded host answers about rules, modes, servers and its data. */
import type { ApprovalMode, PatternProblem, ProjectMode, Rehearsal, Rule, RuleDraft, RuleOffer } from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import { NOW } from './builders';
import type { Host } from './host';

type Permissions = Pick<
  UiClient,
  | 'ruleOffer'
  | 'rehearseRule'
  | 'approveAlways'
  | 'listRules'
  | 'removeRule'
  | 'restoreRule'
  | 'sessionMode'
  | 'setSessionMode'
  | 'projectModes'
  | 'setProjectMode'
  | 'sandboxedProjects'
  | 'setCommandPlace'
  | 'sandboxProblem'
  | 'storage'
  | 'openDataFolder'
  | 'diagnostics'
  | 'saveDiagnostics'
  | 'subscribeGoals'
  | 'closeQuestionShown'
  | 'answerCloseQuestion'
>;

export const DIAGNOSTICS = `Bosun
  version: 0.1.0
  system: linux x86_64
  web engine: 2.48.1
  XDG_SESSION_TYPE: wayland
  theme: System
  model: anthropic claude-sonnet

Providers
  anthropic: Anthropic, key in the keyring
  ollama: Ollama, no key

Data
  folder: ~/.local/share/bosun
  projects: 2
  sessions: 5
  database: 8126464 bytes

End of the log
2026-11-21T09:00:01Z  INFO the page is ready milliseconds=412
2026-11-21T09:02:44Z  WARN the provider asked to wait seconds=12
`;

export function permissions(host: Host, act: Act): Permissions {
  let rules: Rule[] = [
    rule('r1', 'command', 'cargo test *', 'project', 60_000),
    rule('r2', 'files', '/docs/**', 'session', 3_600_000),
    rule('r3', 'command', 'git status', 'always', 86_400_000 * 3),
  ];
  const modes = new Map<string, ApprovalMode>();
  let projects: ProjectMode[] = [];
  let sandboxed: string[] = [];
  const removed: Rule[] = [];
  const projectMode = (project: string) => projects.find((one) => one.project === project)?.mode ?? 'ask';
  return {
    ruleOffer: (_session, call) => later(() => offer(host, call)),
    rehearseRule: (draft) => later(() => rehearse(host, draft)),
    approveAlways: async (decisions, drafts) => {
      const kinds = drafts.map(({ call_id }) => kindOf(host, call_id));
      await act('approveAlways', { decisions, drafts }, () => host.decide(decisions));
      const made = drafts.map(({ pattern, scope }, at) =>
        rule(`r${rules.length + at + 1}`, kinds[at] ?? 'tool', pattern, scope, 0),
      );
      rules = [...made, ...rules];
      return made;
    },
    listRules: () => later(() => rules),
    removeRule: (id) =>
      act('removeRule', id, () => {
        removed.push(...rules.filter((one) => one.id === id));
        rules = rules.filter((one) => one.id !== id);
      }),
    restoreRule: async (id) => {
      const back = removed.find((one) => one.id === id);
      if (!back) throw { code: 'not_found', message: '', problem: { problem: 'rule_gone' } };
      await act('restoreRule', id, () => {
        rules = [...rules, back].sort((a, b) => b.created_at - a.created_at);
      });
      return back;
    },
    sessionMode: (session) =>
      later(() => {
        const project = projectMode(host.snapshot(session).session.project);
        return { mode: modes.get(session) ?? project, project };
      }),
    setSessionMode: (session, mode) => act('setSessionMode', { session, mode }, () => void modes.set(session, mode)),
    projectModes: () => later(() => projects),
    setProjectMode: (project, mode) =>
      act('setProjectMode', { project, mode }, () => {
        projects = [...projects.filter((one) => one.project !== project), { project, mode }];
      }),
    sandboxedProjects: () => later(() => ({ all: false, projects: sandboxed })),
    setCommandPlace: (project, place) =>
      act('setCommandPlace', { project, place }, () => {
        sandboxed = sandboxed.filter((one) => one !== project).concat(place === 'sandbox' ? [project] : []);
      }),
    sandboxProblem: () => later(() => null),
    storage: () =>
      later(() => ({
        folder: '~/.local/share/bosun',
        parts: [
          { kind: 'blobs', bytes: 41_943_040 },
          { kind: 'database', bytes: 8_126_464 },
          { kind: 'page', bytes: 1_048_576 },
          { kind: 'logs', bytes: 65_536 },
        ],
        projects: host.world.projects.length,
        sessions: host.summaries().length,
      })),
    openDataFolder: () => act('openDataFolder', null),
    diagnostics: () => later(() => DIAGNOSTICS),
    saveDiagnostics: async () => {
      await act('saveDiagnostics', null);
      return '~/bosun-diagnostics.txt';
    },
    subscribeGoals: (listener) => {
      host.tellGoal = listener;
      return later(() => ({ first: null, close: () => undefined }));
    },
    closeQuestionShown: () => act('closeQuestionShown', null),
    answerCloseQuestion: (choice) => act('answerCloseQuestion', choice),
  };
}

function rule(id: string, kind: Rule['kind'], pattern: string, scope: Rule['scope'], age: number): Rule {
  const session = scope === 'session' ? 's-refresh' : null;
  return { id, kind, pattern, scope, session, project: scope === 'always' ? null : 'p-harbour', created_at: NOW - age };
}

function approvalOf(host: Host, call: string) {
  return host.world.sessions.flatMap((one) => one.approvals).find((one) => one.call_id === call);
}

function kindOf(host: Host, call: string): Rule['kind'] {
  const preview = approvalOf(host, call)?.preview.preview;
  return preview === 'command' ? 'command' : preview === 'diff' ? 'files' : 'tool';
}

function offer(host: Host, call: string): RuleOffer {
  const approval = approvalOf(host, call);
  if (approval?.reason.reason === 'protected_name') {
    return { offer: 'none', guard: { guard: 'protected', name: approval.reason.name } };
  }
  switch (approval?.preview.preview) {
    case 'command': {
      const { command } = approval.preview;
      if (/[;&|$`<>]/.test(command)) return { offer: 'none', guard: { guard: 'shell' } };
      return {
        offer: 'patterns',
        kind: 'command',
        patterns: [`${command.split(' ').slice(0, 2).join(' ')} *`, command],
      };
    }
    case 'diff': {
      const { path } = approval.preview.diff;
      const folder = path.slice(0, path.lastIndexOf('/'));
      return { offer: 'patterns', kind: 'files', patterns: folder ? [path, `${folder}/**`] : [path] };
    }
    case 'delete':
      return { offer: 'none', guard: { guard: 'deletes' } };
    default:
      return { offer: 'patterns', kind: 'tool', patterns: [approval?.tool ?? ''] };
  }
}

/** As far as the demonstration goes: the rules are the core's. */
function rehearse(host: Host, draft: RuleDraft): Rehearsal {
  const pattern = draft.pattern.trim();
  const made = (problem: PatternProblem | null): Rehearsal => ({
    problem,
    asked: 0,
    answered: 0,
    passing: [],
    asking: [],
    would_pass: [],
    would_ask: [],
  });
  if (pattern === '') return made({ problem: 'empty' });
  if (pattern === '*') return made({ problem: 'everything' });
  if (kindOf(host, draft.call_id) === 'files') {
    return {
      ...made(null),
      asked: 9,
      answered: 4,
      passing: ['/src/auth/session.rs', '/src/auth/clock.rs'],
      asking: ['/CHANGELOG.md'],
      would_pass: [pattern.replace('**', 'a/b.txt')],
      would_ask: ['/.git/hooks/pre-commit', 'delete /src/auth'],
    };
  }
  const line = pattern.replace(/ \*$/, '');
  const call = approvalOf(host, draft.call_id);
  const command = call?.preview.preview === 'command' ? call.preview.command : '';
  if (command !== line && !command.startsWith(`${line} `)) return made({ problem: 'not_this' });
  if (line === 'cargo') return made({ problem: 'vague', program: 'cargo' });
  return {
    ...made(null),
    asked: 40,
    answered: 12,
    passing: [command, `${line} -q`],
    asking: ['cargo build --release', `${line} && git push`],
    would_pass: [`${line} more words`],
    would_ask: [`${line}x`, `${line} && rm -rf .`],
  };
}
