import { describe, expect, it } from 'vitest';
import { ai, approval, human, item, tool } from '../../ipc/recorded/builders';
import { en } from '../../shared/i18n/en';
import { Formats } from '../../shared/i18n/formats';
import { zh } from '../../shared/i18n/zh';
import { evidence } from '../todos/evidence';
import { GroupKeeper, groups, needsEyes, span, toolOf } from './groups';
import { matches, numbered } from './tools/output';
import { displayPath, figureWords, sentence, tenseOf } from './toolWords';

const f = new Formats('en');
const said = (name: string, args: unknown, tense: 'plan' | 'doing' | 'done' = 'done') =>
  sentence(en, { name, args }, tense);

describe('rows in words', () => {
  it('name the verb and the object', () => {
    expect(said('grep', { pattern: 'expires_at', glob: 'src/**' })).toBe('Searched expires_at in src/**');
    expect(said('grep', { pattern: 'x', path: '/src', glob: '*.rs' })).toBe('Searched x in src/*.rs');
    expect(said('glob', { pattern: '*.rs', path: '/' })).toBe('Found *.rs');
    expect(said('read_file', { file_path: '/src/a.rs' }, 'doing')).toBe('Reading src/a.rs');
    expect(said('edit_file', { file_path: '/memories/me.md' }, 'plan')).toBe('Edit /memories/me.md');
    expect(said('task', { subagent_type: 'scout', description: 'look\naround' })).toBe('Sent scout: look');
    const scout = { name: 'task', args: { subagent_type: 'scout', description: 'look' } };
    expect(sentence(en, scout, 'doing')).toBe('scout at work: look');
    expect(sentence(en, { ...scout, isHeldUp: true }, 'doing')).toBe('scout waits for you: look');
    expect(said('send_mail', { to: 'x' })).toBe('Called send_mail');
    expect(said('execute', { command: ['no', 'text'] })).toBe('Ran ');
    expect(sentence(zh, { name: 'grep', args: { pattern: 'x', path: '/src' } }, 'done')).toBe('在 src 中搜索了 x');
  });

  it('tell the tense by the state', () => {
    const states = ['proposed', 'running', 'done', 'failed', 'waiting', 'rejected', 'unknown'] as const;
    const tenses = states.map((state) => tenseOf({ state, started_at: 1 }));
    expect(tenses).toEqual(['doing', 'doing', 'done', 'done', 'plan', 'plan', 'plan']);
    expect(tenseOf({ state: 'failed', started_at: null }), 'it never ran').toBe('plan');
    expect(tenseOf({ state: 'cancelled', started_at: 1 }), 'it was stopped while it ran').toBe('done');
    expect(tenseOf({ state: 'cancelled', started_at: null }), 'it was stopped before').toBe('plan');
  });

  it('keep mounts apart from the project', () => {
    expect(['/src/a', '/', '', '/skills/x/SKILL.md', '/_memories/a'].map(displayPath)).toEqual([
      'src/a',
      '/',
      '/',
      '/skills/x/SKILL.md',
      '/_memories/a',
    ]);
  });

  it('carry their figures, their time and their state', () => {
    const words = (one: ReturnType<typeof tool>, now = 0) => {
      const body = toolOf(one);
      return body ? figureWords(en, f, body, now) : [];
    };
    expect(words(tool('grep', {}, { took: 4, figures: [{ figure: 'matches', value: 9 }] }))).toEqual([
      '9 matches',
      '4 ms',
    ]);
    expect(words(tool('read_file', {}, { figures: [{ figure: 'lines', value: 1 }] }))).toEqual(['1 line']);
    expect(words(tool('edit_file', {}, { figures: [{ figure: 'link_broken' }] }))).toEqual(['hard link broken']);
    const shown = (['image', 'document', 'audio', 'video'] as const).map((kind) => ({ kind, size: 34 * 1024 }));
    expect(shown.flatMap((value) => words(tool('read_file', {}, { figures: [{ figure: 'media', value }] })))).toEqual([
      'image · 34 KB',
      'PDF · 34 KB',
      'audio · 34 KB',
      'video · 34 KB',
    ]);
    expect(words(tool('execute', {}, { took: 900, figures: [{ figure: 'exit_code', value: 0 }] }))).toEqual(['900 ms']);
    expect(
      words(tool('execute', {}, { state: 'failed', took: 900, figures: [{ figure: 'exit_code', value: 2 }] })),
    ).toEqual(['exit 2', '900 ms', 'failed']);
    expect(words(tool('execute', {}, { took: 900, figures: [{ figure: 'signal', value: 9 }] }))).toEqual([
      'ended by signal 9',
      '900 ms',
    ]);
    expect(words(tool('execute', {}, { state: 'failed', figures: [{ figure: 'broke_off' }] }))).toContain(
      'the connection broke off, outcome unknown',
    );
    const cut = { state: 'cancelled', took: 900 } as const;
    expect(words(tool('execute', {}, cut))).toEqual(['900 ms', 'stopped']);
    expect(words(tool('execute', {}, { ...cut, started_at: null, ended_at: 1 }))).toEqual(['cancelled']);
    expect(words(tool('read_file', {}, { state: 'running', started_at: 1000, ended_at: null }), 63_000)).toEqual([
      '1:02',
    ]);
  });
});

