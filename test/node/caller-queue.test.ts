import { afterEach, beforeEach, expect, it } from 'vitest';
import { WallClock } from '../../src/core/time/wall.js';
import { CallerQueue } from '../../src/node/caller-queue.js';

let clock: WallClock;
let queue: CallerQueue;
let errors: unknown[];
beforeEach(() => {
  errors = [];
  clock = new WallClock(777, { onError: (error) => errors.push(error) });
  clock.start();
  queue = new CallerQueue(clock);
});
afterEach(() => clock.stop());

/** Takes one turn after the other, and writes each down. */
async function worker(name: string, pieces: number, done: string[]): Promise<void> {
  for (let piece = 1; piece <= pieces; piece += 1) await queue.of(name, () => done.push(`${name}${piece}`));
}

it('the queue goes round the callers, a piece each', async () => {
  const done: string[] = [];
  await Promise.all([worker('a', 3, done), worker('b', 2, done), worker('c', 3, done)]);
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'c3']);
});

it('the queue leaves a turn of the event loop to others between any two pieces, however many wait', async () => {
  const done: string[] = [];
  const between: number[] = [];
  let goesOn = true;
  const other = () => {
    between.push(done.length);
    if (goesOn) setImmediate(other);
  };
  setImmediate(other);
  await Promise.all(Array.from({ length: 20 }, (_, index) => worker(`w${index} `, 5, done)));
  goesOn = false;
  const steps = between.slice(1).map((seen, index) => seen - between[index]!);
  expect(done).toHaveLength(100);
  expect(Math.max(...steps)).toBe(1);
});

it('the queue goes on behind a piece that throws, of which the clock is told, or who waits for it', async () => {
  const done: string[] = [];
  queue.take('x', () => {
    throw new Error('a mistake of ours');
  });
  const waiting = queue.of('y', () => {
    throw new Error('no such row');
  });
  const behind = worker('a', 2, done);
  await expect(waiting).rejects.toThrow('no such row');
  await behind;
  expect([done, errors.map(String)]).toEqual([['a1', 'a2'], ['Error: a mistake of ours']]);
});
