// Figure 2 of Bronson, Aghayev, Charapko and Zhu, Metastable Failures in Distributed Systems (HotOS 2021): goodput by load of an ideal web
// application with one retry, before a database that holds 300 queries a second.
//
//   goodput ^             . '|            the upper branch: goodput is the load, up to 300
//           |         . '    |            the lower branch, after a trigger: nothing is answered in time
//           |     . '|       |
//           +-----------------------> load
//             stable 150 vulnerable 300
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type SweepRow, type SweptFigure, sweep } from '../../../src/tools/sweep/sweep.js';

const LOAD = 'arrivals.0.rate';
// A function keeps the runs in this thread.
const written = parse(readFileSync('scenarios/outage.yaml', 'utf8'));
const scenario = { ...written, arrivals: [...written.arrivals, () => 0] };

/** Goodput by what was set, with its 95 % interval over the runs. */
async function swept(set: readonly string[], replications = 3): Promise<SweepRow[]> {
  const rows: SweepRow[] = [];
  for await (const row of sweep(scenario, { set: [...set] }, { replications })) rows.push(row);
  return rows;
}

const goodputOf = ({ figures }: SweepRow) => figures['clients.goodput_per_second']!;
const isWithin = ({ low, high }: SweptFigure, published: number) => low! <= published && published <= high!;

it.each([
  ['without an outage', 'faults=[[]]', [100, 200, 280]],
  ['after one, in the stable zone', 'faults.0.to=15s', [100, 120]],
])('goodput %s is the load', async (_, outage, loads) => {
  const rows = await swept([
    'duration=80s',
    'warm_up=60s',
    outage,
    `${LOAD}=${loads.map((load) => `${load}/s`).join(',')}`,
  ]);
  expect(rows.map((row, index) => [row.set[LOAD], isWithin(goodputOf(row), loads[index]!)])).toEqual(
    loads.map((load) => [`${load}/s`, true]),
  );
});

it('after an outage, in the vulnerable zone, nothing is answered in time, and 280 queries a second are sent as 560', async () => {
  const rows = await swept([`${LOAD}=180/s,280/s`]);
  expect(rows.map(({ set }) => set[LOAD])).toEqual(['180/s', '280/s']);
  expect(rows.map((row) => goodputOf(row).mean)).toEqual([0, 0]);
  const { mean, low, high } = rows[1]!.figures['service.arrived']!;
  const seconds = 15;
  expect(isWithin({ mean, low: low! / seconds, high: high! / seconds }, 560)).toBe(true);
});

it('retries below 20 a second bring it back at 280, and more than 20 do not', async () => {
  const budget = (floor: string) => `{share: 0, floor: ${floor}}`;
  const set = ['faults.0.to=7s', `clients.0.retry_budget=[${budget('5/s')}, ${budget('30/s')}]`];
  const [few, many] = await swept(['warm_up=70s', 'duration=95s', ...set], 2);
  expect(isWithin(goodputOf(few!), 280)).toBe(true);
  expect(goodputOf(many!).mean).toBe(0);
});
