// What a command prints with --json, against the schema that its help names.
import { expect } from 'vitest';
import { schemas } from '../../src/build/build-time.js';
import { commands, namedBy } from '../../src/cli/commands.js';
import { valueFaults } from '../../src/core/schema/value-faults.js';

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

/** Of several scenarios a list, of cells and of what goes on a line for each. A refusal has a shape of its own. */
export async function expectAnswer(words: readonly string[], out: string): Promise<void> {
  const schema = (await schemaNames()).get(namedBy(words)?.name ?? '');
  if (schema === undefined) return;
  for (const answer of answersIn(out))
    if (!('ok' in answer && answer.ok === false)) expect(valueFaults(schemas[schema], answer)).toEqual([]);
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
