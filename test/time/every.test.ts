// Periodic work, in virtual and in real time.
import { afterEach, expect, it, vi } from 'vitest';
import { every } from '../../src/time/every.js';
import { Rank } from '../../src/time/rank.js';
import { VirtualClock } from '../../src/time/virtual.js';
import { machine } from './machine.js';

const START_MS = 1_750_000_000_000;

afterEach(() => void vi.useRealTimers());

it('periodic work comes behind all else of its instant, until it is ended, and leaves nothing in the agenda', () => {
  const clock = new VirtualClock(START_MS, 777);
  const order: string[] = [];
  const end = every(clock, 10, () => order.push(`work at ${clock.now() - START_MS}`));
  for (const rank of ['client', 'arrival', 'advance'] as const)
    clock.agenda.at(START_MS + 20, Rank[rank], () => order.push(rank));
  clock.run({ untilMs: START_MS + 25 });
  end();
  end();
  expect([order, clock.run(), clock.now() - START_MS]).toEqual([
    ['work at 10', 'advance', 'arrival', 'client', 'work at 20'],
    'drained',
    25,
  ]);
});

it('periodic work may end itself', () => {
  const clock = new VirtualClock(START_MS, 777);
  let times = 0;
  const end = every(clock, 10, () => {
    times += 1;
    if (times === 3) end();
  });
  expect([clock.run(), times]).toEqual(['drained', 3]);
});

it('periodic work that throws goes on, and its errors go to the driver of the clock', () => {
  const { clock, pass, errors } = machine({ cycleMs: 777, startMs: START_MS });
  clock.start();
  let times = 0;
  every(clock, 100, () => {
    times += 1;
    throw new Error(`of the work, ${times}`);
  });
  pass(250);
  expect(errors.map(String)).toEqual(['Error: of the work, 1', 'Error: of the work, 2']);
});

it('periodic work does not drift by the time that it takes, and does not make up for times lost in a halt', () => {
  const { clock, pass, halt, elapsed } = machine({ cycleMs: 777, startMs: START_MS });
  const times: number[] = [];
  clock.start();
  every(clock, 100, () => {
    times.push(elapsed());
    halt(times.length === 4 ? 1_000 : 3);
  });
  pass(600);
  expect(times).toEqual([100, 200, 300, 400, 1_500, 1_600]);
});
