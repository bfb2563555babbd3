// Owns the tests of real time: what now() says, what the timers do. Leaves order to agenda.test.ts.
import { afterEach, expect, it, vi } from 'vitest';
import { Rank } from '../../../src/core/time/rank.js';
import { WallClock, type WallOptions } from '../../../src/core/time/wall.js';
import { clockPromise } from '../../suite/clock.js';
import { machine } from './machine.js';

const HOUR = 3_600_000;
const START = 1_750_000_000_000;

const wall = (options: Partial<WallOptions> = {}) => machine({ cycleMs: 777, startMs: START, ...options });

afterEach(() => void vi.useRealTimers());

clockPromise('wall', () => {
  const made = wall();
  made.clock.start();
  return made;
});

it('the told time is the wall clock, between whose milliseconds it has fractions', () => {
  const { clock, pass, elapsed } = wall();
  pass(1.5);
  expect([elapsed(), clock.monotonicMs(), clock.cycle()]).toEqual([1.5, 1.5, Math.floor(START / 777)]);
});

it('the told time follows a step forward at once, and passes over the cycles in between', () => {
  const { clock, stepWall, pass, elapsed } = wall();
  const cycle = clock.cycle();
  stepWall(HOUR);
  const after = { elapsed: elapsed(), cycles: clock.cycle() - cycle, skewMs: clock.skewMs };
  pass(10);
  expect([after, elapsed()]).toEqual([{ elapsed: HOUR, cycles: 4_633, skewMs: 0 }, HOUR + 10]);
});

it('the told time holds its course after a step back, at the rate of the monotonic clock, and the skew is told', () => {
  const { clock, stepWall, pass, elapsed } = wall();
  pass(100);
  clock.now();
  stepWall(-HOUR);
  const told = [{ elapsed: elapsed(), skewMs: clock.skewMs }];
  pass(2 * 777);
  told.push({ elapsed: elapsed(), skewMs: clock.skewMs });
  expect(told).toEqual([
    { elapsed: 100, skewMs: HOUR },
    { elapsed: 100 + 2 * 777, skewMs: HOUR },
  ]);
});

it('the told time joins the wall clock again when that has caught up', () => {
  const { clock, stepWall, pass, elapsed } = wall();
  stepWall(-HOUR);
  pass(500);
  stepWall(HOUR / 2);
  const half = { elapsed: elapsed(), skewMs: clock.skewMs };
  stepWall(HOUR);
  expect([half, { elapsed: elapsed(), skewMs: clock.skewMs }]).toEqual([
    { elapsed: 500, skewMs: HOUR / 2 },
    { elapsed: 500 + HOUR / 2, skewMs: 0 },
  ]);
});

it('the told time is not put ahead by a halt between the two looks at the clocks', () => {
  const looks = { wall: START, monotonic: 0, haltMs: 0 };
  const clock = new WallClock(777, {
    onError: () => {},
    source: {
      wallMs: () => {
        const wall = looks.wall;
        looks.wall += looks.haltMs;
        looks.monotonic += looks.haltMs;
        return wall;
      },
      monotonicMs: () => looks.monotonic,
    },
  });
  looks.haltMs = 5_000;
  clock.now();
  looks.haltMs = 0;
  expect({ now: clock.now() - START, skewMs: clock.skewMs }).toEqual({ now: 5_000, skewMs: 0 });
});

it('a task runs when due, not before, and not before start', () => {
  const { clock, pass, elapsed } = wall();
  const ran: number[] = [];
  clock.agenda.at(START + 50, Rank.client, () => ran.push(elapsed()));
  clock.agenda.at(START + 200, Rank.client, () => ran.push(elapsed()));
  pass(100);
  expect(ran).toEqual([]);
  clock.start();
  expect(ran).toEqual([]);
  pass(99);
  expect(ran.length).toBe(1);
  pass(1);
  expect(ran).toEqual([100, 200]);
});

it('the clock is woken sooner when something is asked for that is due earlier', () => {
  const { clock, pass, elapsed } = wall();
  const ran: string[] = [];
  clock.start();
  clock.agenda.at(START + 900, Rank.client, () => ran.push(`late one at ${elapsed()}`));
  pass(10);
  clock.agenda.at(START + 40, Rank.client, () => ran.push(`early one at ${elapsed()}`));
  clock.agenda.at(START + 5, Rank.client, () => ran.push(`past one at ${elapsed()}`));
  pass(1_000);
  expect(ran).toEqual(['past one at 10', 'early one at 40', 'late one at 900']);
});

it('a task waits longer than a timer can: 30 days', () => {
  const { clock, pass, halt, elapsed } = wall();
  const ran: number[] = [];
  clock.start();
  clock.agenda.at(START + 30 * 24 * HOUR, Rank.client, () => ran.push(elapsed()));
  pass(5_000);
  expect(ran).toEqual([]);
  halt(30 * 24 * HOUR - 6_000);
  pass(1_000);
  expect(ran).toEqual([30 * 24 * HOUR]);
});

it('the clock notices a step forward within a second, though it sleeps for longer', () => {
  const { clock, pass, stepWall } = wall();
  const ran: number[] = [];
  clock.start();
  clock.agenda.at(START + HOUR, Rank.client, () => ran.push(clock.cycle()));
  pass(10);
  stepWall(HOUR);
  pass(1_000);
  expect(ran).toEqual([Math.floor((START + HOUR + 1_000) / 777)]);
});

