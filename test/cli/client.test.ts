// `weir client`: what a library does to a service that fails and to a limiter. What is printed of all is in answers.long.test.ts.
import { expect, it } from 'vitest';
import { weir, weirHere } from './command-line.js';

it.each([
  // Without a quota, a job of which every attempt fails makes all of them, and one that fails at random the sum of p^k.
  ['ky', [1 + 0.1 + 0.01, 1.75, 3]],
  ['undici', [1.11111, 1.96875, 6]],
] as const)(
  'a job of %s makes the known number of attempts at failures of 10, 50 and 100 %%',
  async (name, [tenth, half, all]) => {
    const { out } = await weirHere(['client', name, '--json']);
    const { at_failures: found } = JSON.parse(out);
    const at = (share: number) => found.find((one: { share: number }) => one.share === share).attempts;
    expect(at(1)).toBe(all);
    // 600 jobs of one seed.
    expect(Math.abs(at(0.1) - tenth)).toBeLessThan(0.06);
    expect(Math.abs(at(0.5) - half)).toBeLessThan(0.25);
  },
);

it('a quota ends retries where everything fails, in the program as it is built', async () => {
  const { out } = await weir(['client', 'aws-sdk-2026', '--json']);
  const { at_failures: found, burst } = JSON.parse(out);
  // 500 tokens pay for 35 retries at 14 each.
  expect(found.at(-1)).toEqual({ share: 1, attempts: expect.closeTo((600 + 35) / 600, 1) });
  expect(burst.attempts).toBe(burst.sentMs.length);
});

it('weir client names the library that was probably meant', async () => {
  const { code, err } = await weirHere(['client', 'udnici']);
  expect([code, err.includes('Did you mean undici?')]).toEqual([2, true]);
  expect((await weirHere(['client', 'my-own'])).err).toMatch(/not "my-own"\..*\n.*`weir client` lists them/);
});
