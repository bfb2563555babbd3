// The cycles as a stream, in virtual and in real time.
import { map, take, toArray } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Bug } from '../../../src/core/schema/failure.js';
import { type CycleTick, cycles, every } from '../../../src/core/time/cycles.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { machine } from './machine.js';

/** Cycles of today, above 2^31. */
const NOW = 2_300_000_000;

// biome-ignore format: one case a line
it.each<[rule: string, startsMsIntoCycle: number, from: number | undefined, ticks: string]>([
  ['the first tick is the next beginning', 400, undefined, '377: 1, 1154: 2, 1931: 3'],
  ['at a beginning too, the first tick is the next', 0, undefined, '777: 1, 1554: 2, 2331: 3'],
  ['the cycle in progress can be had, at once', 400, 0, '0: 0, 377: 1, 1154: 2, 1931: 3'],
  ['of cycles in the past, the one in progress is ticked and the others are missed', 400, -7, '0: 0 missed 7, 377: 1, 1154: 2, 1931: 3'],
  ['a beginning in the future is waited for', 400, 3, '1931: 3'],
])('%s', (_rule, startsMsIntoCycle, from, ticks) => {
  const startMs = NOW * 777 + startsMsIntoCycle;
  const clock = new VirtualClock(startMs, 777);
  const seen: string[] = [];
  cycles(clock, { from: from === undefined ? undefined : NOW + from }).subscribe(({ cycle, missed }) =>
    seen.push(`${clock.now() - startMs}: ${cycle - NOW}${missed ? ` missed ${missed}` : ''}`),
  );
  clock.run({ untilMs: startMs + 2_400 });
  expect(seen.join(', ')).toBe(ticks);
});

it('a tick comes after the advances into its cycle and before its arrivals', () => {
  const clock = new VirtualClock(0, 10);
  const order: string[] = [];
  cycles(clock).subscribe(({ cycle }) => order.push(`tick ${cycle}`));
  for (const rank of ['report', 'client', 'arrival', 'advance'] as const)
    clock.agenda.at(10, Rank[rank], () => order.push(rank));
  clock.run({ untilMs: 10 });
  expect(order).toEqual(['advance', 'tick 1', 'arrival', 'client', 'report']);
});

it('an unsubscribed observer leaves nothing in the agenda, also from within a tick', () => {
  const clock = new VirtualClock(0, 10);
  const seen: unknown[] = [];
  cycles(clock)
    .pipe(take(2), toArray())
    .subscribe((ticks) => seen.push(ticks));
  cycles(clock).subscribe().unsubscribe();
  expect([clock.run(), clock.now(), seen]).toEqual([
    'drained',
    20,
    [
      [
        { cycle: 1, missed: 0 },
        { cycle: 2, missed: 0 },
      ],
    ],
  ]);
});

it.each([1.5, Number.NaN, Infinity])('cycles from %d, which is no number of a cycle, are a bug', (from) => {
  expect(() => cycles(new VirtualClock(0, 10), { from })).toThrow(Bug);
});

describe('in real time', () => {
  afterEach(() => void vi.useRealTimers());

  function started() {
    const made = machine({ cycleMs: 777, startMs: NOW * 777 });
    made.clock.start();
    return made;
  }

  const text = (ticks: readonly CycleTick[]) =>
    ticks.map(({ cycle, missed }) => `${cycle - NOW}${missed ? ` missed ${missed}` : ''}`).join(', ');

  it('numbers of ticks come from the clock: a halt and a step forward are one tick each, a step back is none', () => {
    const { clock, pass, halt, stepWall } = started();
    const ticks: CycleTick[] = [];
    cycles(clock).subscribe((tick) => ticks.push(tick));
    pass(2 * 777);
    halt(10 * 777);
    pass(777);
    stepWall(100 * 777);
    pass(777);
    stepWall(-50 * 777);
    pass(2 * 777);
    expect(text(ticks)).toBe('1, 2, 13 missed 10, 114 missed 100, 115, 116');
  });

  it('a period does not drift by the work it does, and does not make up for ticks lost in a halt', () => {
    const { clock, pass, halt, elapsed } = started();
    const ticks: number[] = [];
    const subscription = every(clock, 100).subscribe(() => {
      ticks.push(elapsed());
      halt(ticks.length === 4 ? 1_000 : 3);
      if (ticks.length === 6) subscription.unsubscribe();
    });
    pass(800);
    expect({ ticks, waiting: clock.agenda.size }).toEqual({ ticks: [100, 200, 300, 400, 1_500, 1_600], waiting: 0 });
  });

  it('what an operator throws ends its stream with that error, and its neighbours notice nothing', () => {
    const { clock, errors, pass } = started();
    const ticks: CycleTick[] = [];
    const mistake = new Error('of the operator');
    const met: unknown[] = [];
    const failing = cycles(clock).pipe(
      map(() => {
        throw mistake;
      }),
    );
    failing.subscribe({ error: (error) => met.push(error) });
    cycles(clock).subscribe((tick) => ticks.push(tick));
    pass(2 * 777);
    expect({ met, errors, ticks: text(ticks) }).toEqual({ met: [mistake], errors: [], ticks: '1, 2' });
  });
});
