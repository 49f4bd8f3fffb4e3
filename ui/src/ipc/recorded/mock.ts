/** The session of the visual target: a fix that waits for two answers, with a plan, a tree of agents and four files. */
import type { Approval, FileChange, FileDiff, SessionSummary, Snapshot, TodoEvidence } from '../bindings';
import { fixturesSession, LOADER } from './fixtures';
import { agent, ago, ai, approval, diff, human, item, NOW, snapshot, summary, tool, usage } from './builders';

const TODO = 'Check expiry at call time, not by timer';

export const SESSION_DIFF = diff(
  '/src/auth/session.rs',
  'impl Session · token()',
  84,
  `     pub async fn token(&self) -> Result<Token> {
-        ⟦Ok(⟧self.current.read().await.clone()⟦)⟧
+        ⟦let token = ⟧self.current.read().await.clone()⟦;⟧
+        if token.expires_at > self.clock.now() + SKEW {
+            return Ok(token);
+        }
+        self.refresh().await
     }`,
);

const EDIT_ARGS = {
  file_path: '/src/auth/session.rs',
  old_string: '        Ok(self.current.read().await.clone())\n',
  new_string:
    '        let token = self.current.read().await.clone();\n        if token.expires_at > self.clock.now() + SKEW {\n            return Ok(token);\n        }\n        self.refresh().await\n',
};

const CARGO = `\x1b[1m\x1b[32m   Compiling\x1b[0m auth v0.4.2
\x1b[1m\x1b[32m    Finished\x1b[0m \`test\` profile [unoptimized + debuginfo] target(s) in 5.81s
\x1b[1m\x1b[32m     Running\x1b[0m unittests src/lib.rs

running 41 tests
test session::tests::keeps_token_until_expiry ... \x1b[32mok\x1b[0m
test session::tests::refreshes_once_for_many_callers ... \x1b[32mok\x1b[0m
test session::tests::reports_revoked_refresh_token ... \x1b[32mok\x1b[0m

test result: \x1b[32mok\x1b[0m. 41 passed; 0 failed; 0 ignored; finished in 2.31s`;

const SOURCE = [
  'pub struct Session {',
  '    current: RwLock<Token>,',
  '    clock: Arc<dyn Clock>,',
  '}',
  '',
  '/// Slack for clocks that disagree.',
  'const SKEW: Duration = Duration::from_secs(30);',
]
  .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
  .join('\n');

export const EDIT = approval('edit_file', EDIT_ARGS, {
  preview: { preview: 'diff', diff: SESSION_DIFF },
  todo: TODO,
});

export const COMMAND = approval(
  'execute',
  { command: 'cargo test -p backon --no-run', timeout: 120 },
  {
    session: 's-backon',
    agent: ['main', 'research', 'reader · backon'],
    preview: { preview: 'command', command: 'cargo test -p backon --no-run', folder: '/', timeout_seconds: 120 },
    reach: { place: 'anywhere', network: true, sandbox: null, undo: 'no' },
    reason: { reason: 'commands_ask' },
    asked_at: ago(0, 19),
  },
);

const REFRESH: SessionSummary = summary('s-refresh', {
  title: 'Token refresh fails after sleep',
  status: 'waiting',
  waiting: 2,
  updated_at: ago(0, 42),
  usage: usage(0.34, 0.38),
});

const waitingEdit = tool('edit_file', EDIT_ARGS, {
  call_id: EDIT.call_id,
  state: 'waiting',
  started_at: null,
  ended_at: null,
  figures: [
    { figure: 'added', value: 5 },
    { figure: 'removed', value: 1 },
  ],
  diff: SESSION_DIFF,
  todos: ['t4'],
});

