import type {
  CallPurpose,
  CallUsage,
  Effort,
  KeySource,
  LocalServerView,
  ModelSettings,
  SessionUsage,
  ThinkingLevels,
  UsageReport,
  UsageSummary,
  UsageTotal,
} from '../bindings';
import type { UiClient } from '../client';
import type { Act } from '../recorded';
import { ago } from './builders';
import { later } from '../recorded';
import type { Host } from './host';

/** What answers on the recorded machine. */
export const LOCAL_SERVERS: LocalServerView[] = [
  {
    label: 'Ollama',
    family: 'ollama',
    base_url: 'http://localhost:11434',
    host: 'localhost:11434',
    runs_itself: true,
    hands_on: [':cloud', '-cloud'],
    handed_on: [],
    runs: [],
    provider: 'ollama',
    models: [
      { name: 'qwen3:8b', context_window: 40_960 },
      { name: 'gpt-oss:20b', context_window: null },
      { name: 'gpt-oss:120b-cloud', context_window: null },
    ],
    wants_key: false,
  },
  {
    label: 'localhost:1234',
    family: 'openai_chat',
    base_url: 'http://localhost:1234/v1',
    host: 'localhost:1234',
    runs_itself: false,
    hands_on: [':cloud', '-cloud'],
    handed_on: [],
    runs: [],
    provider: null,
    models: [],
    wants_key: true,
  },
  {
    label: 'localhost:5000',
    family: 'openai_chat',
    base_url: 'http://localhost:5000/v1',
    host: 'localhost:5000',
    runs_itself: false,
    hands_on: [':cloud', '-cloud'],
    handed_on: [],
    runs: [],
    provider: null,
    models: [{ name: 'mixtral-8x7b', context_window: null }],
    wants_key: false,
  },
];

/** Nothing set. */
export const NO_SETTINGS: ModelSettings = {
  known: [],
  efforts: [],
  fallback: null,
  small: null,
  budgets: { session: { warn: null, stop: null }, day: { warn: null, stop: null } },
  network: {
    proxy: null,
    certificates: null,
    connect_seconds: null,
    first_byte_seconds: null,
    idle_seconds: null,
    total_seconds: null,
  },
};

const total = (calls: number, input: number, cached: number, cost: number, unpriced = 0): UsageTotal => ({
  calls,
  input_tokens: input,
  output_tokens: Math.round(input / 20),
  cache_read_tokens: cached,
  cost,
  unpriced,
});

const SONNET = { provider: 'anthropic', name: 'claude-sonnet' };
const LOCAL = { provider: 'ollama', name: 'qwen3:8b' };

const REPORT: UsageReport = {
  today: '2026-11-20',
  total: total(61, 2_104_000, 1_310_000, 4.62, 14),
  days: [
    {
      day: '2026-11-20',
      total: total(36, 1_240_000, 910_000, 2.31, 4),
      models: [
        { model: SONNET, total: total(32, 1_180_000, 910_000, 2.31) },
        { model: LOCAL, total: total(4, 60_000, 0, 0, 4) },
      ],
    },
    {
      day: '2026-11-19',
      total: total(25, 864_000, 400_000, 2.31, 10),
      models: [
        { model: SONNET, total: total(15, 700_000, 400_000, 2.31) },
        { model: LOCAL, total: total(10, 164_000, 0, 0, 10) },
      ],
    },
  ],
};

/** What agents used, as their calls would sum up to. */
function totalOf(used: UsageSummary[]): UsageTotal {
  const sum = (of: (usage: UsageSummary) => number) => used.reduce((all, usage) => all + of(usage), 0);
  return {
    calls: used.filter((usage) => usage.input_tokens > 0).length * 6,
    input_tokens: sum((usage) => usage.input_tokens),
    output_tokens: sum((usage) => usage.output_tokens),
    cache_read_tokens: sum((usage) => usage.cache_read_tokens),
    cost: sum((usage) => usage.cost ?? 0),
    unpriced: used.filter((usage) => usage.cost === null).length * 6,
  };
}

