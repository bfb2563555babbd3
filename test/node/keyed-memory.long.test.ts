// Hundreds of thousands of keys that a stranger makes up, at a real node with places for few: its memory does not grow with them. With fewer,
// or shorter ones, what V8 leaves uncollected (23 MB were seen) is as much as their names.
import { expect, it } from 'vitest';
import { serve } from '../cli/command-line.js';
import { figureIn, metricsOf } from './asking.js';
import { gateOf, Holder } from './caller.js';

const KEYS = Number(process.env['WEIR_KEYS'] ?? 400_000);
const PLACES = 20_000;
const AT_ONCE = 400;
/** Half of what the names of the keys take at least that are new in the measured part, with their places in a map. */
const MOST_BYTES = 75 * KEYS;

it.each(['refuse', 'share'] as const)('a keyed gate takes little memory for many random keys: %s', async (overflow) => {
  const node = await serve(['--store', 'memory', '--metrics', 'open', '--cycle-ms', String(justBegun())]);
  const owner = await Holder.minted(node.url);
  const keyed = { max_keys: PLACES, idle_cycles: 0, overflow };
  await owner.contractOn('m', { threshold: 1, within: 1, keyed });
  const figures = async () => {
    const text = await metricsOf(node.url);
    return { bytes: figureIn(text, 'weir_memory_bytes'), keys: figureIn(text, 'weir_keys') };
  };
  const seen = { admitted: 0, limited: 0, refused: 0 };
  const send = async (from: number, to: number) => {
    for (let at = from; at < to; at += AT_ONCE) {
      const events = Array.from({ length: AT_ONCE }, (_, n) => ({ type: 'request', key: nameOf(at + n) }));
      const { outcomes } = (await owner.post('/api/chain/m/events', events)).body;
      for (const { contracts, code } of outcomes)
        seen[code === 'too_many_keys' ? 'refused' : contracts[0].admitted === 1 ? 'admitted' : 'limited'] += 1;
    }
  };
  // Until the heap has its size: V8 lets it grow before it collects.
  await send(0, KEYS / 4);
  const before = await figures();
  await send(KEYS / 4, KEYS);
  const after = await figures();
  process.stdout.write(`${overflow}: ${KEYS} keys, ${JSON.stringify({ before, after, seen })}\n`);
  expect(after.keys).toBe(PLACES);
  expect(after.bytes - before.bytes).toBeLessThan(MOST_BYTES);
  expect(seen).toEqual(
    overflow === 'refuse'
      ? { admitted: PLACES, limited: 0, refused: KEYS - PLACES }
      : { admitted: PLACES + 1, limited: KEYS - PLACES - 1, refused: 0 },
  );
});

it('a node with a small heap refuses further keys before it is full', async () => {
  const node = await serve(['--store', 'memory', '--metrics', 'open', '--cycle-ms', String(justBegun())], {
    NODE_OPTIONS: '--max-old-space-size=128',
  });
  const owner = await Holder.minted(node.url);
  const contract_id = await owner.contractOn('m', {
    threshold: 1,
    within: 1,
    keyed: { max_keys: 1_000_000, store_keys: 'plain' },
  });
  const nameOfLength = (n: number) => `${n}`.padStart(256, 'k');
  let last: unknown;
  let from = 0;
  for (; last !== 'memory_low' && from < 1_000_000; from += 400) {
    const events = Array.from({ length: 400 }, (_, n) => ({ type: 'request', key: nameOfLength(from + n) }));
    last = (await owner.post('/api/chain/m/events', events)).body.outcomes.at(-1).code;
  }
  const known = await owner.get(`${gateOf('m', contract_id)}?peek=1&key=${nameOfLength(0)}`);
  process.stdout.write(`${from} names of 256 characters in a heap of 128 MiB\n`);
  expect([last, known.body.decision]).toEqual(['memory_low', 'limited']);
});

/**
 * The length of a cycle, in ms, that began no more than 500 s ago and goes on for 50 minutes: cycles lie at multiples of their length since
 * 1970, and with the next one keys that are idle are forgotten. Whole hours end while this test runs, once in a while.
 */
function justBegun(): number {
  return Math.floor(Date.now() / 500_000);
}

/** Of up to 249 characters, 130 on average: no two are equal. */
function nameOf(n: number): string {
  return `${(n * 2_654_435_761) % 4_294_967_296}/${n}/${'x'.repeat(n % 230)}`;
}
