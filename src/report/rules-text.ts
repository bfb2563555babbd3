// Rules side by side, in words and cells: for the terminal and for the page.
import type { ChangedKey, ComparedRule } from '../sizing/side-by-side.js';
import { percent } from './sizing-text.js';
import { duration, number, plain } from './words.js';

/** What a new policy decides otherwise. */
export interface PolicyChanges {
  readonly newly_refused: number;
  readonly newly_admitted: number;
  readonly keys_newly_refused: number;
  readonly keys_newly_admitted: number;
  /** The first of the keys. */
  readonly by_key: readonly ChangedKey[];
}

export const ruleHeads = ['rule', 'limited', 'share', 'keys', 'worst 1 s', 'fairness', 'longest closed', 'in vain'];

export function ruleRows(rules: readonly ComparedRule[]): (string | number)[][] {
  return rules.map((one) => [
    one.name,
    one.limited,
    percent(one.limited_share),
    one.keys_limited,
    one.worst_burst_1s,
    Number(one.fairness.toFixed(3)),
    duration(one.longest_closure_ms),
    one.wasted,
  ]);
}

export const ruleLegend =
  "worst 1 s: the most of one key that started in a second. fairness: Jain's index of the shares admitted, 1 where all keys lose alike. longest closed: of one key, from a refused request until one would be admitted. in vain: refused requests of a key that was closed already, work for nothing.";

export function changesOf(changed: readonly ChangedKey[], top: number): PolicyChanges {
  const sum = (of: (one: ChangedKey) => number) => changed.reduce((total, one) => total + of(one), 0);
  return {
    newly_refused: sum(({ newly_refused }) => newly_refused),
    newly_admitted: sum(({ newly_admitted }) => newly_admitted),
    keys_newly_refused: changed.filter(({ newly_refused }) => newly_refused > 0).length,
    keys_newly_admitted: changed.filter(({ newly_admitted }) => newly_admitted > 0).length,
    by_key: changed.slice(0, top),
  };
}

export function changesSentence(changes: PolicyChanges): string {
  const { newly_refused, newly_admitted, keys_newly_refused, keys_newly_admitted } = changes;
  return `Newly refused: ${number(newly_refused)} of ${number(keys_newly_refused)} keys. Newly admitted: ${number(newly_admitted)} of ${number(keys_newly_admitted)} keys.`;
}

export const changedHeads = ['key', 'requests', 'newly refused', 'newly admitted'];

export function changedRows({ by_key }: PolicyChanges): (string | number)[][] {
  return by_key.map((one) => [plain(one.key), one.requests, one.newly_refused, one.newly_admitted]);
}
