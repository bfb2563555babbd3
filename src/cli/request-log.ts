// `weir simulate --log`: the requests of a scenario as a combined log, written with backpressure. Its times have milliseconds: they
// determine the cycle.
//
//   10.0.0.7 - - [01/Jan/2026:00:00:03.123 +0000] "GET /item/4 HTTP/1.1" 200 512 "-" "weir"
//   |client|      |------- ms, UTC -------|
import { createWriteStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isSameFile } from '../core/files/same-file.js';
import type { Seed } from '../core/math/seed.js';
import { writing } from '../core/schema/unwritable.js';
import { startOf } from '../core/time/cycle.js';
import type { LoadedScenario } from '../harness/scenario/loaded-scenario.js';
import { scheduleOf, trafficOf } from '../harness/simulate/scenario-traffic.js';
import { usageFailure } from '../report/command/exit-codes.js';

const START_MS = Date.UTC(2026, 0, 1);
const CHUNK = 64 * 1024;

/** @throws Failure `wrong_usage` for a file that the scenario reads */
export async function writeRequestLog(path: string, scenario: LoadedScenario, seed: Seed | undefined): Promise<void> {
  const logs = scenario.arrivals.flatMap(({ log }) => (log ? [resolve(dirname(scenario.source.path), log.file)] : []));
  if (logs.some((log) => isSameFile(path, log)))
    throw usageFailure(`--log ${path} would overwrite a log that the scenario reads.`, 'Name another file.');
  const lines = Readable.from(chunksOf(scenario, seed));
  if (path === '-') return pipeline(lines, process.stdout, { end: false });
  await writing(path, 'Name another file with --log.', () => pipeline(lines, createWriteStream(path)));
}

async function* chunksOf(scenario: LoadedScenario, seed: Seed | undefined): AsyncGenerator<string> {
  // The scenario's first cycle is aligned to the clock, so that a replay counts the same requests per cycle.
  const startMs = Math.ceil(START_MS / scenario.cycleMs) * scenario.cycleMs;
  let chunk = '';
  let number = 0;
  for (const { cycle, contracts, instants } of scheduleOf(await trafficOf(scenario, seed), scenario)) {
    for (const [k, contract] of contracts.entries()) {
      chunk += `${combinedLine(startMs + (instants?.[k] ?? startOf(cycle, scenario.cycleMs)), contract, number)}\n`;
      number += 1;
      if (chunk.length < CHUNK) continue;
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

export const MOST_CLIENTS = 2 ** 24 - 1;

/** No line feed. `unixMs` in the years 0 to 9999, `client` below MOST_CLIENTS; `number` selects one of 100 pages. */
export function combinedLine(unixMs: number, client: number, number: number): string {
  return `${clientAddress(client)} - - [${clfTime(unixMs)}] "GET /item/${number % 100} HTTP/1.1" 200 512 "-" "weir"`;
}

/** In 10.0.0.0/8: client 0 has 10.0.0.1, client 255 has 10.0.1.0. */
export function clientAddress(client: number): string {
  const host = client + 1;
  return `10.${(host >>> 16) & 255}.${(host >>> 8) & 255}.${host & 255}`;
}

function clfTime(unixMs: number): string {
  const iso = new Date(Math.floor(unixMs)).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 23)} +0000`;
}
