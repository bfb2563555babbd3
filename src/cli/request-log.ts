// `weir simulate --log`: the requests of a scenario as a combined log, written with backpressure.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Seed } from '../math/seed.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { writing } from '../schema/unwritable.js';
import { requestsOf } from '../simulate/scenario-traffic.js';
import { combinedLine } from '../traffic/log/write.js';

const START_MS = Date.UTC(2026, 0, 1);
const CHUNK = 64 * 1024;

export async function writeRequestLog(path: string, scenario: LoadedScenario, seed: Seed | undefined): Promise<void> {
  const lines = Readable.from(chunksOf(scenario, seed));
  if (path === '-') return pipeline(lines, process.stdout, { end: false });
  await writing(path, 'Name another file with --log.', () => pipeline(lines, createWriteStream(path)));
}

async function* chunksOf(scenario: LoadedScenario, seed: Seed | undefined): AsyncGenerator<string> {
  // The scenario's first cycle is aligned to the clock, so that a replay counts the same requests per cycle.
  const startMs = Math.ceil(START_MS / scenario.cycleMs) * scenario.cycleMs;
  let chunk = '';
  let number = 0;
  for await (const { ms, contract } of requestsOf(scenario, seed)) {
    chunk += `${combinedLine(startMs + ms, contract, number)}\n`;
    number += 1;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
