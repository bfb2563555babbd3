// What a command prints with --json, against the schema that its help names.
import { expect } from 'vitest';
import { schemas } from '../../src/build/build-time.js';
import { commands, namedBy } from '../../src/cli/commands.js';
import { compileSchema } from '../../src/core/schema/compile-schema.js';
import type { SchemaError } from '../../src/core/schema/schema-faults.js';

type SchemaName = keyof typeof schemas;

/** The schema of each command that prints JSON of its own; the others print what the node answers, by its OpenAPI document. */
export async function schemaNames(): Promise<ReadonlyMap<string, SchemaName>> {
  const named = await Promise.all(
    commands.map(async ({ name, load }) => {
      const words = (await load()).options['json']?.description ?? '';
      return [name, /schema\/(.+)\.schema\.json/.exec(words)?.[1] as SchemaName | undefined] as const;
    }),
  );
  return new Map(named.flatMap(([name, schema]) => (schema === undefined ? [] : [[name, schema] as const])));
}

const compiled = new Map<SchemaName, ReturnType<typeof compileSchema>>();

/** Of several scenarios a list, of cells and of what goes on a line for each. A refusal has a shape of its own. */
export async function expectAnswer(words: readonly string[], out: string): Promise<void> {
  const schema = (await schemaNames()).get(namedBy(words)?.name ?? '');
  if (schema === undefined) return;
  const check = compiled.get(schema) ?? compileSchema(schemas[schema]);
  compiled.set(schema, check);
  for (const answer of answersIn(out))
    if (!('ok' in answer && answer.ok === false)) expect(faultsOf(check.errors(answer))).toBe('');
}

function answersIn(out: string): readonly object[] {
  try {
    return [JSON.parse(out) as object].flat();
  } catch {
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as object);
  }
}

const faultsOf = (errors: readonly SchemaError[]) =>
  errors.map((error) => `${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`).join('\n');
