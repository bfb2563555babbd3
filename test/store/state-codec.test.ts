// The one codec of states: what every store keeps of a contract or a key, and what 0.2 left in Redis.
import { serialize } from 'node:v8';
import { expect, it } from 'vitest';
import { decodeState, encodeState, stateFromText, stateToText } from '../../src/store/state-codec.js';
import type { ContractState } from '../../src/store/store.js';

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

it.each(states)('%j comes back from columns and from text', (state) => {
  expect(decodeState(state, encodeState(state))).toEqual(state);
  expect(stateFromText(state, stateToText(state))).toEqual(state);
});

it.each(states)('%j comes back as 0.2 wrote it to Redis', (state) => {
  const rule = state.rule && { rule: { ...state.rule, isFormer: true } };
  expect(stateFromText(state, serialize(state).toString('base64'))).toEqual({ ...state, ...rule });
});

it('a state that has changed, or is of another, is not read', () => {
  const [, state] = states;
  const columns = encodeState(state!);
  const text = stateToText(state!);
  expect([
    decodeState({ id: 'c', key: 'b' }, columns),
    decodeState(state!, { ...columns, state: 'allowing' }),
    decodeState(state!, { ...columns, held_until_cycle: CYCLE }),
    stateFromText(state!, text.replace('limiting', 'allowing')),
  ]).toEqual([undefined, undefined, undefined, undefined]);
});

it('windows of rules that 0.2 kept in cells are read, also within another rule', () => {
  const cells = Float64Array.from([5, CYCLE, 1, 3, 1, 4, 0]);
  const window = {
    inWindow: 5,
    offset: CYCLE - 2 ** 31,
    slot: 1,
    within: 3,
    ring: Float64Array.from([1, 4, 0]),
    ringAt: 0,
  };
  const stored = (state: unknown): ContractState => ({ ...states[2]!, rule: { refused: 0, atMs: 0, state } });
  const read = (state: unknown) => decodeState(stored(state), encodeState(stored(state)))?.rule?.state;
  expect(read({ members: [{ originMs: 0, cells }, { tokens: 1 }], refusedMs: 7 })).toEqual({
    members: [{ originMs: 0, window }, { tokens: 1 }],
    refusedMs: 7,
  });
  const both = Float64Array.from([...cells, ...cells]);
  expect(read({ turn: 1, madeMs: 0, cells: both, sent: [], lost: [] })).toEqual({
    ...{ turn: 1, madeMs: 0, sent: [], lost: [] },
    windows: [window, window],
  });
  expect(read({ originMs: 0, window })).toEqual({ originMs: 0, window });
});

it('keeps no part of the state of a rule', () => {
  const rule = { refused: 0 as const, atMs: 0, state: { tokens: 5 } };
  const state = { id: 'c', state: 'allowing', heldUntilCycle: 0, windows: [{ cycle: 0, counts: [] }], rule };
  const columns = encodeState(state);
  rule.state.tokens = 0;
  expect(decodeState(state, columns)?.rule?.state).toEqual({ tokens: 5 });
});
