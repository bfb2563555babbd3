// Limits by descriptors in the format of Envoy's rate limit service, and the search for the limit of a descriptor.
//
//   domain: shop                                  (path, /pay) (user, ann)      a descriptor, entry by entry
//   descriptors:                                     │            │
//     - key: path                                    │            │
//       value: /pay            ◄─────────────────────┘            │             the exact value goes before `/p*`, that before none
//       descriptors:                                              │
//         - key: user          ◄──────────────────────────────────┘             the last entry decides: its rate_limit, if it has one
//           rate_limit: { unit: minute, requests_per_unit: 5 }
//
// Each user of /pay has a count: entries without a value, or with a prefix, share the limit and not the count.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { ruleLimiter } from '../../core/limiter/rule-limiter.js';
import { sha256Hex } from '../../core/schema/canonical.js';

/** Windows in ms, at multiples since 1970. A month has 30 days, a year 365. */
const UNIT_MS = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
};

export type Unit = keyof typeof UNIT_MS;

export const units = Object.keys(UNIT_MS) as readonly Unit[];

export interface DescriptorLimit {
  /** For example `shop.path_/pay.user`. Unique in its domain. */
  readonly path: string;
  readonly name: string | undefined;
  readonly replaces: readonly string[];
  /** Admits everything; its contract, if any, is a shadow. */
  readonly isShadow: boolean;
  /** Undefined if nothing is counted: everything is admitted, or, with 0 requests per unit, nothing. */
  readonly definition: ContractDefinition | undefined;
  readonly perUnit: { readonly requests: number; readonly unit: Unit } | undefined;
}

export interface DescriptorLevel {
  readonly exact: Map<string, Branch>;
  /** By prefix, the longest first. */
  readonly begins: { readonly key: string; readonly prefix: string; readonly branch: Branch }[];
  readonly any: Map<string, Branch>;
}

export interface Branch {
  limit: DescriptorLimit | undefined;
  readonly below: DescriptorLevel;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * Windows begin at multiples of the unit since 1970, and refused requests count, too.
 * Source: envoyproxy/ratelimit, which adds every hit to a counter of the running unit and compares the sum with the limit.
 */
export function limitPerUnit(
  requests: number,
  unit: Unit,
  path: string,
): Pick<DescriptorLimit, 'definition' | 'perUnit'> {
  if (requests === 0) return { definition: undefined, perUnit: { requests, unit } };
  const params = { limit: requests, window_ms: UNIT_MS[unit], align: 'epoch', count_refused: true } as const;
  const definition = ruleLimiter({ primitive: 'fixed_window', params });
  return { definition: named(definition, path), perUnit: { requests, unit } };
}

export function untilReset(unit: Unit, nowMs: number): number {
  return UNIT_MS[unit] - (nowMs % UNIT_MS[unit]);
}

/** Names the contract after its path, in at most 64 characters, so that it is found again. */
export function named(definition: ContractDefinition, path: string): ContractDefinition {
  const plain = path.replace(/[^A-Za-z0-9_-]/g, '_');
  const short = plain.length <= 64 ? plain : `${plain.slice(0, 51)}-${sha256Hex(path).slice(0, 12)}`;
  return { ...definition, name: /^[A-Za-z]/.test(short) ? short : `l${short.slice(0, 63)}` };
}

export function idOf({ key, value }: Entry): string {
  return `${key.length}:${key}${value}`;
}

/** Undefined for a descriptor without one: it is admitted, and counted nowhere. */
export function findLimit(root: DescriptorLevel, entries: readonly Entry[]): DescriptorLimit | undefined {
  let level = root;
  let limit: DescriptorLimit | undefined;
  for (const entry of entries) {
    const { key, value } = entry;
    const branch =
      level.exact.get(idOf(entry)) ??
      level.begins.find((one) => one.key === key && value.startsWith(one.prefix))?.branch ??
      level.any.get(key);
    if (branch === undefined) return undefined;
    limit = branch.limit;
    level = branch.below;
  }
  return limit;
}

/** Longer keys and empty ones are hashed. */
const KEY_BYTES = 200;
const HASHED = 'sha256:';

/** Made of the values: the keys of the entries are those of the limit. */
export function keyOf(entries: readonly Entry[]): string {
  const [first, ...more] = entries;
  const key = more.length === 0 ? first!.value : JSON.stringify(entries.map(({ value }) => value));
  const isPlain = key !== '' && Buffer.byteLength(key) <= KEY_BYTES && !key.startsWith(HASHED);
  return isPlain ? key : HASHED + sha256Hex(key);
}
