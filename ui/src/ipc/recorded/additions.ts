/** What the recorded host answers about servers, hooks and folders. */
import type {
  AdditionChange,
  AdditionForms,
  HookForm,
  HookTrial,
  Problem,
  SecretField,
  ServerForm,
  ServerView,
} from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import type { Host } from './host';

type Additions = Pick<
  UiClient,
  | 'additions'
  | 'checkAdditions'
  | 'saveAdditions'
  | 'additionForms'
  | 'changeAdditions'
  | 'checkServer'
  | 'tryHook'
  | 'sessionServers'
  | 'acceptChangedTool'
  | 'tryServerAgain'
  | 'beginSignIn'
  | 'finishSignIn'
  | 'cancelSignIn'
  | 'signOut'
>;

const TOML = `[mcp.docs]
command = "docs-server"
args = ["--stdio"]

[[hooks]]
name = "format"
point = "after_tool"
tools = ["edit_file", "write_file"]
command = "cargo"
args = ["fmt"]
`;

const SERVERS: ServerView[] = [
  { name: 'docs', health: { health: 'ready', tools: 4 }, signed_in: null, changed: [], left_out: [] },
  {
    name: 'tickets',
    health: { health: 'ready', tools: 2 },
    signed_in: true,
    changed: [
      {
        tool: 'close_ticket',
        description: 'Closes a ticket and every ticket that it blocks.',
        schema: '{\n  "type": "object",\n  "properties": { "id": { "type": "string" } }\n}',
        hash: 'b1946ac92492d2347c6235b4d2611184',
      },
    ],
    left_out: [],
  },
  {
    name: 'search',
    health: {
      health: 'failed',
      why: { problem: 'server_not_started', detail: 'No such file or directory (os error 2)' },
    },
    signed_in: null,
    changed: [],
    left_out: [],
  },
  { name: 'calendar', health: { health: 'needs_sign_in' }, signed_in: false, changed: [], left_out: [] },
];

const FORMS: AdditionForms = {
  servers: [
    {
      name: 'docs',
      enabled: true,
      reach: {
        reach: 'program',
        command: 'docs-server',
        args: ['--stdio'],
        env: [{ name: 'DOCS_TOKEN', value: null, in_database: false }],
      },
    },
    {
      name: 'search',
      enabled: true,
      reach: { reach: 'program', command: 'search-server', args: [], env: [] },
    },
    {
      name: 'wiki',
      enabled: false,
      reach: {
        reach: 'address',
        url: 'https://wiki.example.com/mcp',
        headers: [{ name: 'Authorization', value: null, in_database: false }],
      },
    },
  ],
  hooks: [
    {
      name: 'guard',
      enabled: false,
      point: 'before_tool',
      tools: ['execute'],
      command: 'guard.sh',
      args: [],
      env: [],
      timeout: 10,
      on_failure: 'deny',
    },
    {
      name: 'format',
      enabled: true,
      point: 'after_tool',
      tools: ['edit_file', 'write_file'],
      command: 'cargo',
      args: ['fmt'],
      env: [],
      timeout: 60,
      on_failure: null,
    },
  ],
  problem: null,
};

export function additions(host: Host, act: Act): Additions {
  let toml = TOML;
  let servers = SERVERS;
  const signedIn = (server: string, is: boolean) => {
    const health: ServerView['health'] = is ? { health: 'ready', tools: 6 } : { health: 'needs_sign_in' };
    servers = servers.map((one) => (one.name === server ? { ...one, health, signed_in: is } : one));
  };
  // Who has opened nothing yet has set up nothing.
  let forms = host.world.projects.length > 0 ? FORMS : { ...FORMS, servers: [], hooks: [] };
  const removed: AdditionForms[] = [];
  return {
    additions: () => later(() => ({ text: toml, problem: null })),
    checkAdditions: (text) => later(() => wrong(text)),
    saveAdditions: (text) =>
      act('saveAdditions', text, () => {
        const problem = wrong(text);
        if (problem) throw { code: 'invalid', message: '', problem };
        toml = text;
      }),
    sessionServers: () => later(() => servers),
    acceptChangedTool: (session, hash) =>
      act('acceptChangedTool', { session, hash }, () => {
        servers = servers.map((one) => ({ ...one, changed: one.changed.filter((tool) => tool.hash !== hash) }));
      }),
    tryServerAgain: (session, server) =>
      act('tryServerAgain', { session, server }, () => {
        const health = { health: 'ready', tools: 2 } as const;
        servers = servers.map((one) => (one.name === server ? { ...one, health } : one));
      }),
    beginSignIn: async (session, server) => {
      await act('beginSignIn', { session, server });
      const host = 'accounts.calendar.example';
      return { id: server, url: `https://${host}/authorize?state=1`, host };
    },
    // Whoever opens the page signs in there.
    finishSignIn: (id) =>
      new Promise((resolve, reject) => {
        host.signing = { opened: () => resolve(signedIn(id, true)), left: reject };
      }),
    cancelSignIn: (id) =>
      act('cancelSignIn', id, () =>
        host.signing?.left(
          Object.assign(new Error('this sign-in was cancelled; sign in again'), { code: 'not_found' }),
        ),
      ),
    signOut: (session, server) => act('signOut', { session, server }, () => signedIn(server, false)),
    additionForms: () => later(() => forms),
    changeAdditions: async (change) => {
      await act('changeAdditions', change, () => {
        const problem = unfit(change, forms);
        if (problem) throw { code: 'invalid', message: '', problem };
        if (change.change === 'remove') removed.push(forms);
        forms = change.change === 'bring_back' ? (removed[Number(change.id)] ?? forms) : changed(change, forms);
      });
      return change.change === 'remove' ? String(removed.length - 1) : null;
    },
    checkServer: async (_project, name) => {
      await act('checkServer', name);
      const known = servers.find((one) => one.name === name);
      return known ?? { name, health: { health: 'ready', tools: 3 }, signed_in: null, changed: [], left_out: [] };
    },
    tryHook: async (_project, name) => {
      await act('tryHook', name);
      const hook = forms.hooks.find((one) => one.name === name && one.enabled);
      if (!hook) throw { code: 'not_found', message: '', problem: { problem: 'nothing_there' } };
      return tried(hook);
    },
  };
}

