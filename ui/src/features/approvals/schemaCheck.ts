/**
 * Whether a value fits a JSON Schema. Never rules of ours, only the schema's, and of those what can be told for certain: who
 * has the tool checks again. So a `format` is a remark, and what another schema excludes (`not`, two branches of `oneOf`) is
 * not looked at, because a value may fit what is known of a schema and not the rest.
 */
import { Patterns } from './pattern';
import { branchesOf, isArgs, isSchema, listOf, NULLABLE, Shapes, typesOf, type Args, type Schema } from './schema';

export type ProblemCode =
  | 'type'
  | 'required'
  | 'unknown'
  | 'choice'
  | 'exact'
  | 'range'
  | 'multiple'
  | 'length'
  | 'items'
  | 'unique'
  | 'properties'
  | 'pattern'
  | 'branch'
  /** Nothing is wrong that is known of; whether the form is right shows when the tool runs. */
  | 'untested';

export interface Problem {
  /** Where, as `todos[2].status`; empty for the value itself. */
  path: string;
  code: ProblemCode;
  /** What would fit: a type's name, the choices, a bound, a pattern. */
  expected: string;
}

/** Whether it keeps the value from being sent. */
export const isWrong = ({ code }: Problem): boolean => code !== 'untested';

/** How deep a value is looked at, in how many steps, and how much is said. */
const DEEPEST = 24;
const MOST_STEPS = 50_000;
const MOST_PROBLEMS = 20;
const LONGEST = 120;

/** Everything about `value` that the schema does not allow. */
export function validate(schema: unknown, value: unknown): Problem[] {
  const root = isSchema(schema) ? schema : {};
  const found = new Check(root).at(root, value, '', 0);
  // What is said once and again by schemas that hold together counts once.
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()].slice(0, MOST_PROBLEMS);
}

