// JSON Schemas typed by TypeBox. Builds only the kinds of schemas that Weir uses. compile-schema.ts checks values by them.
//
// Types are TypeBox's own, and each builder returns exactly what TypeBox's does (a test compares the two). They are rewritten
// here because TypeBox loads some 500 modules, a third of the start-up time of a node.
import type * as TypeBox from 'typebox';

type Kinds =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown';

type Plain = Readonly<Record<string, unknown>>;

/** Marks an optional property. Not part of the schema, and not enumerable. */
const OPTIONAL = '~optional';

const builders: { readonly [Kind in Kinds]: (...given: never[]) => Plain } = {
  Array: (items: Plain, options: Plain) => ({ type: 'array', items, ...options }),
  Boolean: (options: Plain) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options: Plain) => ({ enum: values, ...options }),
  Integer: (options: Plain) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean, options: Plain) => ({ type: typeof value, const: value, ...options }),
  Null: (options: Plain) => ({ type: 'null', ...options }),
  Number: (options: Plain) => ({ type: 'number', ...options }),
  Object(properties: Readonly<Record<string, Plain>>, options: Plain) {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional: (schema: Plain) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: (key: Plain, value: Plain, options: Plain) => ({
    type: 'object',
    patternProperties: { [String(key['pattern'] ?? '^.*$')]: value },
    ...options,
  }),
  String: (options: Plain) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Plain[], options: Plain) => ({ anyOf, ...options }),
  Unknown: (options: Plain) => ({ ...options }),
};

/** Builds typed JSON Schemas: `Type.Object({ n: Type.Integer() })`. See the documentation of TypeBox. */
export const Type = builders as unknown as Pick<typeof TypeBox, Kinds>;

/** What is read of a schema, whichever it is. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly (string | number)[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
}

/** What fits a schema, frozen; a field that is optional may be undefined, which JSON leaves out. */
export type Shaped<Schema extends TypeBox.TSchema> = Loose<TypeBox.Static<Schema>>;

type Loose<T> = T extends readonly unknown[]
  ? { readonly [Field in keyof T]: Loose<T[Field]> }
  : T extends object
    ? { readonly [Field in keyof T]: object extends Pick<T, Field> ? Loose<T[Field]> | undefined : Loose<T[Field]> }
    : T;

export type Frozen<T> = T extends object ? { readonly [Field in keyof T]: Frozen<T[Field]> } : T;
