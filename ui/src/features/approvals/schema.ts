/** A JSON Schema as a tool says it, read one level at a time. It may come from anyone: nothing of it is followed for ever. */

/** Set on the schema of an option, whose type is that of its one real branch. */
export const NULLABLE = Symbol('nullable');

export type Schema = Record<string, unknown> & { [NULLABLE]?: boolean };
export type Args = Record<string, unknown>;

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

export const isArgs = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isSchema: (value: unknown) => value is Schema = isArgs;

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The schemas within one, each with its references followed. */
export class Shapes {
  private readonly known = new Map<Schema, Schema>();

  constructor(private readonly root: Schema) {}

  /** A schema with its references followed and the `null` branch of an option folded into its type. */
  plain(schema: unknown): Schema {
    if (!isSchema(schema)) return {};
    const known = this.known.get(schema);
    if (known) return known;
    // What leads back to itself says nothing there.
    this.known.set(schema, {});
    const shape = this.read(schema);
    this.known.set(schema, shape);
    return shape;
  }

  private read(schema: Schema): Schema {
    if (typeof schema.$ref === 'string') {
      const { $ref, ...beside } = schema;
      return { ...this.plain(this.referred($ref as string)), ...beside };
    }
    const branches = branchesOf(schema);
    const real = branches.filter((branch) => this.plain(branch).type !== 'null');
    if (branches.length === 2 && real.length === 1) {
      const { anyOf: _any, oneOf: _one, ...beside } = schema;
      return { ...this.plain(real[0]), ...beside, [NULLABLE]: true };
    }
    const all = listOf(schema.allOf);
    return all.length === 1 ? { ...this.plain(all[0]), ...schema } : schema;
  }

  private referred(reference: string): unknown {
    let at: unknown = this.root;
    for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      at = isSchema(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }

  /** The texts an enumeration allows; `null` where it is none or holds other things. */
  choices(shape: Schema): string[] | null {
    const listed = Array.isArray(shape.enum) ? shape.enum : branchesOf(shape).map((one) => this.plain(one).const);
    const texts = listed.filter((one): one is string => typeof one === 'string');
    const rest = listed.filter((one) => typeof one !== 'string' && one !== null);
    return texts.length > 0 && rest.length === 0 ? texts : null;
  }
}

export const branchesOf = (schema: Schema): unknown[] =>
  [schema.anyOf, schema.oneOf].find((list): list is unknown[] => Array.isArray(list)) ?? [];

export function typesOf(schema: Schema): string[] {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.filter((type): type is string => typeof type === 'string' && TYPES.includes(type));
}
