import { describe, expect, it } from 'vitest';
import type { HookForm, Problem, ServerForm } from '../../ipc/bindings';
import { failureOf, failuresAt, fieldOf, hookFields, hookForm, POINTS, serverFields, serverForm } from './additions';

describe('the form of a server', () => {
  const program: ServerForm = {
    name: 'docs',
    enabled: false,
    reach: {
      reach: 'program',
      command: 'docs',
      args: ['--as', 'a b'],
      env: [
        { name: 'TOKEN', value: null, in_database: false },
        { name: 'NOTHING', value: '', in_database: false },
      ],
    },
  };
  const address: ServerForm = {
    name: 'web',
    enabled: true,
    reach: {
      reach: 'address',
      url: 'https://a.example',
      headers: [{ name: 'X-Key', value: null, in_database: false }],
    },
  };

  it.each([program, address])('gives back what it was given ($name)', (form) => {
    expect(serverForm(serverFields(form), form.enabled)).toEqual(form);
  });

  it('has what was entered, as it was entered, in the place of a value that is not shown', () => {
    const fields = serverFields(program);
    if (fields.env[0]) fields.env[0].value = ' x ';
    expect(serverForm(fields, false).reach).toMatchObject({ env: [{ name: 'TOKEN', value: ' x ' }, { value: '' }] });
  });

  it('leaves out rows that nobody filled, and what belongs to the other kind', () => {
    const fields = serverFields(program);
    fields.env.push({ name: ' ', value: '', isKept: false });
    fields.headers.push({ name: 'X', value: 'y', isKept: false });
    fields.args += '\n\n';
    expect(serverForm(fields, false)).toEqual(program);
    expect(serverForm({ ...fields, kind: 'address', url: 'https://b' }, true).reach).toEqual({
      reach: 'address',
      url: 'https://b',
      headers: [{ name: 'X', value: 'y', in_database: false }],
    });
  });
});

describe('the form of a hook', () => {
  const hook: HookForm = {
    name: 'format',
    enabled: true,
    point: 'after_tool',
    tools: ['edit_file', 'web__*'],
    command: 'cargo',
    args: ['fmt', '--all'],
    env: [{ name: 'LEVEL', value: null, in_database: false }],
    timeout: 60,
    on_failure: null,
  };

  it('gives back what it was given, without tools where no tool is told of', () => {
    expect(hookForm(hookFields(hook), true)).toEqual(hook);
    const args = ['-c', 'set -e\ncargo fmt', ''];
    const several = { ...hook, args };
    expect(hookForm({ ...hookFields(several), timeout: '9' }, true, args).args).toEqual(args);
    expect(hookForm({ ...hookFields(several), args: '-c\ntrue' }, true, args).args).toEqual(['-c', 'true']);
    expect(hookForm({ ...hookFields(hook), point: 'turn_end' }, true).tools).toEqual([]);
  });

  it('keeps what is to happen when it fails where that can happen, and what is usual where nobody chose', () => {
    const kept = (given: Partial<HookForm>) => hookForm(hookFields({ ...hook, tools: [], ...given }), true).on_failure;
    expect(kept({ point: 'before_tool', on_failure: 'deny' })).toBe('deny');
    expect(kept({ point: 'turn_end', on_failure: 'go_on' })).toBe('go_on');
    const moved = { ...hookFields({ ...hook, point: 'before_tool', on_failure: 'ask' }), point: 'turn_start' as const };
    expect([hookForm(moved, true).on_failure, failureOf(moved)]).toEqual([null, 'go_on']);
    expect(POINTS.filter((point) => failuresAt(point).length > 1)).toEqual([
      'turn_start',
      'before_model',
      'before_tool',
      'subagent_start',
    ]);
    expect(POINTS.filter((point) => failuresAt(point)[0] === 'ask')).toEqual(['before_tool', 'subagent_start']);
  });

  it.each(['', '-1', '1.5', 'soon', '1e3'])('has no time limit of "%s" seconds, which the core refuses', (timeout) => {
    expect(hookForm({ ...hookFields(hook), timeout }, true).timeout).toBe(0);
  });
});

describe('what is wrong', () => {
  const value = { server: 'a', given: '', why: { problem: 'no_program' } } as const;
  const table: [Problem, string | null][] = [
    [{ problem: 'server_twice', name: 'a' }, 'name'],
    [{ problem: 'server_url', server: 'a', why: { problem: 'no_address' } }, 'url'],
    [{ problem: 'server_value', field: 'env', ...value }, 'env'],
    [{ problem: 'server_value', field: 'secret_headers', ...value }, 'headers'],
    [{ problem: 'server_value', field: 'elsewhere', ...value }, null],
    [{ problem: 'server_header_missing', header: 'X' }, 'headers'],
    [{ problem: 'server_value', field: 'secret_env', ...value }, 'env'],
    [{ problem: 'variable_missing', variable: 'X' }, 'env'],
    [{ problem: 'hook_timeout', hook: 'a', given: '0', most: 600 }, 'timeout'],
    [{ problem: 'hook_failure', hook: 'a', wanted: 'ask', point: 'turn_end' }, 'point'],
    [{ problem: 'not_kept' }, null],
  ];
  it.each(table)('stands at its field: %j', (problem, field) => expect(fieldOf(problem)).toBe(field));
});