it('a task keeps its distance after a step back: due in 50 ms, it runs in 50 ms', () => {
  const { clock, pass, stepWall, elapsed } = wall();
  const ran: number[] = [];
  clock.start();
  pass(100);
  clock.agenda.at(START + 150, Rank.client, () => ran.push(elapsed()));
  stepWall(-HOUR);
  pass(50);
  expect(ran).toEqual([150]);
});

it('tasks are caught up with in order after a halt, and the lag of each is told', () => {
  const lags: number[] = [];
  const { clock, pass, halt } = wall({ onLag: (lagMs) => lags.push(lagMs) });
  const ran: number[] = [];
  clock.start();
  for (const due of [30, 10, 20]) clock.agenda.at(START + due, Rank.client, (at) => ran.push(at - START));
  halt(500);
  pass(500);
  expect({ ran, lags, lagMs: clock.lagMs }).toEqual({ ran: [10, 20, 30], lags: [500, 490, 480], lagMs: 480 });
});

it('the clock gives the event loop its turn between slices of a long catching up', () => {
  const { clock, pass, halt } = wall();
  const turns: string[] = [];
  clock.start();
  for (let i = 0; i < 5; i++) {
    clock.agenda.at(START, Rank.client, () => {
      turns.push('task');
      halt(6);
    });
  }
  const io = () => {
    turns.push('io');
    if (turns.length < 8) setImmediate(io);
  };
  setImmediate(io);
  pass(10);
  expect(turns.join(' ')).toBe('task task io task task io task io');
});

it('the clock goes on when a task throws: the error is handed over', () => {
  const { clock, pass, errors } = wall();
  const ran: string[] = [];
  const mistake = new Error('of the task');
  clock.start();
  clock.agenda.at(START + 10, Rank.client, () => {
    throw mistake;
  });
  clock.agenda.at(START + 10, Rank.client, () => ran.push('its neighbour'));
  clock.agenda.at(START + 20, Rank.client, () => ran.push('its successor'));
  pass(100);
  expect({ errors, ran }).toEqual({ errors: [mistake], ran: ['its neighbour', 'its successor'] });
});

it('the clock goes on even when the handler of errors throws, which nobody but the process can handle', () => {
  const { clock, pass } = wall({
    onError: (error) => {
      throw error;
    },
  });
  const ran: string[] = [];
  clock.start();
  clock.agenda.at(START + 10, Rank.client, () => {
    throw new Error('of the task');
  });
  clock.agenda.at(START + 20, Rank.client, () => ran.push('its successor'));
  expect(() => pass(10)).toThrow('of the task');
  pass(10);
  expect(ran).toEqual(['its successor']);
});

it('the clock rests between stop, also from within a task, and the next start', () => {
  const { clock, pass } = wall();
  const ran: string[] = [];
  clock.start();
  clock.agenda.at(START + 10, Rank.client, () => clock.stop());
  clock.agenda.at(START + 10, Rank.client, () => ran.push('after'));
  pass(1_000);
  const whileStopped = { ran: [...ran], timers: vi.getTimerCount() };
  clock.start();
  clock.start();
  pass(1);
  expect([whileStopped, { ran, timers: vi.getTimerCount() }]).toEqual([
    { ran: [], timers: 0 },
    { ran: ['after'], timers: 0 },
  ]);
});

it('a sleep ends at its time, or when the signal is aborted, or at once when it was', async () => {
  const { clock, pass, elapsed } = wall();
  const abort = new AbortController();
  const woken: string[] = [];
  const sleeps = [
    clock.sleep(50).then(() => woken.push(`slept until ${elapsed()}`)),
    clock.sleepUntil(START + HOUR, abort.signal).then(() => woken.push('aborted')),
    clock.sleep(HOUR, AbortSignal.abort()).then(() => woken.push('not slept')),
  ];
  clock.start();
  await vi.advanceTimersByTimeAsync(50);
  abort.abort();
  await Promise.all(sleeps);
  pass(0);
  expect({ woken, waiting: clock.agenda.size }).toEqual({
    woken: ['not slept', 'slept until 50', 'aborted'],
    waiting: 0,
  });
});

it('a clock with the timers of this computer tells the time of Date.now, and runs nothing before its due', async () => {
  const clock = new WallClock(777, { onError: () => {} });
  clock.start();
  const early: boolean[] = [];
  const start = clock.now();
  await Promise.all(
    [0, 1, 2.5, 4, 7.25].map(async (ms) => {
      await clock.sleepUntil(start + ms);
      early.push(clock.now() < start + ms);
    }),
  );
  clock.stop();
  const beforeMs = Date.now();
  const now = clock.now();
  expect({ early, between: beforeMs <= now && now < Date.now() + 60_000 }).toEqual({
    early: [false, false, false, false, false],
    between: true,
  });
});

it('a clock with the timers of this computer keeps the process alive while something waits', () => {
  const held = (dueInMs: number) => {
    const clock = new WallClock(777, { onError: () => {} });
    const handles = () => process.getActiveResourcesInfo().filter((kind) => /Timeout|Immediate/.test(kind)).length;
    const before = handles();
    clock.agenda.at(clock.now() + dueInMs, Rank.client, () => {});
    clock.start();
    const more = handles() - before;
    clock.stop();
    return more;
  };
  expect([held(HOUR), held(0)]).toEqual([1, 1]);
});
