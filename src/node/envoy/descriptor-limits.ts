// Limits by descriptors, in the format that users of Envoy's rate limit service know, and which limit a descriptor has.
//
//   domain: shop                                  (path, /pay) (user, ann)      a descriptor, entry by entry
//   descriptors:                                     │            │
//     - key: path                                    │            │
//       value: /pay            ◄─────────────────────┘            │             the exact value goes before `/p*`, that before none
//       descriptors:                                              │
//         - key: user          ◄──────────────────────────────────┘             the last entry decides: its rate_limit, if it has one
//           rate_limit: { unit: minute, requests_per_unit: 5 }
//
// Each user of /pay has a count: entries that name no value, or a part of one, share the limit and not the count.
import type { ContractDefinition } from '../../limiter/definition.js';
import { ruleLimiter } from '../../limiter/rule-limiter.js';
import { sha256Hex } from '../../schema/canonical.js';

/** Lengths of the windows in ms: they begin at multiples since 1970. A month has 30 days, a year 365. */
const UNIT_MS = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
};

export type Unit = keyof typeof UNIT_MS;

export const units = Object.keys(UNIT_MS) as readonly Unit[];

export interface DescriptorLimit {
  /** Where it stands, as `shop.path_/pay.user`. Unique in its domain. */
  readonly path: string;
  readonly name: string | undefined;
  readonly replaces: readonly string[];
  /** Whether everything is admitted: the contract is a shadow, where there is one. */
  readonly isShadow: boolean;
  /** Undefined where nothing is counted: everything is admitted, or, with 0 requests per unit, nothing. */
  readonly definition: ContractDefinition | undefined;
  /** Undefined for a limiter of another kind. */
  readonly perUnit: { readonly requests: number; readonly unit: Unit } | undefined;
}

export interface Level {
  readonly exact: Map<string, Branch>;
  /** By how the value begins; the longest first. */
  readonly begins: { readonly key: string; readonly prefix: string; readonly branch: Branch }[];
  readonly any: Map<string, Branch>;
}

export interface Branch {
  limit: DescriptorLimit | undefined;
  readonly below: Level;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * So many requests in each window of a unit: windows begin at multiples since 1970, and refused requests count, too.
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

/** The contract of a limit has a name by which it is found again: the last 64 characters of its path, as names are. */
export function named(definition: ContractDefinition, path: string): ContractDefinition {
  const plain = path.replace(/[^A-Za-z0-9_-]/g, '_');
  const short = plain.length <= 64 ? plain : `${plain.slice(0, 51)}-${sha256Hex(path).slice(0, 12)}`;
  return { ...definition, name: /^[A-Za-z]/.test(short) ? short : `l${short.slice(0, 63)}` };
}

export function idOf({ key, value }: Entry): string {
  return `${key.length}:${key}${value}`;
}

/** The limit of a descriptor; undefined where it has none: it is admitted, and counted nowhere. */
export function findLimit(root: Level, entries: readonly Entry[]): DescriptorLimit | undefined {
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

/** Bytes of a key; a longer one is its hash, and so is an empty one. */
const KEY_BYTES = 200;
const HASHED = 'sha256:';

/** The key of the count that a descriptor has within its limit: its values, since the keys are those of the limit. */
export function keyOf(entries: readonly Entry[]): string {
  const [first, ...more] = entries;
  const key = more.length === 0 ? first!.value : JSON.stringify(entries.map(({ value }) => value));
  const isPlain = key !== '' && Buffer.byteLength(key) <= KEY_BYTES && !key.startsWith(HASHED);
  return isPlain ? key : HASHED + sha256Hex(key);
}
