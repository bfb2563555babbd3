// Owns the tests of virtual time: where a run ends, and what goes on after it.
import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Bug } from '../../../src/core/schema/failure.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { clockPromise } from '../../suite/clock.js';

clockPromise('virtual', () => {
  const clock = new VirtualClock(1_750_000_000_123.5, 777);
  return { clock, pass: (ms) => void clock.run({ untilMs: clock.now() + ms }) };
});

/** A clock from 0 in cycles of 10 ms, with a task at each of the dues, and what they have seen. */
function withTasks(...dues: number[]) {
  const clock = new VirtualClock(0, 10);
  const ran: number[] = [];
  for (const due of dues) clock.agenda.at(due, Rank.client, (at) => ran.push(at));
  return { clock, ran };
}

it.each<[rule: string, dues: number[], untilMs: number | undefined, after: object]>([
  ['nothing waits: it is over at once', [], undefined, { ending: 'drained', now: 0, cycle: 0, ran: [] }],
  ['nothing waits, yet time passes', [], 25, { ending: 'drained', now: 25, cycle: 2, ran: [] }],
  ['everything, without an end', [5, 31], undefined, { ending: 'drained', now: 31, cycle: 3, ran: [5, 31] }],
  ['up to and at the end', [5, 20, 20.5], 20, { ending: 'reached', now: 20, cycle: 2, ran: [5, 20] }],
  ['to the end, past the last task', [5], 20, { ending: 'drained', now: 20, cycle: 2, ran: [5] }],
  ['an end in the past runs nothing', [5], -3, { ending: 'reached', now: 0, cycle: 0, ran: [] }],
])('a run ends where it is to end: %s', async (_rule, dues, untilMs, after) => {
  const sync = withTasks(...dues);
  const ending = sync.clock.run({ untilMs });
  expect({ ending, now: sync.clock.now(), cycle: sync.clock.cycle(), ran: sync.ran }).toEqual(after);

  const async = withTasks(...dues);
  const endingAsync = await async.clock.runAsync({ untilMs, stepsPerTurn: 1 });
  expect({ ending: endingAsync, now: async.clock.now(), cycle: async.clock.cycle(), ran: async.ran }).toEqual(after);
});

it('a run ends behind the task that says stop, with now at its due, and a later run goes on from there', () => {
  const { clock, ran } = withTasks(1, 3);
  clock.agenda.at(2, Rank.client, () => clock.stop());
  const first = [clock.run({ untilMs: 50 }), clock.now(), [...ran]];
  const second = [clock.run({ untilMs: 50 }), clock.now(), ran];
  expect([first, second]).toEqual([
    ['stopped', 2, [1]],
    ['drained', 50, [1, 3]],
  ]);
});

it('a run throws what a task throws, and a later run goes on behind that task', () => {
  const { clock, ran } = withTasks(1, 3);
  clock.agenda.at(2, Rank.client, () => {
    throw new Error('of the task');
  });
  expect(() => clock.run()).toThrow('of the task');
  expect([clock.now(), clock.run(), ran]).toEqual([2, 'drained', [1, 3]]);
});

it('a run counts a stop before it as past', () => {
  const { clock } = withTasks(1);
  clock.stop();
  expect(clock.run()).toBe('drained');
});

it('a run inside a run of the same clock is a bug', () => {
  const { clock } = withTasks();
  clock.agenda.at(1, Rank.client, () => void clock.run());
  expect(() => clock.run()).toThrow(Bug);
});

it('a run to NaN is a bug', () => {
  expect(() => withTasks(1).clock.run({ untilMs: Number.NaN })).toThrow(Bug);
});

/** A clock on which a task asks for its successor forever. */
function endless() {
  const clock = new VirtualClock(0, 10);
  const again = (due: number) => void clock.agenda.at(due + 1, Rank.client, again);
  again(0);
  return clock;
}

it('an asynchronous run lets the event loop in, so that a signal can end what would never end', async () => {
  const clock = endless();
  const abort = new AbortController();
  setImmediate(() => setImmediate(() => abort.abort()));
  const ending = await clock.runAsync({ signal: abort.signal });
  expect([ending, clock.now() > 0]).toEqual(['stopped', true]);
});

it('an asynchronous run takes no step when the signal was aborted before', async () => {
  const clock = endless();
  expect([await clock.runAsync({ signal: AbortSignal.abort() }), clock.now()]).toEqual(['stopped', 0]);
});

it('an asynchronous run ends behind the very task that aborts', async () => {
  const clock = endless();
  const abort = new AbortController();
  clock.agenda.at(2, Rank.report, () => abort.abort());
  expect([await clock.runAsync({ signal: abort.signal }), clock.now()]).toEqual(['stopped', 2]);
});

it('an asynchronous run lets go of the signal when it is over, so that one signal can serve many runs', async () => {
  const { signal } = new AbortController();
  const { clock } = withTasks(1, 2);
  await clock.runAsync({ untilMs: 1, signal });
  await clock.runAsync({ signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('an asynchronous run rejects with what a task throws, and can be followed by another', async () => {
  const { clock, ran } = withTasks(2);
  clock.agenda.at(1, Rank.client, () => {
    throw new Error('of the task');
  });
  await expect(clock.runAsync()).rejects.toThrow('of the task');
  expect([await clock.runAsync(), ran]).toEqual(['drained', [2]]);
});

it.each([0, -1, 1.5, Number.NaN])('a cycle of %d ms is a bug', (cycleMs) => {
  expect(() => new VirtualClock(0, cycleMs)).toThrow(Bug);
});
