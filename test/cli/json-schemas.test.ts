// Each command that prints JSON has a published schema, which its help names. `weirHere` holds what is printed to it, here and in all tests.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { schemas } from '../../src/build/build-time.js';
import { commands } from '../../src/cli/commands.js';
import { tablesBeside } from '../tables-beside.js';
import { smallScenario, temporaryFolder, weirHere } from './command-line.js';
import { expectAnswer, schemaNames } from './json-answer.js';

const tables = tablesBeside(import.meta.url);

const folder = temporaryFolder();

beforeAll(async () => {
  const nginx = (rate: string) =>
    `limit_req_zone $binary_remote_addr zone=z:10m rate=${rate};\nserver { location / { limit_req zone=z burst=3; } }\n`;
  const line = (_: unknown, i: number) =>
    `192.0.2.${i % 3} - - [17/Jan/2026:10:00:${String(i % 60).padStart(2, '0')} +0000] "GET /a HTTP/1.1" 200 10 "-" "x"`;
  for (const [name, text] of Object.entries({
    'small.yaml': smallScenario,
    'old.conf': nginx('5r/s'),
    'new.conf': nginx('1r/m'),
    'access.log': Array.from({ length: 60 }, line).join('\n'),
  }))
    writeFileSync(join(folder, name), text);
  await weirHere('simulate small.yaml --out a', {}, '', folder);
  await weirHere('simulate small.yaml --seed 2 --out b', {}, '', folder);
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

it.each<string>(tables.commands)('weir %s --json', async (words) => {
  const out = /^(?:report|limiter|client|identify)|--find/.test(words) ? '' : ' --out none';
  const { out: printed } = await weirHere(`${words}${out} --json`, {}, '', folder);
  expect(printed).toMatch(/^[[{]/);
});