/** Values that are the same have the same text. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  if (!isArgs(value)) return JSON.stringify(value) ?? 'null';
  const pairs = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${written(one)}`);
  return `{${pairs.sort().join(',')}}`;
}

const short = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
const named = (values: unknown[]) =>
  short(values.map((one) => (typeof one === 'string' ? one : written(one))).join(', '));
const bound = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

class Check {
  private readonly shapes: Shapes;
  private readonly patterns = new Patterns();
  private steps = 0;

  constructor(root: Schema) {
    this.shapes = new Shapes(root);
  }

  at(schema: unknown, value: unknown, path: string, depth: number): Problem[] {
    if (schema === false) return [{ path, code: 'unknown', expected: '' }];
    if (!isSchema(schema) || depth > DEEPEST || ++this.steps > MOST_STEPS) return [];
    const shape = this.shapes.plain(schema);
    if (value === null && shape[NULLABLE]) return [];
    const types = typesOf(shape);
    if (types.length > 0 && !types.some((type) => isOf(type, value))) {
      return [{ path, code: 'type', expected: types.join(', ') }];
    }
    if (value === null && types.includes('null')) return [];
    const listed = this.listed(shape, value, path);
    if (listed.length > 0) return listed;
    const all = listOf(shape.allOf).flatMap((one) => this.at(one, value, path, depth + 1));
    return [...this.branches(shape, value, path, depth), ...all, ...this.inside(shape, value, path, depth)];
  }

  private inside(shape: Schema, value: unknown, path: string, depth: number): Problem[] {
    if (typeof value === 'number') return checkNumber(shape, value, path);
    if (typeof value === 'string') return this.text(shape, value, path);
    if (Array.isArray(value)) return this.list(shape, value, path, depth);
    return isArgs(value) ? this.object(shape, value, path, depth) : [];
  }

  /** One value, or one of several. */
  private listed(shape: Schema, value: unknown, path: string): Problem[] {
    if (Object.hasOwn(shape, 'const') && written(shape.const) !== written(value)) {
      return [{ path, code: 'exact', expected: named([shape.const]) }];
    }
    if (!Array.isArray(shape.enum)) return [];
    const isThere = shape.enum.some((one) => written(one) === written(value));
    return isThere ? [] : [{ path, code: 'choice', expected: named(shape.enum) }];
  }

  /** What is wrong in the one branch that is meant, or that it is none of them. */
  private branches(shape: Schema, value: unknown, path: string, depth: number): Problem[] {
    const choices = Array.isArray(shape.enum) ? null : this.shapes.choices(shape);
    const tried: Problem[][] = [];
    for (const one of branchesOf(shape)) {
      const problems = this.at(one, value, path, depth + 1);
      if (!problems.some(isWrong)) return problems;
      tried.push(problems);
    }
    if (tried.length === 0) return [];
    if (choices) return [{ path, code: 'choice', expected: named(choices) }];
    const meant = tried.filter((problems) => !problems.some((one) => one.path === path && one.code === 'type'));
    return (meant.length === 1 && meant[0]) || [{ path, code: 'branch', expected: '' }];
  }

  private text(shape: Schema, value: string, path: string): Problem[] {
    const [least, most] = [bound(shape.minLength), bound(shape.maxLength)];
    const found: Problem[] = [];
    if (least !== null || most !== null) {
      found.push(
        ...between([...value].length, least, most).map((expected): Problem => {
          return { path, code: 'length', expected };
        }),
      );
    }
    if (typeof shape.pattern !== 'string') return found;
    const fits = this.patterns.fit(shape.pattern, value);
    if (fits === true) return found;
    return [...found, { path, code: fits === null ? 'untested' : 'pattern', expected: short(shape.pattern) }];
  }

  private list(shape: Schema, value: unknown[], path: string, depth: number): Problem[] {
    const count = between(value.length, bound(shape.minItems), bound(shape.maxItems));
    const found = count.map((expected): Problem => ({ path, code: 'items', expected }));
    if (shape.uniqueItems === true && new Set(value.map(written)).size < value.length) {
      found.push({ path, code: 'unique', expected: '' });
    }
    const [first, rest] = Array.isArray(shape.items)
      ? [shape.items, shape.additionalItems]
      : [listOf(shape.prefixItems), shape.items];
    const inner = value.flatMap((one, at) =>
      this.at(at < first.length ? first[at] : rest, one, `${path}[${at}]`, depth + 1),
    );
    return [...found, ...inner];
  }

  private object(shape: Schema, value: Args, path: string, depth: number): Problem[] {
    const at = (name: string) => (path ? `${path}.${name}` : name);
    const properties = isSchema(shape.properties) ? shape.properties : {};
    const names = Object.keys(value);
    const needed = isSchema(shape.dependentRequired) ? shape.dependentRequired : {};
    const required = [
      ...listOf(shape.required),
      ...names.flatMap((name) => (Object.hasOwn(needed, name) ? listOf(needed[name]) : [])),
    ];
    const missing = [...new Set(required)]
      .filter((name): name is string => typeof name === 'string' && !Object.hasOwn(value, name))
      .map((name): Problem => ({ path: at(name), code: 'required', expected: '' }));
    const count = between(names.length, bound(shape.minProperties), bound(shape.maxProperties));
    const sized = count.map((expected): Problem => ({ path, code: 'properties', expected }));
    const found = names.flatMap((name) =>
      this.of(shape, properties, name).flatMap((property) => this.at(property, value[name], at(name), depth + 1)),
    );
    return [...missing, ...sized, ...found];
  }

  /** The schemas of what stands under a name. */
  private of(shape: Schema, properties: Args, name: string): unknown[] {
    const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
    const patterns = isSchema(shape.patternProperties) ? Object.entries(shape.patternProperties) : [];
    const fits = patterns.map(([pattern, schema]) => ({ schema, fits: this.patterns.fit(pattern, name) }));
    const known = [...own, ...fits.filter((one) => one.fits === true).map((one) => one.schema)];
    const isUnknown = known.length === 0 && fits.every((one) => one.fits === false);
    return isUnknown ? [shape.additionalProperties] : known;
  }
}

/** The bounds that a figure is not within. */
const between = (figure: number, least: number | null, most: number | null): string[] => [
  ...(least !== null && figure < least ? [`≥ ${least}`] : []),
  ...(most !== null && figure > most ? [`≤ ${most}`] : []),
];

function checkNumber(shape: Schema, value: number, path: string): Problem[] {
  const found = between(value, bound(shape.minimum), bound(shape.maximum));
  const [above, below, step] = [bound(shape.exclusiveMinimum), bound(shape.exclusiveMaximum), bound(shape.multipleOf)];
  if (above !== null && value <= above) found.push(`> ${above}`);
  if (below !== null && value >= below) found.push(`< ${below}`);
  const problems = found.map((expected): Problem => ({ path, code: 'range', expected }));
  if (step === null || step <= 0) return problems;
  // 0.3 is a multiple of 0.1, as people write numbers.
  const times = value / step;
  const isMultiple = Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
  return isMultiple ? problems : [...problems, { path, code: 'multiple', expected: String(step) }];
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isArgs(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
