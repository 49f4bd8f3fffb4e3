/** A form from a JSON Schema: which fields to draw, and whether a value fits. Never rules of ours, only the schema's. */

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

export interface Problem {
  /** Where, as `todos[2].status`; empty for the value itself. */
  path: string;
  code: 'type' | 'required' | 'unknown' | 'choice' | 'range' | 'length' | 'pattern';
  /** What would fit: a type's name, the choices, a bound. */
  expected: string;
}

type Schema = Record<string, unknown> & { [NULLABLE]?: boolean };
export type Args = Record<string, unknown>;

const LONG_TEXT = 80;
/** Where a cycle of references is cut. */
const DEEPEST = 12;
/** Set on the schema of an option, whose type is that of its one real branch. */
const NULLABLE = Symbol('nullable');
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

export const isArgs = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSchema = isArgs;

/** The fields of an object's schema, in its order; then what the value holds besides. */
export function fields(schema: unknown, value: Args): Field[] {
  const root = isSchema(schema) ? schema : {};
  const shape = plain(root, root);
  const properties = isSchema(shape.properties) ? shape.properties : {};
  const required = Array.isArray(shape.required) ? shape.required : [];
  const known = Object.entries(properties).map(([name, property]) =>
    field(name, property, root, required.includes(name), value[name]),
  );
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [...known, ...extra.map((name) => field(name, {}, root, false, value[name]))];
}

function field(name: string, property: unknown, root: Schema, required: boolean, value: unknown): Field {
  const shape = plain(property, root);
  const types = typesOf(shape);
  const description = typeof shape.description === 'string' ? shape.description : '';
  const base = {
    name,
    required,
    nullable: types.includes('null') || shape[NULLABLE] === true,
    description,
    choices: [],
  };
  const choices = choicesOf(shape, root);
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

/** A schema with its references followed and the `null` branch of an option folded into its type. */
function plain(schema: unknown, root: Schema, depth = 0): Schema {
  if (!isSchema(schema) || depth > DEEPEST) return {};
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    return { ...plain(referred($ref as string, root), root, depth + 1), ...beside };
  }
  const branches = branchesOf(schema);
  const real = branches.filter((branch) => plain(branch, root, depth + 1).type !== 'null');
  if (branches.length === 2 && real.length === 1) {
    const { anyOf: _any, oneOf: _one, ...beside } = schema;
    return { ...plain(real[0], root, depth + 1), ...beside, [NULLABLE]: true };
  }
  const [first] = Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf : [];
  return first ? { ...plain(first, root, depth + 1), ...schema, allOf: undefined } : schema;
}

function referred(reference: string, root: Schema): unknown {
  let at: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isSchema(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

const branchesOf = (schema: Schema): unknown[] =>
  [schema.anyOf, schema.oneOf].find((list): list is unknown[] => Array.isArray(list)) ?? [];

function typesOf(schema: Schema): string[] {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.filter((type): type is string => typeof type === 'string' && TYPES.includes(type));
}

/** The texts an enumeration allows; `null` where it is none or holds other things. */
function choicesOf(schema: Schema, root: Schema): string[] | null {
  const listed = Array.isArray(schema.enum) ? schema.enum : branchesOf(schema).map((one) => plain(one, root).const);
  const texts = listed.filter((one): one is string => typeof one === 'string');
  const rest = listed.filter((one) => typeof one !== 'string' && one !== null);
  return texts.length > 0 && rest.length === 0 ? texts : null;
}

/** Everything about `value` that the schema does not allow. */
export function validate(schema: unknown, value: unknown): Problem[] {
  const root = isSchema(schema) ? schema : {};
  return check(root, value, root, '', 0);
}

function check(schema: unknown, value: unknown, root: Schema, path: string, depth: number): Problem[] {
  if (schema === false) return [{ path, code: 'unknown', expected: '' }];
  if (!isSchema(schema) || depth > DEEPEST) return [];
  const shape = plain(schema, root);
  if (value === null && shape[NULLABLE]) return [];
  const types = typesOf(shape);
  if (types.length > 0 && !types.some((type) => isOf(type, value))) {
    return [{ path, code: 'type', expected: types.join(', ') }];
  }
  if (value === null && types.includes('null')) return [];
  const choices = choicesOf(shape, root);
  if (choices) return choices.includes(value as string) ? [] : [{ path, code: 'choice', expected: choices.join(', ') }];
  const branches = branchesOf(shape);
  const fits = branches.length === 0 || branches.some((one) => check(one, value, root, path, depth + 1).length === 0);
  if (!fits) return [{ path, code: 'type', expected: '' }];
  if (typeof value === 'number') return checkNumber(shape, value, path);
  if (typeof value === 'string') return checkText(shape, value, path);
  if (Array.isArray(value)) {
    return value.flatMap((one, at) => check(shape.items, one, root, `${path}[${at}]`, depth + 1));
  }
  return isArgs(value) ? checkObject(shape, value, root, path, depth) : [];
}

function checkObject(shape: Schema, value: Args, root: Schema, path: string, depth: number): Problem[] {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  const properties = isSchema(shape.properties) ? shape.properties : {};
  const required = Array.isArray(shape.required) ? shape.required : [];
  const missing = required
    .filter((name): name is string => typeof name === 'string' && value[name] === undefined)
    .map((name): Problem => ({ path: at(name), code: 'required', expected: '' }));
  const found = Object.entries(value).flatMap(([name, one]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : (shape.additionalProperties ?? {});
    return check(property, one, root, at(name), depth + 1);
  });
  return [...missing, ...found];
}

function checkNumber(shape: Schema, value: number, path: string): Problem[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = shape;
  if (typeof minimum === 'number' && value < minimum) return [{ path, code: 'range', expected: `≥ ${minimum}` }];
  if (typeof maximum === 'number' && value > maximum) return [{ path, code: 'range', expected: `≤ ${maximum}` }];
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) {
    return [{ path, code: 'range', expected: `> ${exclusiveMinimum}` }];
  }
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) {
    return [{ path, code: 'range', expected: `< ${exclusiveMaximum}` }];
  }
  return [];
}

function checkText(shape: Schema, value: string, path: string): Problem[] {
  const { minLength, maxLength } = shape;
  const length = [...value].length;
  if (typeof minLength === 'number' && length < minLength)
    return [{ path, code: 'length', expected: `≥ ${minLength}` }];
  if (typeof maxLength === 'number' && length > maxLength)
    return [{ path, code: 'length', expected: `≤ ${maxLength}` }];
  return [];
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isArgs(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

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
