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
import { networkOf } from '../traffic/network.js';

export interface SuspectNetwork {
  readonly network: string;
  readonly keys: number;
  readonly requests: number;
}

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