function sessionUsage(host: Host, id: string): SessionUsage {
  const { agents } = host.snapshot(id);
  const all = totalOf(agents.map(({ usage }) => usage));
  const call = (purpose: CallPurpose, minutes: number, input: number, cost: number, at = 0): CallUsage => ({
    at: ago(minutes),
    milliseconds: 4_200,
    model: SONNET,
    purpose,
    agent: { session: agents[at]?.session ?? id, name: agents[at]?.name ?? 'main' },
    input_tokens: input,
    output_tokens: 640,
    cache_read_tokens: Math.round(input * 0.8),
    reasoning_tokens: purpose === 'answer' ? 410 : null,
    cost,
  });
  const calls = [
    call('answer', 1, 41_200, 0.021),
    call('answer', 2, 39_800, 0.019, 1),
    call('title', 6, 1_900, 0.0012),
  ];
  return {
    total: all,
    models: [{ model: SONNET, total: all }],
    agents: agents.map(({ session, name, usage }) => ({ agent: { session, name }, total: totalOf([usage]) })),
    calls: all.calls > 0 ? calls : [],
  };
}

type Methods =
  | 'catalogueSource'
  | 'findLocalServers'
  | 'useLocalServer'
  | 'modelSettings'
  | 'saveModelSettings'
  | 'systemProxy'
  | 'proxyLogin'
  | 'setProxyLogin'
  | 'thinkingLevels'
  | 'setSessionEffort'
  | 'usageReport'
  | 'sessionUsage';

/** What the levels of thinking come to, by kinds of models that there are. */
function levelsOf(name: string): ThinkingLevels {
  const told = (levels: Effort[], of: (level: Effort) => Effort) =>
    levels.map((level) => ({ level, offered: of(level) }));
  const all: Effort[] = ['off', 'low', 'medium', 'high', 'max'];
  if (/llama|gpt-4/.test(name)) return { always: false, levels: [] };
  if (/qwen/.test(name)) return { always: false, levels: told(all, (level) => (level === 'off' ? level : 'high')) };
  if (/deepseek/.test(name))
    return { always: false, levels: told(all, (level) => (level === 'medium' ? 'high' : level)) };
  return { always: name === 'claude-opus', levels: told(all, (level) => level) };
}

/** Servers on this machine, what is set about models, and what they cost. */
export function models(host: Host, act: Act): Pick<UiClient, Methods> {
  const { world } = host;
  return {
    modelSettings: () => later(() => world.modelSettings ?? NO_SETTINGS),
    saveModelSettings: async (settings) => {
      await act('saveModelSettings', settings, () => {
        const sums = [settings.budgets.session, settings.budgets.day].flatMap(({ warn, stop }) => [warn, stop]);
        if (sums.some((sum) => sum !== null && !(sum > 0))) {
          throw { code: 'invalid', message: '', problem: { problem: 'budget_number' } };
        }
      });
      world.modelSettings = settings;
      return settings;
    },
    proxyLogin: () => later(() => world.proxyLogin ?? { source: 'missing' as const }),
    setProxyLogin: async (user, password) => {
      // Neither is anybody's to look at.
      const isThere = user !== '' || password !== '';
      const source: KeySource = { source: isThere ? 'keyring' : 'missing' };
      await act('setProxyLogin', { isThere });
      world.proxyLogin = source;
      return source;
    },
    systemProxy: () => later(() => world.systemProxy ?? { source: 'none' }),
    thinkingLevels: (model) => later(() => levelsOf(model.name)),
    setSessionEffort: (session, effort) =>
      act('setSessionEffort', { session, effort }, () => host.update(session, { effort })),
    usageReport: () => later(() => REPORT),
    sessionUsage: (id) => later(() => sessionUsage(host, id)),
    catalogueSource: () => later(() => ({ date: '2026-11-22', source: 'LiteLLM, models.dev' })),
    findLocalServers: () => later(() => world.local ?? []),
    useLocalServer: async (base_url) => {
      await act('useLocalServer', base_url);
      const server = (world.local ?? []).find((one) => one.base_url === base_url);
      if (!server) throw { code: 'not_found', message: `Nothing answers at ${base_url}.` };
      const known = world.providers.find((one) => one.id === server.provider);
      const made = known ?? {
        id: server.label.toLowerCase().replace(/\W+/g, '-'),
        label: server.label,
        family: server.family,
        base_url,
        host: server.host,
        local: true,
        runs_itself: server.runs_itself,
        chosen: false,
        hands_on: server.hands_on,
        handed_on: server.handed_on,
        runs: server.runs,
        key: { source: 'missing' as const },
        key_page: null,
        key_optional: true,
        custom: true,
        changed: false,
        headers: [],
      };
      if (!known) world.providers = [...world.providers, made];
      return made;
    },
  };
}