describe('groups', () => {
  it('put calls and the thoughts between them into one fold', () => {
    const rows = [human('go'), ai('ok'), tool('ls', {}), ai('', 'hm'), tool('grep', {}), ai(''), ai('done')];
    const made = groups(rows);
    expect(made.map((group) => (group.kind === 'fold' ? group.rows.length : group.item.body.kind))).toEqual([
      'human',
      'ai',
      3,
      'ai',
    ]);
    expect(made[2]).toMatchObject({ kind: 'fold', isOver: true });
  });

  it('are over only when something follows and nothing goes on', () => {
    const isOver = (rows: Parameters<typeof groups>[0]) =>
      groups(rows).flatMap((group) => (group.kind === 'fold' ? [group.isOver] : []));
    expect(isOver([tool('ls', {})])).toEqual([false]);
    expect(isOver([tool('ls', {}, { state: 'running' }), ai('meanwhile')])).toEqual([false]);
    expect(isOver([tool('ls', {}), item({ kind: 'notice', code: 'stopped', detail: '', problem: null })])).toEqual([
      true,
    ]);
  });

  it('are the same objects while a row below them grows', () => {
    const keeper = new GroupKeeper();
    const [asked, first, second] = [human('go'), tool('ls', {}), tool('grep', {})];
    const before = keeper.read([asked, first, second, ai('do')]);
    const reply = ai('done');
    const after = keeper.read([asked, first, second, reply]);
    expect(after.map((group, at) => group === before[at])).toEqual([true, true, false]);
    expect(after).toEqual(groups([asked, first, second, reply]));
    const again = keeper.read([asked, first, { ...second }, reply]);
    expect(again.map((group, at) => group === after[at])).toEqual([true, false, true]);
  });

  it('keep failures in sight and know how long they took', () => {
    const rows = [tool('ls', {}, { took: 10 }), tool('execute', {}, { state: 'failed', took: 500 })];
    expect(rows.map(needsEyes)).toEqual([false, true]);
    expect(span(rows)).toBe(500);
    expect(span([tool('ls', {}, { started_at: null, ended_at: null })])).toBeNull();
  });
});

describe('answers of tools', () => {
  it('are read back into numbered lines', () => {
    expect(numbered('     9\tfn a() {\n    10\t\n  10.1\tmore\n[next offset 11 of 40]')).toEqual({
      lines: [
        { number: '9', text: 'fn a() {' },
        { number: '10', text: '' },
        { number: '10.1', text: 'more' },
      ],
      note: '[next offset 11 of 40]',
    });
    expect(numbered('Error: File not found')).toBeNull();
  });

  it('are read back into matches', () => {
    expect(matches('/a.rs:\n  3: let x\n/b.rs: 4\n/dir/\nNo more')).toEqual({
      files: [
        { path: '/a.rs', matches: [{ number: '3', text: 'let x' }] },
        { path: '/b.rs', matches: [{ number: '4', text: '' }] },
        { path: '/dir/', matches: [] },
      ],
      rest: 'No more',
    });
  });
});

describe('evidence', () => {
  it('has what the core counted, and the rows that are at hand', () => {
    const todo = { id: 't1', content: 'Fix it', status: 'in_progress' as const };
    const items = [
      tool('read_file', { file_path: '/a' }, { todos: ['t1'] }),
      tool('edit_file', { file_path: '/a' }, { todos: ['t2', 't1'] }),
      tool('write_todos', {}, { todos: ['t1'] }),
      tool('edit_file', { file_path: '/b' }, { todos: ['t2'] }),
    ];
    const counted = {
      calls: 7,
      failed: 1,
      files: ['/a', '/deep.txt'],
      file_count: 2,
      added: 3,
      removed: 1,
      agents: ['reader'],
      ran_ms: 300,
      input_tokens: 10,
      output_tokens: 2,
      cost: 0.01,
    };
    const approvals = [approval('execute', {}, { todo: 'Fix it' })];
    const known = { evidence: [{ todo: 't1', ...counted }], items, approvals };
    const rows = items.slice(0, 2).map((item) => item.body);
    expect(evidence(todo, known)).toEqual({ todo: 't1', ...counted, isWaiting: true, rows });
    const other = evidence({ ...todo, id: 't9', content: 'Other' }, known);
    expect([other.calls, other.files, other.isWaiting, other.rows]).toEqual([0, [], false, []]);
  });
});
