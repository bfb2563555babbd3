// The state of a contract, or of a key, as every store keeps it: in memory and in SQLite as columns, in Redis as one text.
//
//   columns   state | held_until_cycle | refusals | windows: bytes, whose checksum covers id, key, state and hold, too
//   text      ["limiting",2306790013,0,"…"], the bytes in base64; until 0.2 the whole as V8 serializes it, in base64
import { deserialize } from 'node:v8';
import type { ContractState } from './store.js';
import { countsFromCells, decodeRule, decodeWindows, encodeWindows } from './window-bytes.js';

export interface StateColumns {
  readonly state: string;
  readonly held_until_cycle: number;
  readonly refusals: number;
  /** See window-bytes.ts. */
  readonly windows: Uint8Array;
}

/** Whose state it is. */
type Owner = Pick<ContractState, 'id' | 'key'>;

/** Keeps no part of the state: it may change afterwards. */
export function encodeState(image: ContractState): StateColumns {
  const { state, heldUntilCycle, refusals = 0, windows, rule } = image;
  const bytes = encodeWindows(windows, besideOf(image, state, heldUntilCycle), rule);
  return { state, held_until_cycle: heldUntilCycle, refusals, windows: bytes };
}

/** @returns undefined if these are not the columns that were written for this owner */
export function decodeState(owner: Owner, columns: StateColumns): ContractState | undefined {
  const { state, held_until_cycle: heldUntilCycle, refusals, windows: bytes } = columns;
  const windows = decodeWindows(bytes, besideOf(owner, state, heldUntilCycle));
  if (windows === undefined) return undefined;
  const rule = decodeRule(bytes);
  return {
    id: owner.id,
    ...(owner.key === undefined ? {} : { key: owner.key }),
    ...{ state, heldUntilCycle, windows },
    ...(refusals === 0 ? {} : { refusals }),
    ...(rule === undefined ? {} : { rule }),
  };
}

/** As `encodeState`. */
export function stateToText(image: ContractState): string {
  const { state, held_until_cycle, refusals, windows } = encodeState(image);
  return JSON.stringify([state, held_until_cycle, refusals, Buffer.from(windows).toString('base64')]);
}

/** As `decodeState`. */
export function stateFromText(owner: Owner, text: string): ContractState | undefined {
  if (!text.startsWith('[')) {
    const { rule, ...image } = countsFromCells(deserialize(Buffer.from(text, 'base64'))) as ContractState;
    return rule === undefined ? image : { ...image, rule: { ...rule, isFormer: true } };
  }
  const [state, held_until_cycle, refusals, bytes] = JSON.parse(text) as [string, number, number, string];
  return decodeState(owner, { state, held_until_cycle, refusals, windows: Buffer.from(bytes, 'base64') });
}

function besideOf({ id, key }: Owner, state: string, heldUntilCycle: number): string {
  return `${id} ${state} ${heldUntilCycle}${key === undefined ? '' : ` ${key}`}`;
}
