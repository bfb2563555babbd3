import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lastInstantOf } from '../../../src/core/time/cycle.js';
import { temporaryFiles } from '../../left-behind.js';
import { drawn, everyCycle, run } from './running.js';

const { folder, file } = temporaryFiles();

// Cycles of 1 s, from cycle 1000 on:   a 2 1 . . 3     b . 1 . 1 .
file('log.csv', 'time,who\n1000,a\n1000,a\n1001,b\n1001,a\nnonsense\n1003,b\n1005,a\n1005,a\n1005,a\n');
const path = join(folder, 'scenario.yaml');
const text = (fields: string, more = '') =>
  `question: Q?\ncycle_ms: 1000\nlimiter: { threshold: 1, within: 2 }\narrivals: [{ model: log, file: log.csv${fields} }]\n${more}`;

// biome-ignore format: one case a line
it.each<[what: string, fields: string, more: string, lines: Record<string, string>]>([
  ['begins with its first request', '', '', { all: '[2:1] [2:0] [.] 1:1 . [3:1] [.] .' }],
  ['later, when it is told to', ', from: 2', '', { all: '. . [2:1] [2:0] [.] 1:1 . [3:1] [.] .' }],
  ['ends when it is told to', ', to: 2', '', { all: '[2:1] [2:0] [.] .' }],
  ['ends with the scenario', '', 'duration: 1\n', { all: '[2:1] [.] .' }],
  ['by key', ', key_column: who', '', { a: '[2:1] [1:0] . . . [3:1] [.] .', b: '. 1:1 . 1:1 . . . .' }],
  ['by key, later', ', key_column: who, from: 1', '', { a: '. [2:1] [1:0] . . . [3:1] [.] .', b: '. . 1:1 . 1:1 . . . .' }],
  ['by key, up to a cycle', ', key_column: who, to: 2', '', { a: '[2:1] [1:0] . .', b: '. 1:1 . .' }],
  ['sent by clients', '', 'clients: [{ kind: open }]\n', { all: '[2:1] [2:0] [.] 1:1 . [3:1] [.] .' }],
])('the requests of a log arrive in the cycles of their times: %s', async (_, fields, more, lines) => {
  const { outcome, timeline } = await run(text(fields, more), {}, path);
  const told = Object.keys(lines).map((contract) => [
    contract,
    drawn(everyCycle(timeline!, contract, 0, outcome.last_cycle!)),
  ]);
  expect([Object.fromEntries(told), outcome.skipped_lines]).toEqual([lines, 1]);
});

// Ten a second for a minute, and a key with half of that.
const rows = Array.from({ length: 600 }, (_, k) => `${1000 + Math.floor(k / 10)},${k % 2 === 0 ? 'a' : 'b'}\n`);
file('even.csv', `time,who\n${rows.join('')}`);
const scenario = (limiter: string, fields = '', more = '') =>
  `question: Q?\nlimiter: ${limiter}\narrivals: [{ model: log, file: even.csv${fields} }]\n${more}`;
const said = expect.stringContaining('The times of even.csv are whole seconds');

it.each([
  ['{ like: nginx, rate: 10r/s, burst: 1, nodelay: true }', ''],
  ['{ primitive: gcra, params: { T_ms: 99, tau_ms: 0 } }', ''],
  ['{ like: nginx, rate: 5r/s, burst: 1, nodelay: true }', ', key_column: who'],
])('a log of whole seconds is spread over its seconds by the seed, and that is said: %s%s', async (limiter, fields) => {
  const { outcome } = await run(scenario(limiter, fields), {}, path);
  expect([outcome.requests, outcome.limited, outcome.notes]).toEqual([600, 0, [said]]);
  const other = await run(scenario(limiter, fields, 'seed: 8\n'), {}, path);
  expect([other.outcome.requests, other.outcome.limited]).toEqual([600, 0]);
});

it.each([
  ['{ threshold: 1000, within: 2 }', ''],
  ['{ like: nginx, rate: 10r/s, burst: 1, nodelay: true }', ', placement: start'],
])('a log of whole seconds stays as it is under a window, or with a placement given: %s%s', async (limiter, fields) => {
  const { outcome } = await run(scenario(limiter, fields), {}, path);
  expect([outcome.requests, outcome.notes]).toEqual([600, undefined]);
});

it.each([
  [0, 777],
  [-1, 777],
  [-400, 1],
  [2_305_120_007, 777],
  [2 ** 47 - 1, 1],
  [181_000_000_000, 777],
])('the last instant of cycle %i of %i ms lies in it, and nothing to speak of behind it', (cycle, cycleMs) => {
  const last = lastInstantOf(cycle, cycleMs);
  expect(Math.floor(last / cycleMs)).toBe(cycle);
  expect((cycle + 1) * cycleMs - last).toBeLessThan(0.1);
});
