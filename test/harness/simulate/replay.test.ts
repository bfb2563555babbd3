import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { lastValueFrom, tap } from 'rxjs';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { CYCLE_MS } from '../../../src/core/time/cycle.js';
import { LogRequests } from '../../../src/harness/simulate/log-requests.js';
import { type Replay, type ReplayOptions, replay, toReplay } from '../../../src/harness/simulate/replay.js';
import { replay$ } from '../../../src/harness/simulate/stream.js';
import { NaiveLimiter } from '../../core/limiter/naive-limiter.js';
import { forAllAsync } from '../../draws.js';
import { failureIn } from '../../failures.js';
import { temporaryFiles } from '../../left-behind.js';
import { checkOutcome, everyCycle } from './running.js';

const { folder, file } = temporaryFiles();

interface Given extends Partial<ReplayOptions> {
  readonly threshold?: number;
  readonly within?: number;
}

async function run(
  paths: string | readonly string[],
  { threshold = 100, within = 60, ...options }: Given = {},
): Promise<Replay> {
  const ran = await replay([paths].flat(), {
    name: 'log',
    cycleMs: CYCLE_MS,
    plan: planContract(rateLimiter({ threshold, within })),
    log: {},
    ...options,
  });
  checkOutcome(ran.outcome);
  return ran;
}

it('any log gives what the naive limiter gives, by client or whole, in any order of lines and at any time', async () => {
  await forAllAsync(
    [
      fc.record({
        origin: fc.constantFrom(0, -400 * CYCLE_MS, -20, 1_000_000, 2 ** 31 * CYCLE_MS - 9000, 1.8e12),
        lines: fc.array(
          fc.tuple(fc.integer({ min: 0, max: 40_000 }), fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 4 })),
          { minLength: 1, maxLength: 40 },
        ),
        threshold: fc.integer({ min: 1, max: 9 }),
        within: fc.integer({ min: 1, max: 20 }),
        isKeyed: fc.boolean(),
      }),
    ],
    async ({ origin, lines, threshold, within, isKeyed }) => {
      const path = file('any.csv', `ms,who,n\n${lines.map(([ms, who, n]) => `${origin + ms},${who},${n}`).join('\n')}`);
      const { outcome, timeline } = await run(path, {
        threshold,
        within,
        log: { timeColumn: 'ms', timeUnit: 'ms', countColumn: 'n', keyColumn: isKeyed ? 'who' : undefined },
      });
      const cycleAt = (ms: number) => Math.floor((origin + ms) / CYCLE_MS);
      const cycles = lines.map(([ms]) => cycleAt(ms));
      const [first, last] = [Math.min(...cycles), Math.max(...cycles) + within];
      expect([outcome.first_cycle, outcome.last_cycle]).toEqual([first, last]);
      for (const { id, requests, limited, transitions } of outcome.by_contract) {
        const own = lines.filter(([, who]) => !isKeyed || who === id);
        const naive = new NaiveLimiter(threshold, within, first - 1);
        const told = [];
        for (let cycle = first; cycle <= last; cycle += 1) {
          const n = own.reduce((sum, [ms, , count]) => sum + (cycleAt(ms) === cycle ? count : 0), 0);
          const { admitted } = naive.decide(n, cycle);
          told.push({ requests: n, admitted, count: naive.count, state: naive.state });
        }
        expect(everyCycle(timeline!, id, first, last)).toEqual(told);
        expect({ requests, limited, transitions }).toEqual({
          requests: told.reduce((sum, one) => sum + one.requests, 0),
          limited: told.reduce((sum, one) => sum + one.requests - one.admitted, 0),
          transitions: [...naive.transitions],
        });
      }
      expect(outcome.contracts).toBe(isKeyed ? new Set(lines.map(([, who]) => who)).size : 1);
    },
  );
});

// biome-ignore format: one case a line
it.each<[what: string, text: string, figures: object]>([
  ['millions of idle cycles between two requests', 't\n0\n31536000\n', { requests: 2, first_cycle: 0, last_cycle: 40586872 + 60 }],
  ['centuries between two requests', 't\n1970-01-01T00:00:00Z\n2300-01-01T00:00:00Z\n',
    { requests: 2, first_cycle: 0, last_cycle: Math.floor(Date.UTC(2300, 0, 1) / CYCLE_MS) + 60 }],
  ['before 1970', 't\n1969-12-31T23:59:59.999Z\n', { requests: 1, first_cycle: -1, last_cycle: 59 }],
  ['no line feed at the end', 't\n777', { requests: 1, first_cycle: 1000 }],
  ['lines that are no request', 't\nnothing\n777\n\nx\n', { requests: 1, skipped_lines: 2 }],
  ['a byte order mark and Windows lines', '\uFEFFt\r\n777\r\n', { requests: 1, skipped_lines: 0 }],
])('a log is replayed whatever its times and lines are: %s', async (_, text, figures) => {
  const { outcome } = await run(file('edge.csv', text), { log: { format: 'csv', timeColumn: 't' } });
  expect(outcome).toMatchObject(figures);
});

// biome-ignore format: one case a line
it.each<[what: string, path: string, code: string]>([
  ['an empty file', file('empty.log', ''), 'no_requests'],
  ['a folder', folder, 'unreadable_file'],
  ['a missing file', join(folder, 'nowhere.log'), 'unreadable_file'],
  ['a binary file', file('noise.bin', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256))), 'unknown_format'],
  ['a picture', file('a.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])), 'unknown_format'],
  ['a cut gzip file', file('cut.gz', gzipSync('x'.repeat(1000)).subarray(0, 15)), 'unreadable_file'],
  ['a log without any request', file('words.log', 'hello\nworld\n'), 'unknown_format'],
])('%s is refused in words, with its path', async (_, path, code) => {
  expect(await failureIn(run(path))).toMatchObject({ code, what: expect.stringContaining(path) });
});

const text = `t\n${Array.from({ length: 200_000 }, (_, index) => index).join('\n')}\n`;

it('a replay that is stopped while its log is read replays what was read to its end', async () => {
  const controller = new AbortController();
  const { outcome, readings } = await run(file('long.csv', text), {
    log: { timeColumn: 't' },
    signal: controller.signal,
    onRead: () => controller.abort(),
  });
  expect(readings[0]!.interrupted).toBe(true);
  expect(outcome.partial).toBe(true);
  expect(outcome.requests).toBe(readings[0]!.requests);
  expect(outcome.requests).toBeGreaterThan(0);
  expect(outcome.requests).toBeLessThan(200_000);
});

it('a replay that is stopped while it runs has the figures of what was done so far', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const requests = new LogRequests([file('long.csv', text)], { log: { timeColumn: 't' }, signal });
  const rows = replay$(requests, planContract(rateLimiter())).pipe(tap(() => controller.abort()));
  const { outcome } = await lastValueFrom(rows.pipe(toReplay(requests, { name: 'long.csv', cycleMs: 777 })));
  expect([outcome.partial, outcome.requests > 0, outcome.requests < 200_000]).toEqual([true, true, true]);
});

it('several logs are one, in order of time', async () => {
  const [early, late] = [file('early.csv', 't\n10\n20\n'), file('late.csv.gz', gzipSync('t\n15\n30\n'))];
  const both = await run([late, early], { log: { timeColumn: 't' } });
  const whole = await run(file('whole.csv', 't\n10\n15\n20\n30\n'), { log: { timeColumn: 't' } });
  expect(both.outcome).toEqual(whole.outcome);
});