const ITEMS = [
  human(
    'After the laptop sleeps, the first API call fails with 401 and never recovers. Find out why, fix it, and add a test.',
  ),
  ai(
    'The refresh timer is armed with a monotonic delay, which stops while the machine sleeps, so the token is already expired when the first call goes out. I will check expiry at call time and cover it with a fake clock.',
  ),
  tool(
    'grep',
    { pattern: 'expires_at', glob: 'src/**' },
    {
      took: 4,
      figures: [{ figure: 'matches', value: 9 }],
      output:
        '/src/auth/session.rs:\n  31: pub expires_at: SystemTime,\n  88: if token.expires_at > now {\n/src/auth/refresh.rs:\n  12: let wait = token.expires_at - now;',
    },
  ),
  tool(
    'read_file',
    { file_path: '/src/auth/session.rs' },
    { figures: [{ figure: 'lines', value: 212 }], output: SOURCE },
  ),
  tool(
    'task',
    { subagent_type: 'test-scout', description: 'list the clock fakes in use' },
    {
      took: 14_000,
      child: 's-scout',
      todos: ['t3'],
      output: 'Two fakes are in use: `ManualClock` in auth and `FrozenTime` in billing.',
    },
  ),
  tool('execute', { command: 'cargo test -p auth' }, { took: 8200, output: CARGO, todos: ['t4'] }),
  waitingEdit,
];

const DONE = [
  ['t1', 'Reproduce the 401 with a paused timer'],
  ['t2', 'Find every reader of expires_at'],
  ['t3', 'List the clock fakes already in the tests'],
] as const;

const CHANGES: FileChange[] = [
  { path: '/src/auth/clock.rs', change: 'created', added: 28, removed: 0 },
  { path: '/tests/refresh.rs', change: 'created', added: 24, removed: 0 },
  { path: '/CHANGELOG.md', change: 'changed', added: 3, removed: 7 },
];

const AGENTS = [
  agent('s-refresh', {
    status: 'waiting',
    current: 'edit_file src/auth/session.rs',
    usage: usage(0.34, 0.32),
  }),
  agent('s-research', {
    parent: 's-refresh',
    name: 'research',
    description: 'retry policies',
    status: 'running',
    current: 'grep “backoff” in vendor/',
    usage: usage(0.12, 0.11),
    started_at: ago(1, 4),
  }),
  agent('s-tower', {
    parent: 's-research',
    name: 'reader',
    description: 'tower-retry',
    status: 'running',
    current: 'read_file lines 200–400',
    usage: usage(0.04, 0.02),
    started_at: ago(0, 21),
  }),
  agent('s-backon', {
    parent: 's-research',
    name: 'reader',
    description: 'backon',
    status: 'waiting',
    current: 'execute',
    usage: usage(0.05, 0.02),
    started_at: ago(0, 19),
  }),
  agent('s-scout', {
    parent: 's-refresh',
    name: 'test-scout',
    description: 'clock fakes',
    status: 'done',
    usage: usage(0.03, 0.06),
    model: { provider: 'ollama', name: 'qwen3:4b' },
    started_at: NOW - 60_000,
    ended_at: NOW - 46_000,
  }),
];

/** The calls of an earlier step of the plan. */
function earlierItems() {
  const called = (todo: string, calls: number, took: number) =>
    Array.from({ length: calls }, (_, at) =>
      tool(
        'read_file',
        { file_path: `/src/auth/part${at}.rs` },
        { todos: [todo], took, figures: [{ figure: 'lines', value: 80 }] },
      ),
    );
  return [...called('t1', 4, 10_250), ...called('t2', 3, 3000)];
}

const worked = (todo: string, given: Partial<TodoEvidence>): TodoEvidence => ({
  todo,
  calls: 1,
  failed: 0,
  files: [],
  file_count: 0,
  added: 0,
  removed: 0,
  agents: [],
  ran_ms: 0,
  input_tokens: 12_000,
  output_tokens: 900,
  cost: 0.02,
  ...given,
});

const EVIDENCE = [
  worked('t1', { calls: 4, files: ['/tests/refresh.rs'], file_count: 1, added: 24, ran_ms: 41_000, cost: 0.08 }),
  worked('t2', { calls: 3, ran_ms: 9000, cost: 0.05 }),
  worked('t3', { agents: ['test-scout'], ran_ms: 14_000, cost: 0.04 }),
  worked('t4', { ran_ms: 8200, cost: 0.11 }),
];

export function refreshSession(): Snapshot {
  return snapshot(REFRESH, {
    items: ITEMS,
    approvals: [EDIT, COMMAND],
    agents: AGENTS,
    changes: CHANGES,
    todos: [
      ...DONE.map(([id, content]) => ({ id, content, status: 'completed' as const })),
      { id: 't4', content: TODO, status: 'in_progress' },
      { id: 't5', content: 'Add a fake clock to the session tests', status: 'pending' },
      { id: 't6', content: 'Test: refresh after eight hours of sleep', status: 'pending' },
      { id: 't7', content: 'Note the behaviour in CHANGELOG', status: 'pending' },
    ],
    evidence: EVIDENCE,
    items_before: 7,
  });
}

