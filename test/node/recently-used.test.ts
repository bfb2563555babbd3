import { expect, it } from 'vitest';
import { RecentlyUsed } from '../../src/node/recently-used.js';

it('a map of recent entries keeps as many as it was made for, and never twice as many', () => {
  const recent = new RecentlyUsed<number>(4);
  for (let n = 0; n < 100; n += 1) recent.set(`${n}`, n);
  const kept = Array.from({ length: 100 }, (_, n) => recent.get(`${n}`)).filter((value) => value !== undefined);
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(kept.length).toBeLessThan(8);
  expect(kept.at(-1)).toBe(99);
});

it('a map of recent entries does not forget what is asked for again and again', () => {
  const recent = new RecentlyUsed<string>(4);
  recent.set('wanted', 'here');
  for (let n = 0; n < 100; n += 1) {
    recent.set(`${n}`, 'other');
    expect(recent.get('wanted')).toBe('here');
  }
});

it('a map of recent entries forgets what it is told to, wherever it stands', () => {
  const recent = new RecentlyUsed<string>(2);
  recent.set('a', 'young');
  recent.set('b', 'old');
  recent.drop((value) => value === 'young');
  recent.drop((value) => value === 'old');
  expect([recent.get('a'), recent.get('b')]).toEqual([undefined, undefined]);
});
