// Logs of whole seconds under a rule that decides by the ms.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limiterDefinition } from '../../../src/core/limiter/products/limiter-spec.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { cycleOf } from '../../../src/core/time/cycle.js';
import { compareLogs } from '../../../src/harness/simulate/compare-logs.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { ReorderBuffer } from '../../../src/harness/traffic/reorder-buffer.js';
import { spreadSeconds } from '../../../src/harness/traffic/spread.js';
import { adviceOfLogs } from '../../../src/tools/recommend/recommend.js';
import { familyLadder, fitLadder } from '../../../src/tools/recommend/rule-ladder.js';
import { forAll } from '../../draws.js';
import { temporaryFiles } from '../../left-behind.js';

const { file } = temporaryFiles();
const START_MS = Date.UTC(2026, 0, 5, 8);

/** A log of requests at some ms, which it writes to the ms or in whole seconds. */
function logOf(name: string, times: readonly number[], digits: 0 | 3): string {
  const lines = times.map((ms) => {
    const iso = new Date(START_MS + ms).toISOString();
    const time = `05/Jan/2026:${iso.slice(11, digits === 0 ? 19 : 23)} +0000`;
    return `10.0.0.1 - - [${time}] "GET / HTTP/1.1" 200 12 "-" "-"\n`;
  });
  return file(`${name}-${digits}.log`, lines.join(''));
}

const nginx = { like: 'nginx', rate: '10r/s', burst: 2, nodelay: true };
const limitedOf = async (path: string, limiter: Record<string, unknown>) => {
  const plan = planContract(limiterDefinition(limiter, 777));
  const { outcome, warnings } = await replay([path], { name: 'log', cycleMs: 777, plan, log: {} });
  return [outcome.requests, outcome.limited, warnings.map(({ code }) => code)];
};

// Ten a second, for a minute.
const even = Array.from({ length: 600 }, (_, k) => 100 * k);

it.each([
  ['nginx', nginx],
  ['GCRA', { primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } }],
  ['a bucket', { primitive: 'token_bucket', params: { rate: 10, per_ms: 1000, capacity: 1 } }],
])('under %s a log of whole seconds loses nothing of an even client, and says what is assumed', async (_, limiter) => {
  expect(await limitedOf(logOf('even', even, 3), limiter)).toEqual([600, 0, []]);
  expect(await limitedOf(logOf('even', even, 0), limiter)).toEqual([600, 0, ['whole_seconds']]);
});

it('what is more than the rate is limited in a log of whole seconds as in one of ms', async () => {
  const twice = Array.from({ length: 1200 }, (_, k) => 50 * k);
  const [fine, whole] = [
    await limitedOf(logOf('twice', twice, 3), nginx),
    await limitedOf(logOf('twice', twice, 0), nginx),
  ];
  expect([whole[0], whole[1]]).toEqual([fine[0], fine[1]]);
});

it('a replay says how many would be limited if all of a second came at its beginning', async () => {
  const plan = planContract(limiterDefinition(nginx, 777));
  const { warnings } = await replay([logOf('range', even, 0)], { name: 'log', cycleMs: 777, plan, log: {} });
  // Of the ten at the beginning of each second three pass, one at once and a burst of two.
  expect(warnings[0]?.what).toContain('So 0 are limited; 420 would be if all of a second came at its beginning.');
});

it('each compared rule and recommended limit says what it is if all of a second came at its beginning', async () => {
  const path = logOf('ranges', even, 0);
  const gcra = { primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } };
  const window = { primitive: 'rolling_count', params: { threshold: 50, within: 10, cycle_ms: 777 } };
  const candidates = [
    { name: 'weir', definition: window as never },
    { name: 'gcra', definition: gcra as never },
  ];
  const { warnings } = await compareLogs([path], candidates, {}, {});
  // One of the ten at the beginning of each second passes.
  expect(warnings[0]?.what).toContain('gcra limits 0 so, and 540 if all of a second came at its beginning.');
  const rules = [fitLadder({ like: 'nginx', rate: '10r/s', nodelay: true }, 'burst=0..20:1', 1000)];
  const advised = await adviceOfLogs([path], { windowCycles: [10], shares: [0.01], cycleMs: 1000, log: {}, rules });
  // Ten at once: one passes, nine are the burst.
  expect(advised.warnings[0]?.what).toContain(
    'nginx burst for 1 % needs 0 so, and 9 if all of a second came at its beginning.',
  );
});