function tried(hook: HookForm): HookTrial {
  const tool = { name: hook.tools[0] ?? 'execute', kind: 'edit', id: 'trial', arguments: { file_path: '/trial.txt' } };
  const whole = { point: hook.point, session: 'trial', turn: 1, agents: [], folder: '/home/me/harbour', trial: true };
  const told = { event: JSON.stringify({ ...whole, tool }, null, 2), signal: null, truncated: false };
  if (hook.point === 'before_tool') {
    const reason = 'commands wait until the tests are green';
    return { ...told, exit_code: 2, stdout: '', stderr: `${reason}\n`, verdict: { verdict: 'denies', reason } };
  }
  const said = 'error: no such command: `fmt`\n\nhelp: install it with `rustup component add rustfmt`\n';
  const detail = `ended with code 101 and said: ${said.trim()}`;
  const why = { problem: 'hook_broke', hook: hook.name, point: hook.point, detail } as const;
  return { ...told, exit_code: 101, stdout: '', stderr: said, verdict: { verdict: 'failed', why, then: 'go_on' } };
}

function changed(change: Exclude<AdditionChange, { change: 'bring_back' }>, forms: AdditionForms): AdditionForms {
  const put = <T extends { name: string }>(list: readonly T[], was: string | null, one: T): T[] =>
    was === null ? [...list, one] : list.map((known) => (known.name === was ? one : known));
  switch (change.change) {
    case 'server':
      return { ...forms, servers: put<ServerForm>(forms.servers, change.was, kept(change.server)) };
    case 'hook':
      return {
        ...forms,
        hooks: put<HookForm>(forms.hooks, change.was, { ...change.hook, env: hidden(change.hook.env) }),
      };
    case 'switch': {
      const turn = <T extends { name: string }>(one: T): T =>
        one.name === change.name ? { ...one, enabled: change.on } : one;
      return change.addition === 'server'
        ? { ...forms, servers: forms.servers.map(turn) }
        : { ...forms, hooks: forms.hooks.map(turn) };
    }
    case 'remove': {
      const others = ({ name }: { name: string }) => name !== change.name;
      return change.addition === 'server'
        ? { ...forms, servers: forms.servers.filter(others) }
        : { ...forms, hooks: forms.hooks.filter(others) };
    }
  }
}

/** What was entered does not come out again. */
const hidden = (fields: readonly SecretField[]): SecretField[] =>
  fields.map((field) => ({ ...field, value: field.value === '' ? '' : null }));

const kept = ({ reach, ...server }: ServerForm): ServerForm => ({
  ...server,
  reach:
    reach.reach === 'program' ? { ...reach, env: hidden(reach.env) } : { ...reach, headers: hidden(reach.headers) },
});

/** As far as the demonstration goes: the rules are the core's. */
function unfit(change: AdditionChange, forms: AdditionForms): Problem | null {
  if (change.change === 'hook') {
    const { name, command, timeout } = change.hook;
    if (name.trim() === '') return { problem: 'hook_name', given: name, most: 64 };
    if (command.trim() === '') return { problem: 'hook_no_command', hook: name };
    if (timeout < 1 || timeout > 600) return { problem: 'hook_timeout', hook: name, given: String(timeout), most: 600 };
    return null;
  }
  if (change.change !== 'server') return null;
  const { name, reach } = change.server;
  if (!/^[a-z0-9][\w-]*$/i.test(name)) return { problem: 'server_name', name, why: { problem: 'server_name_letters' } };
  if (change.was !== name && forms.servers.some((one) => one.name === name)) return { problem: 'server_twice', name };
  if (reach.reach === 'program') {
    const given = reach.command;
    if (given.trim() !== '') return null;
    return { problem: 'server_value', server: name, field: 'command', given, why: { problem: 'no_program' } };
  }
  if (!reach.url.startsWith('https:')) {
    return { problem: 'server_url', server: name, why: { problem: 'address_not_safe' } };
  }
  const missing = reach.headers.find(({ value }) => value === null && change.was === null);
  return missing ? { problem: 'server_header_missing', header: missing.name } : null;
}

function wrong(text: string): Problem | null {
  if (text.includes('command = ""'))
    return { problem: 'server_value', server: 'new', field: 'command', given: '', why: { problem: 'no_program' } };
  if (text.includes('folder = "handbook"'))
    return { problem: 'route_part_of_path', prefix: '/handbook', folder: 'handbook' };
  return null;
}