export const EARLIER = earlierItems();

const child = (id: string, title: string, items: Snapshot['items'], approvals: Approval[] = []) =>
  snapshot(summary(id, { parent: 's-refresh', title, status: 'running' }), { items, approvals });

export function childSessions(): Snapshot[] {
  return [
    child('s-research', 'retry policies', [
      ai(
        'Three candidates keep the jitter inside the deadline. Checking how each treats a clock jump before I report back.',
      ),
      tool('grep', { pattern: 'backoff' }, { took: 12, figures: [{ figure: 'matches', value: 31 }] }),
      tool(
        'read_file',
        { file_path: '/vendor/backon/src/retry.rs' },
        { state: 'running', started_at: NOW - 2000, ended_at: null },
      ),
    ]),
    child('s-tower', 'tower-retry', [
      tool(
        'read_file',
        { file_path: '/vendor/tower/src/retry/mod.rs' },
        { state: 'running', started_at: NOW - 3000, ended_at: null },
      ),
    ]),
    child(
      's-backon',
      'backon',
      [
        ai('I want to see whether its tests still build against our toolchain.'),
        tool('execute', COMMAND.args, { call_id: COMMAND.call_id, state: 'waiting', started_at: null, ended_at: null }),
      ],
      [COMMAND],
    ),
    child('s-scout', 'clock fakes', [
      tool('glob', { pattern: '**/*clock*.rs' }, { took: 6, figures: [{ figure: 'files', value: 3 }] }),
      tool('read_file', { file_path: '/tests/support/clock.rs' }, { figures: [{ figure: 'lines', value: 64 }] }),
      ai('Two fakes are in use: `ManualClock` in **auth** and `FrozenTime` in **billing**.'),
    ]),
  ];
}

const LIST: SessionSummary[] = [
  summary('s-survey', {
    title: 'Survey of retry libraries',
    status: 'running',
    usage: usage(0.2, 0.21),
    updated_at: ago(1),
  }),
  summary('s-fixtures', { title: 'Move fixtures to SQLite', usage: usage(0.4, 0.84), updated_at: ago(95) }),
  summary('s-notes', { title: '为发布说明整理变更记录', usage: usage(0.1, 0.12), updated_at: ago(60 * 20) }),
  summary('s-paths', {
    title: 'Windows path tests',
    status: 'failed',
    usage: usage(0.1, 0.05),
    updated_at: ago(60 * 22),
  }),
];

export function otherSessions(): Snapshot[] {
  const [survey, fixtures, notes, paths] = LIST as [SessionSummary, SessionSummary, SessionSummary, SessionSummary];
  return [
    snapshot(survey, { items: [human('Compare the retry libraries in vendor/.'), ai('Three readers are at work.')] }),
    fixturesSession(fixtures),
    snapshot(notes, {
      items: [human('为 1.4 版整理变更记录。'), ai('已按类别整理完毕，共 **23** 条，写入 `CHANGELOG.md`。')],
    }),
    snapshot(paths, {
      items: [
        human('Make the path tests pass on Windows.'),
        ai('I start with the failing cases.'),
        item({
          kind: 'notice',
          code: 'model_failed',
          detail: 'overloaded_error: Overloaded. Please try again later. (HTTP 529, request req_011CQ)',
          problem: null,
        }),
      ],
    }),
  ];
}

export const DIFFS: Record<string, FileDiff> = {
  [LOADER.path]: LOADER,
  '/src/auth/session.rs': SESSION_DIFF,
  '/src/auth/clock.rs': diff(
    '/src/auth/clock.rs',
    '',
    1,
    `+//! Time as the session sees it.
+use std::time::SystemTime;
+
+pub trait Clock: Send + Sync {
+    fn now(&self) -> SystemTime;
+}`,
    { created: true, added: 28 },
  ),
  '/CHANGELOG.md': diff(
    '/CHANGELOG.md',
    'Unreleased',
    7,
    ` ## Unreleased
 
-- Token refresh ⟦uses a timer⟧.
+- Token refresh ⟦checks expiry at call time⟧.
+- Sleep no longer breaks the first call.
 - Faster start.`,
    { added: 3, removed: 7 },
  ),
};
