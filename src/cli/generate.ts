// `weir generate`: the requests of a scenario as lines of a log on standard output, no faster than they are read.

import { once } from 'node:events';
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import { readInstant } from '../traffic/log/instant.js';
import type { GivenTo } from './command.js';
import { checkSeed, seedOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', { type: 'string', demandOption: true, describe: 'scenario file (YAML or JSON)' })
    .option('seed', seedOption)
    .option('start', {
      type: 'string',
      default: '2026-01-01T00:00:00Z',
      requiresArg: true,
      describe: 'time from which the first cycle begins, ISO 8601',
    })
    .example('$0 generate scenarios/burst.yaml > burst.log', 'a log to try other tools with, or to replay')
    .example('$0 generate scenarios/many-tenants.yaml | $0 replay - --key client', 'one limiter for each client');

type Given = GivenTo<typeof options>;

/** Characters that are gathered before they are written. */
const CHUNK = 64 * 1024;

export async function run(given: Given): Promise<void> {
  const { scenario: path, seed, start } = given;
  checkSeed(seed);
  const fromMs = startOf(start);
  const [{ loadScenario }, { requestsOf }, { combinedLine }] = await Promise.all([
    import('../scenario/load-scenario.js'),
    import('../simulate/generate.js'),
    import('../traffic/log/write.js'),
  ]);
  const scenario = await loadScenario(path);
  // The first cycle of the scenario begins with one of the clock: then a replay counts the same requests in each.
  const startMs = Math.ceil(fromMs / scenario.cycleMs) * scenario.cycleMs;
  let chunk = '';
  let number = 0;
  for await (const { ms, contract } of requestsOf(scenario, seed)) {
    chunk += `${combinedLine(startMs + ms, contract, number)}\n`;
    number += 1;
    if (chunk.length < CHUNK) continue;
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    chunk = '';
  }
  process.stdout.write(chunk);
}

/** The last day that a log can tell. */
const LAST_MS = Date.UTC(9999, 11, 31);

function startOf(text: string): number {
  const bytes = new TextEncoder().encode(text);
  const ms = readInstant(bytes, 0, bytes.length, 's');
  if (ms >= 0 && ms <= LAST_MS) return ms;
  throw new Failure('wrong_usage', {
    what: `--start cannot be read: "${text}".`,
    why: 'It takes a time from 1970 to 9999.',
    fix: 'For example --start 2026-01-01T00:00:00Z.',
  });
}
