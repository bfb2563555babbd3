// Owns the tests of guarded observables: every error of an observer reaches the driver of the clock.
import { from, map, mergeMap, type Observable, of, Subject, Subscriber, share, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { GuardedObservable, toDriverOf } from '../../src/time/guarded.js';
import { VirtualClock } from '../../src/time/virtual.js';

const fail = (): never => {
  throw new Error('mistake');
};

/** What the driver of the clock meets after the source has been consumed in this way, and what the consumer has seen. */
function errorsOf(
  source: Observable<number>,
  consume: (guarded: GuardedObservable<number>, saw: (what: unknown) => void) => void,
) {
  const clock = new VirtualClock(0, 777);
  const saw: unknown[] = [];
  consume(new GuardedObservable(toDriverOf(clock), (subscriber) => source.subscribe(subscriber)), (what) =>
    saw.push(what),
  );
  const met: string[] = [];
  while (clock.agenda.size > 0) {
    try {
      clock.run();
    } catch (error) {
      met.push((error as Error).message);
    }
  }
  return { met, saw };
}

it.each<
  [rule: string, source: Observable<number>, consume: Parameters<typeof errorsOf>[1], met: string[], saw: unknown[]]
>([
  ['nobody throws: nothing is met', of(1, 2), (g, saw) => g.subscribe(saw), [], [1, 2]],
  [
    'a function that throws',
    of(1, 2),
    (g, saw) =>
      g.subscribe((n) => {
        saw(n);
        fail();
      }),
    ['mistake', 'mistake'],
    [1, 2],
  ],
  [
    'next of an observer that throws',
    of(1),
    (g, saw) => g.subscribe({ next: fail, complete: () => saw('|') }),
    ['mistake'],
    ['|'],
  ],
  ['complete that throws', of(1), (g, saw) => g.subscribe({ next: saw, complete: fail }), ['mistake'], [1]],
  ['error that throws', throwError(() => new Error('x')), (g) => g.subscribe({ error: fail }), ['mistake'], []],
  ['three functions, as RxJS once had it', of(1), (g, saw) => g.subscribe(saw, null, fail), ['mistake'], [1]],
  [
    'an error that is handled',
    throwError(() => new Error('x')),
    (g, saw) => g.subscribe({ error: (e: Error) => saw(e.message) }),
    [],
    ['x'],
  ],
  ['an error that nobody handles', throwError(() => new Error('x')), (g) => g.subscribe(), ['x'], []],
  ['an operator that throws, unhandled', of(1), (g, saw) => g.pipe(map(fail)).subscribe(saw), ['mistake'], []],
  [
    'the end of a pipe that throws',
    of(1),
    (g) =>
      g
        .pipe(
          map((n) => n + 1),
          mergeMap((n) => of(n, n)),
        )
        .subscribe(fail),
    ['mistake', 'mistake'],
    [],
  ],
  ['the end of a shared pipe that throws', of(1), (g) => g.pipe(share()).subscribe(fail), ['mistake'], []],
  [
    'an observer is called as a method of itself',
    of(1),
    (g, saw) =>
      g.subscribe({
        next(this: object, n: number) {
          saw([n, 'complete' in this]);
        },
        complete() {},
      }),
    [],
    [[1, true]],
  ],
  [
    'a subject hands on to its own observers',
    of(1),
    (g, saw) => {
      const s = new Subject<number>();
      s.subscribe(saw);
      g.subscribe(s);
    },
    [],
    [1],
  ],
  [
    'a subscriber is taken as it is',
    of(1),
    (g, saw) => g.subscribe(new Subscriber<number>({ next: saw, error: fail, complete: () => saw('|') })),
    [],
    [1, '|'],
  ],
  ['a promise of the last value is kept', of(1), (g, saw) => void g.forEach(saw), [], [1]],
  ['it is an observable like another', of(1), (g, saw) => from(g).subscribe(saw), [], [1]],
])('%s', (_rule, source, consume, met, saw) => {
  expect(errorsOf(source, consume)).toEqual({ met, saw });
});
