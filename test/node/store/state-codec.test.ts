// The one codec of states: what every store keeps of a contract or a key.
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WindowImage } from '../../../src/core/limiter/window.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { decodeState, encodeState } from '../../../src/node/store/state-codec.js';
import type { ContractState } from '../../../src/node/store/store.js';

const CYCLE = 2_306_790_000;
const windows = [
  { cycle: CYCLE, counts: [0, 3, 7, 1] },
  { cycle: CYCLE, counts: [] },
];

const states: readonly ContractState[] = [
  { id: 'c', state: 'allowing', heldUntilCycle: CYCLE, windows },
  { id: 'c', key: '北門 ⛩', state: 'limiting', heldUntilCycle: CYCLE + 9, refusals: 3, windows },
  {
    ...{ id: 'c', key: '["a', state: 'limiting', heldUntilCycle: Number.MIN_SAFE_INTEGER },
    windows: [{ cycle: CYCLE, counts: [] }],
    rule: { refused: 1, atMs: CYCLE * 777 + 0.25, state: { tokens: 1 / 3, log: new Float64Array([1, 2]), of: [0] } },
  },
];

it.each(states)('%j comes back from its bytes', (state) => {
  expect(decodeState(state, encodeState(state))).toEqual(state);
});

it('a state of another contract or key is not read', () => {
  const [ofContract, ofKey] = states;
  const others = [ofContract!, { id: 'c', key: 'b' }, { ...ofKey!, id: 'd' }];
  expect(others.map((owner) => decodeState(owner, encodeState(ofKey!)))).toEqual([undefined, undefined, undefined]);
});

it('the bytes of a state share nothing with the state of its rule', () => {
  const rule = { refused: 0 as const, atMs: 0, state: { tokens: 5 } };
  const state = { id: 'c', state: 'allowing', heldUntilCycle: 0, windows: [{ cycle: 0, counts: [] }], rule };
  const bytes = encodeState(state);
  rule.state.tokens = 0;
  expect(decodeState(state, bytes)?.rule?.state).toEqual({ tokens: 5 });
});

const beside = { id: 'c', state: 'allowing', heldUntilCycle: CYCLE };

function encodeWindows(windows: readonly WindowImage[]): Uint8Array {
  return encodeState({ ...beside, windows });
}

function decodeWindows(windows: Uint8Array): readonly WindowImage[] | undefined {
  return decodeState(beside, windows)?.windows;
}

// biome-ignore format: one case a line
it.each<[string, readonly WindowImage[], number]>([
  ['no window', [], 24],
  ['an empty window', [{ cycle: CYCLE, counts: [] }], 33],
  ['one event', [{ cycle: CYCLE, counts: [0, 1] }], 35],
  ['60 cycles, all busy', [{ cycle: CYCLE, counts: dense(60, 9) }], 153],
  ['60 cycles, every other one busy', [{ cycle: CYCLE, counts: dense(30, 9, 2) }], 93],
  ['100,000 cycles, all busy', [{ cycle: CYCLE, counts: dense(100_000, 200) }], 300_035],
  ['100,000 cycles, the oldest busy', [{ cycle: CYCLE, counts: [99_999, 1] }], 37],
  ['counts beyond 2^32 and 2^53', [{ cycle: 0, counts: [3, 2 ** 32 + 1, 4, 2 ** 53 - 1, 5, 2 ** 60] }], 58],
  ['the greatest count there is', [{ cycle: 0, counts: [0, Number.MAX_VALUE] }], 181],
  ['cycles before 1970, beyond 2^32', [{ cycle: -1, counts: [] }, { cycle: 2 ** 52 + 1, counts: [] }], 42],
])('%s comes back from its bytes', (_, windows, bytes) => {
  const encoded = encodeWindows(windows);
  // As text: comparing 200,000 numbers one by one takes a second.
  expect([JSON.stringify(decodeWindows(encoded)), encoded.length]).toEqual([JSON.stringify(windows), bytes]);
});

it('windows come back from their bytes whatever they are', () => {
  fc.assert(
    fc.property(anyWindows, (windows) => {
      expect(decodeWindows(encodeWindows(windows))).toEqual(windows);
    }),
  );
});

it('windows are not read again when a bit has flipped', () => {
  fc.assert(
    fc.property(anyWindows, fc.nat(), (windows, which) => {
      const bytes = encodeWindows(windows).slice();
      const bit = which % (8 * bytes.length);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeWindows(bytes)).toBeUndefined();
    }),
  );
});

it('windows of another version are not read', () => {
  const bytes = Buffer.from(encodeWindows([{ cycle: CYCLE, counts: [0, 1] }]));
  const versioned = (version: number) => {
    bytes[0] = version;
    bytes.writeUInt32LE(crc32(bytes.subarray(0, -4), crc32('c')), bytes.length - 4);
    return decodeWindows(bytes);
  };
  expect([0, 1, 2].map(versioned)).toEqual([undefined, [{ cycle: CYCLE, counts: [0, 1] }], undefined]);
});

it('windows are not read again when a piece is missing, wherever they were cut', () => {
  const bytes = encodeWindows([{ cycle: CYCLE, counts: dense(60, 1000) }]);
  const cut = Array.from({ length: bytes.length }, (_, length) => length);
  expect(cut.filter((length) => decodeWindows(bytes.subarray(0, length)) !== undefined)).toEqual([]);
  expect(cut.slice(1).filter((from) => decodeWindows(bytes.subarray(from)) !== undefined)).toEqual([]);
});

it.each<[string, WindowImage['counts']]>([
  ['no events', [0, 0]],
  ['less than no events', [0, -1]],
  ['half an event', [0, 0.5]],
  ['endless events', [0, Number.POSITIVE_INFINITY]],
  ['not a number of events', [0, Number.NaN]],
  ['an age twice', [3, 1, 3, 1]],
  ['ages that fall', [3, 1, 2, 1]],
  ['an age before the present', [-1, 1]],
  ['half a cycle', [0.5, 1]],
])('windows with %s are refused', (_, counts) => {
  expect(() => encodeWindows([{ cycle: CYCLE, counts }])).toThrow(Bug);
});

function dense(cycles: number, events: number, step = 1): number[] {
  return Array.from({ length: cycles }, (_, n) => [step * n, events]).flat();
}

const anyEvents = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.maxSafeNat().map((n) => n + 1),
  fc.double({ min: 1, max: Number.MAX_VALUE, noNaN: true }).map(Math.ceil),
);

const anyAges = fc.oneof(
  fc.uniqueArray(fc.nat(99_999), { maxLength: 40 }),
  fc.uniqueArray(fc.nat(20), { maxLength: 20 }),
);

const anyWindow: fc.Arbitrary<WindowImage> = fc.record({
  cycle: fc.maxSafeInteger(),
  counts: anyAges.chain((ages) =>
    fc
      .tuple(...ages.sort((a, b) => a - b).map((age) => fc.tuple(fc.constant(age), anyEvents)))
      .map((all) => all.flat()),
  ),
});

const anyWindows = fc.array(anyWindow, { maxLength: 4 });
