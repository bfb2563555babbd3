// Each command that prints JSON has a published schema, which its help names. `weirHere` holds what is printed to it, here and in all tests.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { schemas } from '../../src/build/build-time.js';
import { commands } from '../../src/cli/commands.js';
import { smallScenario, temporaryFolder, weirHere } from './command-line.js';
import { expectAnswer, schemaNames } from './json-answer.js';

const folder = temporaryFolder();

beforeAll(async () => {
  const line = (_: unknown, i: number) =>
    `192.0.2.${i % 3} - - [17/Jan/2026:10:00:${String(i % 60).padStart(2, '0')} +0000] "GET /a HTTP/1.1" 200 10 "-" "x"`;
  writeFileSync(join(folder, 'small.yaml'), smallScenario);
  writeFileSync(join(folder, 'access.log'), Array.from({ length: 60 }, line).join('\n'));
  await weirHere('simulate small.yaml --out a', {}, '', folder);
});

it('every command that prints JSON names its schema, or says that the node answers', async () => {
  const named = await schemaNames();
  const all = await Promise.all(commands.map(async ({ name, load }) => ({ name, options: (await load()).options })));
  const without = all.filter(({ name, options: { json } }) => json !== undefined && !named.has(name));
  expect(without.filter(({ options }) => !/openapi\.json/.test(options['json']!.description))).toEqual([]);
  expect([...named.values()].filter((schema) => !(schema in schemas))).toEqual([]);
});

it('an answer with a field that its schema has not is found', async () => {
  await expect(expectAnswer(['node', 'evict'], '{"ok":true,"owner":"a","keys":1}')).rejects.toThrow('/machines');
});

// Those of the other commands are asked in their own tests.
it.each(['report a', 'identify --log access.log --key client'])('weir %s --json fits its schema', async (words) => {
  const { out } = await weirHere(`${words} --json`, {}, '', folder);
  expect(out).toMatch(/^[[{]/);
});
