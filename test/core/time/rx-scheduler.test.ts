// Owns the tests of the agenda as an RxJS scheduler: each operator draws the same picture as on VirtualTimeScheduler.
import {
  auditTime,
  bufferTime,
  concatMap,
  count,
  debounceTime,
  delay,
  delayWhen,
  finalize,
  from,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  observeOn,
  of,
  type SchedulerLike,
  sampleTime,
  scheduled,
  switchMap,
  take,
  throttleTime,
  throwError,
  timeout,
  timer,
  VirtualTimeScheduler,
  windowTime,
} from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Rank } from '../../../src/core/time/rank.js';
import { AgendaScheduler } from '../../../src/core/time/rx-scheduler.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { machine } from './machine.js';

const END_MS = 300;
const START_MS = 1_750_000_000_000;

/** A clock far from 0, where a scheduler that confuses delay and instant shows it. */
function agendaScheduler() {
  const clock = new VirtualClock(START_MS, 777);
  return { clock, scheduler: new AgendaScheduler(clock, Rank.client) };
}

/** One character each 10 ms: what was emitted, in parentheses when several, | at completion, # at an error. */
function drawn(
  scheduler: SchedulerLike,
  build: (scheduler: SchedulerLike) => Observable<unknown>,
  run: () => void,
): string {
  const startMs = scheduler.now();
  const columns: string[] = [];
  const mark = (text: string) => {
    const column = (scheduler.now() - startMs) / 10;
    columns[column] = `${columns[column] ?? ''}${text}`;
  };
  const subscription = build(scheduler).subscribe({
    next: (value) => mark(`${value}`),
    error: () => mark('#'),
    complete: () => mark('|'),
  });
  run();
  subscription.unsubscribe();
  return Array.from(columns, (text) => (text === undefined ? '-' : text.length > 1 ? `(${text})` : text)).join('');
}

/** Emits a, b, c... at these instants, in ms from subscription. */
const at = (scheduler: SchedulerLike, ...instants: number[]) =>
  merge(...instants.map((ms, i) => timer(ms, scheduler).pipe(map(() => 'abcdefgh'[i]))));

// biome-ignore format: one case a line
it.each<[operator: string, picture: string, build: (s: SchedulerLike) => Observable<unknown>]>([
    ['timer', '---(0|)', (s) => timer(30, s)],
    ['timer of nothing', '(0|)', (s) => timer(0, s)],
    ['timer and period', '--0-1-2-(3|)', (s) => timer(20, 20, s).pipe(take(4))],
    ['interval', '---0--1--(2|)', (s) => interval(30, s).pipe(take(3))],
    ['interval of nothing', '(012|)', (s) => interval(0, s).pipe(take(3))],
    ['endless interval, cut at 300 ms', '----------0---------1---------2', (s) => interval(100, s)],
    ['delay', '---(ab)(c|)', (s) => at(s, 10, 10, 20).pipe(delay(20, s))],
    ['delayWhen', '----b--(a|)', (s) => at(s, 10, 20).pipe(delayWhen((v) => timer(v === 'a' ? 60 : 20, s)))],
    ['debounceTime', '-------c-----d----(e|)', (s) => at(s, 10, 20, 40, 100, 180).pipe(debounceTime(30, s))],
    ['throttleTime', '-a--c---(d|)', (s) => at(s, 10, 20, 40, 80).pipe(throttleTime(25, s))],
    ['auditTime', '---b--c---(d|)', (s) => at(s, 10, 20, 40, 80).pipe(auditTime(20, s))],
    ['sampleTime', '--b-c---d|', (s) => at(s, 10, 15, 30, 75, 90).pipe(sampleTime(20, s))],
    ['bufferTime', '---(ab)--c--(d|)', (s) => at(s, 10, 20, 40, 90).pipe(bufferTime(30, s), map((b) => b.join('')))],
    ['windowTime', '---2--1--(1|)', (s) => at(s, 10, 20, 40, 90).pipe(windowTime(30, s), mergeMap((w) => w.pipe(count())))],
    ['observeOn', '(012|)', (s) => of(0, 1, 2).pipe(observeOn(s))],
    ['observeOn with a delay', '--(012|)', (s) => of(0, 1, 2).pipe(observeOn(s, 20))],
    ['scheduled', '(abc|)', (s) => scheduled(['a', 'b', 'c'], s)],
    ['timeout', '-a--#', (s) => at(s, 10, 90).pipe(timeout({ each: 30, scheduler: s }))],
    ['switchMap takes back what waits', '-----(b|)', (s) => at(s, 10, 20).pipe(switchMap((v) => timer(30, s).pipe(map(() => v))))],
    ['concatMap', '--0--1----(2|)', (s) => from([20, 30, 50]).pipe(concatMap((ms, i) => timer(ms, s).pipe(map(() => i))))],
    ['an error, delayed', '--#', (s) => throwError(() => new Error('x')).pipe(observeOn(s, 20))],
    ['equals run in order of asking', '--(abcd|)', (s) => at(s, 20, 20, 20, 20)],
  ])('an operator of RxJS draws in virtual time as with VirtualTimeScheduler: %s: %s', (_operator, picture, build) => {
    const virtualTime = new VirtualTimeScheduler(undefined, END_MS);
    const theirs = drawn(virtualTime, build, () => virtualTime.flush());
    const { clock, scheduler } = agendaScheduler();
    const ours = drawn(scheduler, build, () => clock.run({ untilMs: START_MS + END_MS }));
    expect({ ours, theirs }).toEqual({ ours: picture, theirs: picture });
  });

