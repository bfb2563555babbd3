// The gates of a contract, with those of its keys, go on by another plan.
//
//   gate, keys ─► images ─► carried over (limiter/carry-over.ts) ─► gate, keys of the new plan ─► the contract becomes these at once
//
// It moves to another state, if the new numbers ask for that, at its next event or cycle, as always.
import type { GateImage } from '../limiter/gate.js';
import type { Plan, Steps } from '../limiter/plan.js';
import type { ContractImage } from '../store/store.js';
import type { Contract } from './contract.js';
import type { Keys } from './keys.js';

/** What is kept of a gate; undefined where it begins anew. */
export type Convert = (image: GateImage) => GateImage | undefined;

/** Taking over a key, in units of work. */
const A_KEY = 1 / 16;

/** Makes the contract one of another image and plan, which go on from the gates of `source`: in general its own. */
export function* becomeInSteps(
  contract: Contract,
  image: ContractImage,
  plan: Plan,
  source: Pick<Contract, 'gate' | 'keys'>,
  convert: Convert,
): Steps<void> {
  const keys = contract.makeKeys(image, plan, contract.cycle);
  const { keys: before } = contract;
  const taken = keys && source.keys ? yield* takeKeys(keys, source.keys, convert) : [];
  if (keys !== undefined && before !== undefined) keys.goOnFrom(before);
  contract.become(image, plan, convert(source.gate.image()), keys);
  for (const [key, isStored] of taken) if (!isStored || source !== contract) keys?.markDirty(key);
}

/**
 * Restores the keys of `source`, as they are converted; those that begin anew are made with their next event.
 * @returns their numbers, and whether the store knows what they were
 */
export function* takeKeys(keys: Keys, source: Keys, convert: Convert): Steps<(readonly [number, boolean])[]> {
  const taken: (readonly [number, boolean])[] = [];
  for (const [{ id, key, ...gate }, isStored] of source.states()) {
    const converted = convert(gate);
    if (converted !== undefined) {
      const own = { id, ...(key === undefined ? {} : { key }), ...converted };
      taken.push([keys.restore(own), isStored]);
    }
    yield A_KEY;
  }
  return taken;
}
