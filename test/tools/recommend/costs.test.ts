// Costs in a column of a log: which column it is, and a limit in its unit beside replays of it.
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { gcra } from '../../../src/core/limiter/rule/gcra.js';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { replay$ } from '../../../src/harness/simulate/stream.js';
import { adviceOn, file, replayOf } from './logs.js';

const cost = { unit: 'tokens' };

/** Rows in any order within a minute, of three clients. */
function logOf(seed: number, rows: number): string {
  const random = fc.sample(
    fc.record({
      gap: fc.integer({ min: 0, max: 900 }),
      who: fc.nat({ max: 2 }),
      a: fc.nat({ max: 60 }),
      b: fc.nat({ max: 9 }),
    }),
    { seed, numRuns: rows },
  );
  let ms = Date.UTC(2026, 0, 1);
  const lines = random.map(({ gap, who, a, b }) => {
    ms += gap;
    return `${new Date(ms).toISOString()},c${who},${a},${b === 0 ? '-' : b}\n`;
  });
  return `time,client,input_tokens,output_tokens\n${lines.join('')}`;
}

it.each([undefined, 'client'])(
  'limits of tokens limit as a replay at every threshold, by key %s',
  async (keyColumn) => {
    const path = file('llm.csv', logOf(7, 3000));
    const log = { cost, keyColumn };
    const { unit, curves, requests } = await adviceOn(path, [60, 7], log);
    expect([unit, requests]).toEqual(['tokens', 3000]);
    for (const { within, peak, points } of curves)
      for (const share of [0.02, 0.2, 0.5, 0.8, 1]) {
        const point = points.find(({ threshold }) => threshold >= share * peak)!;
        const { limited, contracts_limited, peak_count } = await replayOf(path, point.threshold, within, log);
        expect([limited, contracts_limited, peak_count]).toEqual([point.limited, point.keys_limited, peak]);
      }
  },
);

it('a rule is charged the whole cost, at the ms of each request', async () => {
  const text = logOf(3, 1500);
  const params = { T_ms: 20, tau_ms: 2000 };
  const plan = planContract(ruleLimiter({ primitive: 'gcra', params }));
  const { outcome } = await replay([file('llm.csv', text)], { name: 'log', cycleMs: 500, plan, log: { cost } });
  const rule = gcra(params);
  const state = rule.fresh(0);
  const asked = text
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split(','))
    .map(([time, key, a, b]) => ({ at: time!, key: key!, cost: Math.max(1, Number(a) + (b === '-' ? 0 : Number(b))) }));
  const refused = asked.filter((one) => rule.admit(state, Date.parse(one.at), one.cost, 0) === LIMITED);
  expect(refused.length).toBeGreaterThan(100);
  expect(outcome).toMatchObject({ requests: 1500, limited: refused.length });
  const admitted = asked.filter((one) => !refused.includes(one)).reduce((sum, one) => sum + one.cost, 0);
  expect(outcome.costs).toMatchObject({ unit: 'tokens', admitted });
  const rows = await lastValueFrom(
    replay$(
      asked.map(({ at, cost: each }) => ({ at, cost: each })),
      plan,
      { cycleMs: 500, costUnit: 'tokens' },
    ).pipe(toArray()),
  );
  expect(rows.reduce((sum, { totals }) => sum + totals.limited, 0)).toBe(refused.length);
});

const at = '2026-01-01T00:00:01.000Z';
const requested = async (names: string, values: string, given: { unit: string; columns?: string[] } = cost) =>
  (await replayOf(file('t.csv', `time,${names}\n${at},${values}\n`), 1, 60, { cost: given })).costs?.requested;

it.each([
  ['ContextTokens,GeneratedTokens', '40,2', 42],
  ['prompt_tokens,completion_tokens,total_tokens', '40,2,50', 50],
  ['model,max_tokens_used', '7,30', 30],
  ['tokens', '0', 1],
  ['tokens,x', '-,3', 1],
])('the cost in %s of %s is %i', async (names, values, sum) => {
  expect(await requested(names, values)).toBe(sum);
});

it('the columns of a cost are those that are named', async () => {
  expect(await requested('a,b,tokens', '3,4,5', { unit: 'tokens', columns: ['a', 'B'] })).toBe(7);
  await expect(requested('a,b', '3,4', { unit: 'tokens', columns: ['c'] })).rejects.toThrow('has no column c');
});

it.each(['a,b', 'tokens_in,tokens_out'])('columns of a cost are asked for where none of %s is known', async (names) => {
  await expect(requested(names, '3,4')).rejects.toThrow('--count tokens=a+b');
});

it('the costs of an access log are its bytes, and a row whose text is no number is skipped', async () => {
  const line = (bytes: string) => `10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 ${bytes}\n`;
  const { costs, requests } = await replayOf(file('a.log', line('512') + line('-')), 1000, 60, {
    cost: { unit: 'bytes' },
  });
  expect([requests, costs?.requested]).toEqual([2, 513]);
  const rows = `time,tokens\n${at},5\n${at},many\n${at.replace('00:01', '01:31')},7\n`;
  const { skipped_lines, ...broken } = await replayOf(file('b.csv', rows), 100, 60, { cost });
  expect([broken.requests, skipped_lines]).toEqual([2, 1]);
  expect(broken.costs).toMatchObject({ requested: 12, most_in_minute: 7 });
});

it('the costs of whole seconds stay with their requests as those are spread', async () => {
  const rows = Array.from({ length: 40 }, (_, k) => `${1_767_225_600 + (k >> 2)},${k % 4 === 0 ? 90 : 1}\n`).join('');
  const plan = planContract(
    ruleLimiter({ primitive: 'token_bucket', params: { rate: 1, per_ms: 1e9, capacity: 200 } }),
  );
  const { outcome } = await replay([file('s.csv', `ts,tokens\n${rows}`)], {
    name: 's',
    cycleMs: 500,
    plan,
    log: { cost },
  });
  // Two of 90, and then all of 1 until 20 are spent.
  expect(outcome).toMatchObject({ requests: 40, admitted: 22, costs: { requested: 930, admitted: 200 } });
});
