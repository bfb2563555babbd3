// Keys with far more requests than any other, such as scrapers. They are listed, and limits are chosen without them.
//
//   sizes   ·:·::·:·:··:·      ·  |            *      *        sizes on a logarithmic scale
//           Q1    Q3             fence   gap   suspects
//
// A size is a key's request count or its largest window count. A key is a suspect if its size
//
//   - lies above Tukey's outer fence on a logarithmic scale, Q3 (Q3 / Q1)^3, with Q3 / Q1 taken as at least the root of 2, and
//   - lies above a gap: the smallest suspect is at least twice the next smaller key.
//
// One key, or a quarter of them, does not move the quartiles. The gap spares the long tail of a power law, in which every size has
// a neighbour. Source: J. W. Tukey, Exploratory Data Analysis, 1977 (fences: quartile + 3 interquartile ranges).

import { isIP } from 'node:net';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { networkOf } from '../../core/schema/address-network.js';
import { exact } from '../../core/schema/fields.js';
import type { Shaped } from '../../core/schema/json-schema.js';
import { Count, Text } from '../../harness/outcome/read-schema.js';

const network = {
  network: Text('Its address and length.'),
  keys: Count('Its addresses.'),
  requests: Count('Their requests.'),
};
export const SuspectNetwork = exact(network);
export type SuspectNetwork = Shaped<typeof SuspectNetwork>;

/** Networks of keys that are addresses, most requests first; those with a single address are left to the keys. */
export function suspectNetworks(keys: Iterable<readonly [name: string, requests: number]>): SuspectNetwork[] {
  const networks = new Map<string, { keys: number; requests: number }>();
  for (const [name, requests] of keys) {
    const network = networkIn(name);
    if (network === undefined) continue;
    const sum = networks.get(network) ?? { keys: 0, requests: 0 };
    networks.set(network, { keys: sum.keys + 1, requests: sum.requests + requests });
  }
  const from = suspectFrom(Float64Array.from(networks.values(), ({ requests }) => requests));
  return [...networks]
    .map(([network, sum]) => ({ network, ...sum }))
    .filter(({ keys, requests }) => keys > 1 && requests >= from)
    .sort((a, b) => b.requests - a.requests);
}

export const AlikeNetwork = exact({
  ...network,
  least: Count('Least requests of an address.'),
  most: Count('Most requests of an address.'),
});
export type AlikeNetwork = Shaped<typeof AlikeNetwork>;

const LEAST_REQUESTS = 4;
/** Standard deviations below the mean: 1 in 100,000. */
const FAR_BELOW = -4.26;

/**
 * Networks of at least 8 addresses, with 4 requests or more each on average, whose counts are more alike than chance makes them.
 * Counts of people who share a network vary at least as a Poisson law does, so the sum of (n - mean)^2 / mean is about chi-square
 * with one degree less than addresses; here it lies below the quantile of 0.00001, by the approximation of Wilson and Hilferty.
 */
export function alikeNetworks(keys: Iterable<readonly [name: string, requests: number]>): AlikeNetwork[] {
  const counts = new Map<string, number[]>();
  for (const [name, requests] of keys) {
    const network = networkIn(name);
    if (network !== undefined) getOrInsert(counts, network, () => []).push(requests);
  }
  return [...counts]
    .filter(([, all]) => areAlike(all))
    .map(([network, all]) => ({
      network,
      keys: all.length,
      requests: all.reduce((sum, n) => sum + n, 0),
      least: Math.min(...all),
      most: Math.max(...all),
    }))
    .sort((a, b) => b.requests - a.requests);
}

function areAlike(counts: readonly number[]): boolean {
  const mean = counts.reduce((sum, n) => sum + n, 0) / counts.length;
  if (counts.length < LEAST_KEYS || mean < LEAST_REQUESTS) return false;
  const spread = counts.reduce((sum, n) => sum + (n - mean) ** 2, 0) / mean;
  const degrees = counts.length - 1;
  const part = 2 / (9 * degrees);
  return spread < degrees * Math.max(0, 1 - part + FAR_BELOW * Math.sqrt(part)) ** 3;
}

function networkIn(name: string): string | undefined {
  const address = isIP(name) === 6 ? networkOf(name) : name;
  const [, v4] = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(address) ?? [];
  if (v4 !== undefined) return `${v4}.0/24`;
  return address === name ? undefined : address;
}

const LEAST_KEYS = 8;
const LEAST_QUOTIENT = Math.SQRT2;
const GAP = 2;

/** The smallest size of a suspect; Infinity if there is none. @param sizes of all keys, above 0 */
export function suspectFrom(sizes: Float64Array): number {
  if (sizes.length < LEAST_KEYS) return Number.POSITIVE_INFINITY;
  const sorted = sizes.slice().sort();
  const last = sorted.length - 1;
  const q1 = sorted[Math.floor(last / 4)]!;
  const q3 = sorted[Math.ceil((3 * last) / 4)]!;
  const fence = q3 * Math.max(q3 / q1, LEAST_QUOTIENT) ** 3;
  let from = Number.POSITIVE_INFINITY;
  for (let i = last; i > 0 && sorted[i]! > fence; i -= 1) if (sorted[i]! >= GAP * sorted[i - 1]!) from = sorted[i]!;
  return from;
}
