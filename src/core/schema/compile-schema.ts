// Checks of values by a JSON Schema. The only file that runs TypeBox; the build bundles its modules into this one.
import type { Static, TSchema } from 'typebox';
import { Check, Compile, Errors } from 'typebox/schema';
import { lengthErrors } from './length-errors.js';
import type { SchemaError } from './schema-faults.js';

interface SchemaCheck<T> {
  fits(value: unknown): value is T;
  /** Empty if the value fits. Excess length is reported first, and alone: see length-errors.ts. */
  errors(value: unknown): readonly SchemaError[];
}

export function compileSchema<S extends TSchema>(schema: S): SchemaCheck<Static<S>> {
  let compiled: ReturnType<typeof Compile> | undefined;
  const check = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    fits: (value): value is Static<S> => check().Check(value),
    errors(value) {
      const tooLong = lengthErrors(schema, value);
      return tooLong.length > 0 ? tooLong : check().Errors(value)[1];
    },
  };
}

/** As `compileSchema(schema).errors(value)`, for a schema that is used once. */
export function schemaErrors(schema: TSchema, value: unknown): readonly SchemaError[] {
  const tooLong = lengthErrors(schema, value);
  return tooLong.length > 0 ? tooLong : Errors(schema, value)[1];
}

/** As `compileSchema(schema).fits(value)`, for a schema that is used once. */
export function fitsSchema(schema: TSchema, value: unknown): boolean {
  return Check(schema, value);
}
