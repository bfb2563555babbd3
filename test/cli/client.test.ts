// `weir client`: the libraries that a scenario takes by name, and what one does to a service that fails and to a limiter.
import { expect, it } from 'vitest';
import { clientLibraries } from '../../src/harness/clients/libraries.js';
import { weir, weirHere } from './command-line.js';

it('weir client lists every library', async () => {
  const { code, out } = await weirHere(['client', '--json']);
  const names = JSON.parse(out).clients.map(({ name }: { name: string }) => name);
  expect([code, names]).toEqual([0, Object.keys(clientLibraries)]);
});

it('weir client says in the usual words how each library waits, with its jitter in a column of its own', async () => {
  const { out } = await weirHere(['client']);
  const rows = out.split('\n').map((line) => line.trim().split(/ {2,}/));
  const of = (name: string) => rows.find(([first]) => first === name)?.slice(2, 5);
  expect(of('name')).toEqual(['waits', 'jitter', 'Retry-After']);
  expect(of('aws-sdk-2026')).toEqual([
    'exponential from 50ms, at most 20s',
    'full',
    'at least as announced, at most 5s more than its own',
  ]);
  expect(of('undici')).toEqual([
    'exponential from 500ms, at most 30s',
    'none',
    'waits as announced above 0, at most 30s',
  ]);
  expect(of('urllib3')?.[0]).toBe('exponential from 200ms, at most 2m, the first at once');
  expect(of('openai')?.[1]).toBe('up to 25 % shorter');
  expect(of('polly')).toEqual(['fixed from 2s', 'none', 'ignored']);
  expect(of('axios-retry')).toEqual(['at once', 'none', 'at least as announced']);
  expect(of('client-go')?.[2]).toBe('waits as announced; gives up if nothing is announced');
});

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
