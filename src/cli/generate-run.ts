// Owns the doing of `weir generate`: the requests of a scenario as lines of a log on standard output, no faster than they are read.
import { once } from 'node:events';
import { loadScenario } from '../scenario/load.js';
import { Failure } from '../schema/failure.js';
import { requestsOf } from '../simulate/generate.js';
import { readInstant } from '../traffic/log/instant.js';
import { combinedLine } from '../traffic/log/write.js';
import type { GenerateArguments } from './generate.js';
import { checkSeed } from './options.js';
import { checkSpelling } from './spelling.js';

/** Characters that are gathered before they are written. */
const CHUNK = 64 * 1024;

export async function runGenerate(given: GenerateArguments): Promise<void> {
  checkSpelling(given);
  const { scenario: path, seed, start } = given;
  checkSeed(seed);
  const startMs = startOf(start);
  const scenario = await loadScenario(path);
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