it('a window counts a log of whole seconds as it is read, beside other rules too', async () => {
  const path = logOf('window', even, 0);
  const window = { primitive: 'rolling_count', params: { threshold: 50, within: 10, cycle_ms: 777 } };
  const [, limited, warnings] = await limitedOf(path, { threshold: 50, within: 10 });
  expect(warnings).toEqual([]);
  expect(await limitedOf(path, window)).toEqual([600, limited, []]);
  const candidates = [window, { primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } }];
  const compared = await compareLogs(
    [path],
    candidates.map((definition, index) => ({ name: String(index), definition: definition as never })),
    {},
    {},
  );
  expect(compared.rules.map((one) => one.limited)).toEqual([limited, 0]);
  const windows = ['a', 'b'].map((name) => ({ name, definition: window as never }));
  const alike = await compareLogs([path], windows, {}, {});
  expect([alike.rules.map((one) => one.limited), alike.warnings]).toEqual([[limited, limited], []]);
  const asked = { windowCycles: [10], shares: [0.01], cycleMs: 777, log: {} };
  const alone = await adviceOfLogs([path], asked);
  const beside = await adviceOfLogs([path], { ...asked, rules: [familyLadder('gcra', 10, 777)] });
  expect(beside.advice.recommendations).toEqual(alone.advice.recommendations);
  expect([alone.warnings.length, beside.warnings.length]).toEqual([0, 1]);
});

it('a log is left as it is where its unit is ms, or one of its times has a fraction', async () => {
  const ms = file('ms.ndjson', even.map((at) => `{"t_ms":${START_MS + at - (at % 1000)}}\n`).join(''));
  expect((await limitedOf(ms, nginx))[1]).toBeGreaterThan(200);
  expect((await limitedOf(logOf('mixed', [0, 0, 0, 0, 0, 0, 1500], 3), nginx))[1]).toBe(3);
});

it('every request stays in its second, in order, evenly for each contract', () => {
  const row = fc.record({
    contract: fc.nat(2),
    second: fc.integer({ min: -3, max: 3 }),
    n: fc.integer({ min: 1, max: 5 }),
  });
  forAll([fc.array(row, { maxLength: 30 })], (rows) => {
    const buffer = new ReorderBuffer({ keys: [], isTimed: true });
    for (const { contract, second, n } of rows) buffer.add(contract, second * 1000, n);
    const seen: string[] = [];
    for (const batch of spreadSeconds(buffer.release(1000), { cycleMs: 777 }))
      for (const [k, ms] of batch.instants!.entries()) {
        expect(cycleOf(ms, 777)).toBe(batch.cycle);
        seen.push(...Array<string>(batch.requests[k]!).fill(`${ms} ${batch.contracts[k]}`));
      }
    const totals = new Map<string, number>();
    for (const { contract, second, n } of rows)
      totals.set(`${second} ${contract}`, (totals.get(`${second} ${contract}`) ?? 0) + n);
    const wanted = [...totals].flatMap(([place, n]) => {
      const [second = 0, contract] = place.split(' ').map(Number);
      return Array.from({ length: n }, (_, k) => `${1000 * second + Math.floor((1000 * k) / n)} ${contract}`);
    });
    const times = seen.map((text) => Number(text.split(' ')[0]));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect([...seen].sort()).toEqual(wanted.sort());
  });
});
