// Checks of values by a JSON Schema. The only file that runs TypeBox; the build bundles its modules into this one. What is wrong with a
// value, in words: value-faults.ts.
import type { Static, TSchema } from 'typebox';
import { Check, Compile, Errors } from 'typebox/schema';

export type SchemaError = ReturnType<typeof schemaErrors>[number];

/** Whether a value fits; the schema is compiled for the first one. */
export function compileSchema<S extends TSchema>(schema: S): (value: unknown) => value is Static<S> {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value): value is Static<S> => {
    compiled ??= Compile(schema);
    return compiled.Check(value);
  };
}

/** As `compileSchema(schema)`, for a schema that is used once. */
export function fitsSchema(schema: TSchema, value: unknown): boolean {
  return Check(schema, value);
}

/** Up to eight. */
export function schemaErrors(schema: TSchema, value: unknown) {
  return Errors(schema, value)[1];
}
