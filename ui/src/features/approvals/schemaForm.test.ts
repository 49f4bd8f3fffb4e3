import { describe, expect, it } from 'vitest';
import { fields, parsed, typed } from './schemaForm';

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

const byName = (value: Record<string, unknown>) =>
  Object.fromEntries(fields(SCHEMA, value).map((field) => [field.name, field]));

describe('fields', () => {
  it('follow the schema in its order, then what the call holds besides', () => {
    const made = fields(SCHEMA, { file_path: '/a', content: 'x\ny', extra: [1] });
    expect(made.map((field) => [field.name, field.kind])).toEqual([
      ['file_path', 'text'],
      ['content', 'long'],
      ['overwrite', 'boolean'],
      ['limit', 'integer'],
      ['ratio', 'number'],
      ['mode', 'choice'],
      ['todos', 'json'],
      ['anything', 'json'],
      ['extra', 'json'],
    ]);
  });

  it('know what is required, nullable and to choose from', () => {
    const made = byName({});
    expect(made.file_path).toMatchObject({ required: true, nullable: false, description: 'The file.' });
    expect(made.limit).toMatchObject({ required: false, nullable: true });
    expect(made.mode).toMatchObject({ choices: ['files', 'content'], nullable: true });
  });

  it('fall back to JSON where the value is of another type than the schema says', () => {
    expect(byName({ file_path: { a: 1 } }).file_path?.kind).toBe('json');
    expect(fields(undefined, { a: 'text', b: 2 }).map((field) => field.kind)).toEqual(['text', 'number']);
    expect(fields({ $ref: '#/$defs/Loop', $defs: { Loop: { $ref: '#/$defs/Loop' } } }, {})).toEqual([]);
  });

  it('read back what they show', () => {
    const made = byName({ todos: [] });
    const round = (name: string, value: unknown) => {
      const field = made[name];
      if (!field) throw new Error(name);
      return parsed(field, typed(field, value));
    };
    expect(round('limit', 5)).toEqual({ value: 5, isValid: true });
    expect(round('limit', undefined)).toEqual({ value: undefined, isValid: true });
    expect(round('todos', [{ content: 'a', status: 'pending' }]).value).toEqual([{ content: 'a', status: 'pending' }]);
    const limit = made.limit;
    const todos = made.todos;
    if (!limit || !todos) throw new Error('fields');
    expect(parsed(limit, '1.5').isValid).toBe(false);
    expect(parsed(limit, 'abc').isValid).toBe(false);
    expect(parsed(todos, '[').isValid).toBe(false);
  });
});
