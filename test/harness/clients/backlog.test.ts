import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Backlog } from '../../../src/harness/clients/holding.js';
import { forAll } from '../../draws.js';

type Step = { readonly do: 'with' | 'withFirst' } | { readonly do: 'take'; readonly n: number };

it('a backlog is a queue like an array, and every queue on the way stays as it was', () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constantFrom('with' as const, 'withFirst' as const) }),
    fc.record({ do: fc.constant('take' as const), n: fc.integer({ min: 0, max: 5 }) }),
  );
  const all = <Item>(queue: Backlog<Item>) => [queue.size, queue.take(Number.POSITIVE_INFINITY).taken];
  forAll([fc.array(step, { maxLength: 60 })], (steps) => {
    let queue = Backlog.of<number>();
    let items: number[] = [];
    const states: [Backlog<number>, number[]][] = [];
    steps.forEach((one, number) => {
      switch (one.do) {
        case 'with':
          queue = queue.with(number);
          items = [...items, number];
          break;
        case 'withFirst':
          queue = queue.withFirst(number);
          items = [number, ...items];
          break;
        case 'take': {
          const { taken, rest } = queue.take(one.n);
          expect(taken).toEqual(items.slice(0, one.n));
          queue = rest;
          items = items.slice(one.n);
        }
      }
      states.push([queue, items]);
    });
    expect(states.map(([one]) => all(one))).toEqual(states.map(([, one]) => [one.length, one]));
  });
});

it('a backlog is shown by its size', () => {
  expect(JSON.stringify(Backlog.of('a', 'b'))).toBe('{"size":2}');
});