it('an action is given its state, and repeats while it asks to, with a new state and delay each time', () => {
  const { clock, scheduler } = agendaScheduler();
  const ran: string[] = [];
  scheduler.schedule<number>(
    function (n) {
      ran.push(`${n} at ${clock.now() - START_MS}`);
      if (n < 3) this.schedule(n + 1, 10 * n);
    },
    5,
    1,
  );
  clock.run();
  expect(ran).toEqual(['1 at 5', '2 at 15', '3 at 35']);
});

it('an action that is asked again before it has run, runs once, at the later word', () => {
  const { clock, scheduler } = agendaScheduler();
  const ran: string[] = [];
  let again = () => {};
  scheduler.schedule<string>(
    function (state) {
      ran.push(`${state} at ${clock.now() - START_MS}`);
      again = () => void this.schedule('second', 50);
      again();
      this.schedule('third', 20);
    },
    10,
    'first',
  );
  clock.run({ untilMs: START_MS + 30 });
  expect(ran).toEqual(['first at 10', 'third at 30']);
});

it('an action can repeat later, from outside of its run', () => {
  const { clock, scheduler } = agendaScheduler();
  const ran: number[] = [];
  scheduler.schedule<number>(
    function (n) {
      ran.push(clock.now() - START_MS);
      if (n === 1) clock.agenda.at(START_MS + 40, Rank.client, () => this.schedule(2, 3));
    },
    10,
    1,
  );
  clock.run();
  expect(ran).toEqual([10, 43]);
});

it('an action that is unsubscribed does not run, nor repeat, and leaves nothing in the agenda', () => {
  const { clock, scheduler } = agendaScheduler();
  const ran: number[] = [];
  const before = scheduler.schedule(() => ran.push(-1), 10);
  const repeating = scheduler.schedule(function () {
    ran.push(clock.now() - START_MS);
    this.schedule(undefined, 10);
  }, 10);
  before.unsubscribe();
  clock.run({ untilMs: START_MS + 25 });
  repeating.unsubscribe();
  repeating.unsubscribe();
  expect({ ran, closed: [before.closed, repeating.closed], waiting: clock.agenda.size }).toEqual({
    ran: [10, 20],
    closed: [true, true],
    waiting: 0,
  });
});

it('an action can unsubscribe itself while it runs, after which asking again is in vain', () => {
  const { clock, scheduler } = agendaScheduler();
  let runs = 0;
  scheduler.schedule(function () {
    runs++;
    this.unsubscribe();
    this.schedule(undefined, 1);
  });
  clock.run();
  expect([runs, clock.agenda.size]).toEqual([1, 0]);
});

it.each([
  ['below zero is now', -5, [0]],
  ['of Infinity is never', Infinity, []],
])('the time of an action with a delay %s', (_rule, delayMs, dues) => {
  const { clock, scheduler } = agendaScheduler();
  const ran: number[] = [];
  clock.agenda.passTo(START_MS + 7);
  scheduler.schedule(() => ran.push(clock.now() - START_MS - 7), delayMs);
  clock.run();
  expect(ran).toEqual(dues);
});

it('an action that throws is over; its error goes to the driver, and all others go on', () => {
  const { clock, scheduler } = agendaScheduler();
  const ran: string[] = [];
  const throwing = scheduler.schedule(function () {
    this.schedule(undefined, 10);
    throw new Error('of the work');
  }, 10);
  scheduler.schedule(() => ran.push('the other'), 10);
  expect(() => clock.run()).toThrow('of the work');
  clock.run();
  expect({ closed: throwing.closed, ran, now: clock.now() - START_MS }).toEqual({
    closed: true,
    ran: ['the other'],
    now: 10,
  });
});

it('an action of the lower rank goes first at the same instant', () => {
  const clock = new VirtualClock(0, 777);
  const ran: string[] = [];
  for (const rank of ['report', 'arrival', 'advance'] as const) {
    new AgendaScheduler(clock, Rank[rank]).schedule(() => ran.push(rank), 10);
  }
  clock.run();
  expect(ran).toEqual(['advance', 'arrival', 'report']);
});

it('an operator of RxJS takes everything back when the last subscriber leaves', () => {
  const { clock, scheduler } = agendaScheduler();
  let ended = false;
  const subscription = interval(10, scheduler)
    .pipe(
      bufferTime(25, scheduler),
      finalize(() => {
        ended = true;
      }),
    )
    .subscribe();
  clock.run({ untilMs: START_MS + 100 });
  subscription.unsubscribe();
  expect({ ended, waiting: clock.agenda.size }).toEqual({ ended: true, waiting: 0 });
});

describe('in real time', () => {
  afterEach(() => void vi.useRealTimers());

  it('an interval does not drift by the work it does, and does not make up for ticks lost in a halt', () => {
    const { clock, pass, halt, elapsed } = machine({ cycleMs: 777, startMs: START_MS });
    const ticks: number[] = [];
    clock.start();
    interval(100, new AgendaScheduler(clock, Rank.client)).subscribe((n) => {
      ticks.push(elapsed());
      halt(n === 3 ? 1_000 : 3);
    });
    pass(600);
    expect(ticks).toEqual([100, 200, 300, 400, 1_500, 1_600]);
  });
});
