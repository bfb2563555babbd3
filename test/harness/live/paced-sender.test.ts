import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { pacedSender, type Share, sendWindow } from '../../../src/harness/live/paced-sender.js';
import type { Stage } from '../../../src/harness/live/sending.js';
import { scheduleOf, trafficOf } from '../../../src/harness/simulate/scenario-traffic.js';
import { countsOfModels } from '../../../src/harness/traffic/requests.js';
import { forAll } from '../../draws.js';
import { scenario } from './asking.js';

it('the window for sends lies inside the cycle, away from its edges', () => {
  const cycles = fc.integer({ min: 10, max: 2_000 });
  forAll([fc.integer({ min: 1, max: 500 }), cycles], (n, cycleMs) => {
    const uncertaintyMs = cycleMs / 50;
    const { fromMs, lengthMs } = sendWindow(n, cycleMs, uncertaintyMs);
    const marginMs = Math.min(uncertaintyMs, cycleMs / 4);
    expect([fromMs >= marginMs, lengthMs > 0, fromMs + lengthMs <= cycleMs - marginMs]).toEqual([true, true, true]);
  });
});

it('the window for sends leaves half of the cycle free while requests are few', () => {
  expect(sendWindow(10, 50, 1)).toEqual({ fromMs: 2, lengthMs: 23 });
  expect(sendWindow(10_000, 777, 1)).toEqual({ fromMs: 2, lengthMs: 777 - 2 - 77.7 - 1 });
});

it.each([
  'arrivals: [{ model: poisson, rate: 5 }, { model: constant, rate: 3 per 2 cycles }]',
  'contracts: { count: 4, popularity: { law: zipf, exponent: 1 } }\narrivals: [{ model: poisson, rate: 9 }]',
  'contracts: { count: 3, independent: true }\narrivals: [{ model: poisson, rate: 2 }]',
])('a schedule holds the requests of the simulation, cycle by cycle and contract by contract: %s', async (text) => {
  const one = scenario(`duration: 40\nseed: 11\n${text}`);
  const traffic = await trafficOf(one, 11);
  const again = await trafficOf(one, 11);
  const schedule = scheduleOf(traffic, one)[Symbol.iterator]();
  for (const { requests } of countsOfModels(again, 0)) {
    const counts = [...requests];
    const { contracts, instants } = schedule.next().value!;
    const planned = Array<number>(one.contracts).fill(0);
    for (const contract of contracts) planned[contract]! += 1;
    const places = [...instants!];
    expect({ planned, places }).toEqual({ planned: counts, places: [...places].sort((a, b) => a - b) });
  }
});

const one = scenario(
  'duration: 30\ncycle_ms: 100\nstart_cycle: 0\ncosts: { each: { law: uniform, from: 1, to: 99 } }\nseed: 3\narrivals: [{ model: poisson, rate: 7 }]\ncontracts: { count: 3 }',
);

/** What is sent, and what was planned. */
async function sentBy(
  share?: Share,
  byInstants = false,
): Promise<{ sent: [contract: number, atMs: number, cost?: number][]; planned: number }> {
  const clock = new VirtualClock(0, 100);
  const all = { sent: [] as [contract: number, atMs: number, cost?: number][], planned: 0 };
  const schedule = scheduleOf(await trafficOf(one, 3), one);
  const stage = {
    clock,
    firstCycle: 2,
    uncertaintyMs: 1,
    observer: { plan: (_: number, n: number) => (all.planned += n) },
    inFlight: { launch: (...request: [contract: number, atMs: number, cost?: number]) => all.sent.push(request) },
  } as unknown as Stage;
  pacedSender(schedule, stage, byInstants, share).start();
  clock.run({ untilMs: 5_000 });
  return all;
}

it('the sender keeps the instants of the model where they decide, and cycle and order where cycles do', async () => {
  const instants = [...scheduleOf(await trafficOf(one, 3), one)].flatMap(({ instants = [] }) => [...instants]);
  const atMs = async (byInstants: boolean) => (await sentBy(undefined, byInstants)).sent.map(([, ms]) => ms - 200);
  const [byInstants, byCycles] = [await atMs(true), await atMs(false)];
  expect(byInstants.map((ms) => ms.toFixed(6))).toEqual(instants.map((ms) => ms.toFixed(6)));
  const cyclesOf = (all: readonly number[]) => all.map((ms) => Math.floor(ms / 100));
  expect(cyclesOf(byCycles)).toEqual(cyclesOf(instants));
  expect(byCycles).toEqual(byCycles.toSorted((a, b) => a - b));
});

it.each([1, 2, 3, 7])('shares of %i generators are what one sends, at its instants, equal but for one', async (of) => {
  const whole = await sentBy();
  const shares = await Promise.all(Array.from({ length: of }, (_, index) => sentBy({ index, of })));
  expect(shares.flatMap(({ sent }) => sent).sort((a, b) => a[1] - b[1])).toEqual(whole.sent);
  expect(shares.map(({ planned }) => planned)).toEqual(shares.map(({ sent }) => sent.length));
  const counts = shares.map(({ planned }) => planned);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(2);
});
