import { describe, expect, it, vi } from 'vitest';
import { Shapes } from './schema';
import { isWrong, validate } from './schemaCheck';

/** As schemars writes the input of a tool. */
const SCHEMA = {
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'The file.' },
    content: { type: 'string' },
    overwrite: { type: 'boolean', default: false },
    limit: { type: ['integer', 'null'], minimum: 1, maximum: 2000 },
    ratio: { type: 'number' },
    mode: { anyOf: [{ $ref: '#/$defs/Mode' }, { type: 'null' }] },
    todos: { type: 'array', items: { $ref: '#/$defs/Todo' } },
    anything: true,
  },
  required: ['file_path', 'content'],
  $defs: {
    Mode: { oneOf: [{ const: 'files', description: 'names' }, { const: 'content' }] },
    Todo: {
      type: 'object',
      properties: { content: { type: 'string', minLength: 1 }, status: { enum: ['pending', 'completed'] } },
      required: ['content', 'status'],
      additionalProperties: false,
    },
  },
};

describe('a tool’s arguments', () => {
  const problems = (value: unknown) => validate(SCHEMA, value).map((problem) => `${problem.path}:${problem.code}`);

  it('lets what fits pass', () => {
    expect(problems({ file_path: '/a', content: '', limit: null, mode: 'files', anything: [1] })).toEqual([]);
    expect(problems({ file_path: '/a', content: '', todos: [{ content: 'a', status: 'pending' }], more: 1 })).toEqual(
      [],
    );
  });

  it('names the place and the kind of what does not', () => {
    expect(problems([])).toEqual([':type']);
    expect(problems({ content: 3 })).toEqual(['file_path:required', 'content:type']);
    expect(problems({ file_path: '/a', content: '', limit: 0 })).toEqual(['limit:range']);
    expect(problems({ file_path: '/a', content: '', mode: 'other' })).toEqual(['mode:choice']);
    expect(problems({ file_path: '/a', content: '', todos: [{ content: '', status: 'later', x: 1 }] })).toEqual([
      'todos[0].content:length',
      'todos[0].status:choice',
      'todos[0].x:unknown',
    ]);
  });
});

describe('a value that does not fit', () => {
  const said = (schema: unknown, value: unknown) =>
    validate({ properties: { it: schema } }, { it: value }).map((one) => [one.path, one.code, one.expected].join(' '));

  it.each([
    [{ const: 'v1' }, 'v1', 'v2', 'it exact v1'],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, { a: 1 }, 'it exact {"a":1,"b":2}'],
    [{ enum: ['a', 1, null] }, null, 2, 'it choice a, 1, null'],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, 0.35, 'it multiple 0.1'],
    [{ type: 'integer', multipleOf: 5 }, -10, 7, 'it multiple 5'],
    [{ exclusiveMinimum: 0, maximum: 9 }, 9, 0, 'it range > 0'],
    [{ minimum: 1 }, 1, 0, 'it range ≥ 1'],
    [{ minLength: 2 }, '𝒳𝒴', '𝒳', 'it length ≥ 2'],
    [{ maxLength: 2 }, '𝒳𝒴', 'abc', 'it length ≤ 2'],
    [{ pattern: '^[a-z]+$' }, 'main', 'Main', 'it pattern ^[a-z]+$'],
    [{ minItems: 1 }, [1], [], 'it items ≥ 1'],
    [{ maxItems: 2 }, [1, 2], [1, 2, 3], 'it items ≤ 2'],
    [
      { uniqueItems: true },
      [1, '1', { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'it unique ',
    ],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1], ['a', 'b'], 'it[1] type number'],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 1], 'it[1] unknown '],
    [{ minProperties: 1 }, { a: 1 }, {}, 'it properties ≥ 1'],
    [{ maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }, 'it properties ≤ 1'],
    [{ dependentRequired: { a: ['b'] } }, { c: 1 }, { a: 1 }, 'it.b required '],
    [
      { patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false },
      { 'x-a': 1 },
      { y: 1 },
      'it.y unknown ',
    ],
    [{ allOf: [{ minLength: 1 }, { pattern: '^a' }] }, 'a', 'b', 'it pattern ^a'],
    [{ anyOf: [{ type: 'string' }, { type: 'number', minimum: 1 }] }, 'a', 0, 'it range ≥ 1'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 1, true, 'it branch '],
    [
      {
        oneOf: [
          { properties: { a: {} }, required: ['a'] },
          { properties: { b: {} }, required: ['b'] },
        ],
      },
      { b: 1 },
      {},
      'it branch ',
    ],
    [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, 'b', 'c', 'it choice a, b'],
  ])('%j lets %j pass, and not %j: %s', (schema, good, bad, problem) => {
    expect(said(schema, good)).toEqual([]);
    expect(said(schema, bad)).toEqual([problem]);
  });

  it.each([
    [{ format: 'email' }, 'nobody'],
    [{ not: { type: 'string' } }, 'a'],
    [{ oneOf: [{ type: 'string' }, { type: 'string', format: 'uri' }] }, 'a'],
    [{ type: ['string', 'null'], enum: ['a'] }, null],
    [{ minimum: 'one', enum: 'none', required: 3, pattern: 7, items: 'x' }, 'a'],
  ])('is not held against it where that is not certain: %j', (schema, value) => {
    expect(said(schema, value)).toEqual([]);
  });

  it('may have a form that only the tool tries', () => {
    const problems = validate({ properties: { it: { pattern: '^(a+)+$' } } }, { it: `${'a'.repeat(50)}!` });
    expect(problems).toEqual([{ path: 'it', code: 'untested', expected: '^(a+)+$' }]);
    expect(problems.some(isWrong)).toBe(false);
    const unknown = { patternProperties: { '^(a+)+$': false }, additionalProperties: false };
    expect(said(unknown, { [`${'a'.repeat(50)}!`]: 1 })).toEqual([]);
  });

  it('is said in a few words', () => {
    const many = { items: { type: 'string' } };
    expect(
      said(
        many,
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(20);
    expect(said({ enum: Array.from({ length: 500 }, (_, at) => `choice${at}`) }, 'x')[0]?.length).toBeLessThan(150);
  });

  it.each([
    [{ anyOf: Array.from({ length: 10 }, () => ({ $ref: '#' })) }],
    [{ anyOf: Array.from({ length: 10 }, () => ({ properties: { a: { $ref: '#' } }, required: ['b'] })) }],
    [{ allOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] }],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ])('is not sought for ever: %j', (schema) => {
    const looked = vi.spyOn(Shapes.prototype, 'plain');
    const deep: unknown = Array.from({ length: 30 }).reduce<unknown>((inner) => ({ a: inner }), 1);
    validate(schema, deep);
    expect(looked.mock.calls.length).toBeLessThan(500_000);
  });
});
