// The keys of a contract in pages, by the number of their place in its table.
import type { Contract } from '../../../host/contract.js';
import type { Steps } from '../../../limiter/plan.js';
import type { KeyPage, KeyShown, KeysShown } from '../counting.js';
import { decisionOf } from '../decision.js';

const AT_ONCE = 64;

export function* keyPage(
  contract: Contract,
  { after, limit, limited, search }: KeyPage,
  cycle: number,
): Steps<KeysShown> {
  if (contract.keys === undefined) return { cycle, keys: [] };
  const { table } = contract.keys;
  const keys: KeyShown[] = [];
  let number = after;
  while (number < table.last && keys.length < limit) {
    number += 1;
    if (number % AT_ONCE === 0) yield;
    if (!table.has(number) || !table.nameOf(number).includes(search)) continue;
    if (limited && !contract.keys.isLimited(number)) continue;
    const name = table.nameOf(number);
    const none = { contract, kind: 0, n: 0, name };
    const { state, count, remaining, retry_after_cycles } = decisionOf(none, 0, contract.stateOf(name, cycle));
    keys.push({ key: name, state, count, remaining, retry_after_cycles });
  }
  return { cycle, keys, ...(number < table.last ? { next: number } : {}) };
}
