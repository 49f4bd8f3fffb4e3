/** A form from a JSON Schema: which fields to draw, and what is typed into them. */
import { isSchema, listOf, NULLABLE, Shapes, typesOf, type Args } from './schema';

export type FieldKind = 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface Field {
  name: string;
  kind: FieldKind;
  required: boolean;
  /** `null` is a value of it. */
  nullable: boolean;
  description: string;
  /** For `choice`. */
  choices: string[];
}

const LONG_TEXT = 80;

/** The fields of an object's schema, in its order; then what the value holds besides. */
export function fields(schema: unknown, value: Args): Field[] {
  const root = isSchema(schema) ? schema : {};
  const shapes = new Shapes(root);
  const shape = shapes.plain(root);
  const properties = isSchema(shape.properties) ? shape.properties : {};
  const required = listOf(shape.required);
  const known = Object.entries(properties).map(([name, property]) =>
    field(name, property, shapes, required.includes(name), value[name]),
  );
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [...known, ...extra.map((name) => field(name, {}, shapes, false, value[name]))];
}

function field(name: string, property: unknown, shapes: Shapes, required: boolean, value: unknown): Field {
  const shape = shapes.plain(property);
  const types = typesOf(shape);
  const description = typeof shape.description === 'string' ? shape.description : '';
  const base = {
    name,
    required,
    nullable: types.includes('null') || shape[NULLABLE] === true,
    description,
    choices: [],
  };
  const choices = shapes.choices(shape);
  if (choices) return { ...base, kind: 'choice', choices };
  return {
    ...base,
    kind: kindOf(
      types.filter((type) => type !== 'null'),
      value,
    ),
  };
}

function kindOf(types: string[], value: unknown): FieldKind {
  const only = types.length === 1 ? types[0] : typeof value;
  const fits = value === undefined || value === null || typeof value === (only === 'integer' ? 'number' : only);
  if (!fits) return 'json';
  if (only === 'string') return isLong(value) ? 'long' : 'text';
  if (only === 'number' || only === 'integer' || only === 'boolean') return only;
  return 'json';
}

const isLong = (value: unknown) => typeof value === 'string' && (value.length > LONG_TEXT || value.includes('\n'));

/** What a person typed, as a value of the field; `undefined` leaves it out, `null` in `error` means all is well. */
export function parsed(field: Field, typed: string): { value: unknown; isValid: boolean } {
  if (field.kind === 'number' || field.kind === 'integer') {
    if (typed.trim() === '') return { value: undefined, isValid: !field.required };
    const value = Number(typed);
    return { value, isValid: Number.isFinite(value) && (field.kind === 'number' || Number.isInteger(value)) };
  }
  if (field.kind !== 'json') return { value: typed, isValid: true };
  if (typed.trim() === '') return { value: undefined, isValid: !field.required };
  try {
    return { value: JSON.parse(typed), isValid: true };
  } catch {
    return { value: undefined, isValid: false };
  }
}

/** A value as it is typed into its field. */
export function typed(field: Field, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}
