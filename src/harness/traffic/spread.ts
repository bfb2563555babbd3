// Spreads the requests of a key in one second evenly over it, for a log of whole seconds and a rule that decides by the ms.
//
//   read     |10 . . . . . . . . .|4 . . . . . . . . .|      all at the start of their second: a burst that was none
//   placed   |1 1 1 1 1 1 1 1 1 1 |1    1    1    1    |     request k of n at floor(1000 k / n) ms
import type { Plan } from '../../core/limiter/plan.js';
import type { PlannedRule } from '../../core/limiter/planned-rule.js';
import { LIMITED } from '../../core/limiter/rule/rule.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { CycleCounts } from './requests.js';

export const SECOND_MS = 1000;

export function decidesByMs({ rule, definition }: Plan): boolean {
  return rule !== undefined && definition.rule?.primitive !== 'rolling_count';
}

export function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

interface Placed {
  readonly ms: number;
  readonly contract: number;
  n: number;
  readonly cost: number | undefined;
}

/** The decisions of a rule if all requests of a second arrive at its start: the harshest reading of whole seconds. */
export class BunchedCount {
  limited = 0;
  readonly #planned: Pick<PlannedRule, 'rule' | 'holdMs'>;
  readonly #states: unknown[] = [];

  constructor(planned: Pick<PlannedRule, 'rule' | 'holdMs'>) {
    this.#planned = planned;
  }

  add(contract: number, n: number, ms: number, cost = 1): void {
    const { rule, holdMs } = this.#planned;
    const key = rule.shared === true ? 0 : contract;
    this.#states[key] ??= rule.fresh(ms);
    for (let k = 0; k < n; k += 1) if (rule.admit(this.#states[key], ms, cost, holdMs) === LIMITED) this.limited += 1;
  }
}

interface Spreading {
  readonly cycleMs: number;
  /** Rows of a group are spread together. Default: each row is a group. */
  readonly groupOf?: ((contract: number) => number) | undefined;
  /** Default: requests of a contract at the start of their second are summed. */
  readonly keepsOrder?: boolean | undefined;
  /** Called with the requests as read. */
  readonly asRead?: ((contract: number, n: number, ms: number, cost: number | undefined) => void) | undefined;
}

/** Batches of a second in, batches of `cycleMs` out. Holds one second at a time. */
export function* spreadSeconds(seconds: Iterable<CycleCounts>, options: Spreading): Generator<CycleCounts> {
  let keys: readonly string[] = [];
  let open: Placed[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const second of seconds) {
    keys = second.keys;
    for (const placed of placedIn(second, options)) {
      if (placed.ms >= end) {
        if (open.length > 0) yield batchOf(open, keys, options.cycleMs);
        open = [];
        end = startOf(cycleOf(placed.ms, options.cycleMs) + 1, options.cycleMs);
      }
      open.push(placed);
    }
  }
  if (open.length > 0) yield batchOf(open, keys, options.cycleMs);
}

function batchOf(placed: readonly Placed[], keys: readonly string[], cycleMs: number): CycleCounts {
  return {
    cycle: cycleOf(placed[0]!.ms, cycleMs),
    keys,
    contracts: Uint32Array.from(placed, ({ contract }) => contract),
    requests: Float64Array.from(placed, ({ n }) => n),
    instants: Float64Array.from(placed, ({ ms }) => ms),
    costs: placed[0]!.cost === undefined ? undefined : Float64Array.from(placed, ({ cost }) => cost!),
  };
}

function placedIn({ cycle, contracts, requests, instants, costs }: CycleCounts, options: Spreading): Placed[] {
  const { groupOf = (contract) => contract, keepsOrder = false, asRead } = options;
  const ms = cycle * SECOND_MS;
  const counts = new Map<number, Placed>();
  // Times with a fraction, found after the log was taken to have whole seconds.
  const exact: Placed[] = [];
  for (let k = 0; k < contracts.length; k += 1) {
    const one = { ms: instants![k]!, contract: contracts[k]!, n: requests[k]!, cost: costs?.[k] };
    const key = costs === undefined && !keepsOrder ? one.contract : -1 - k;
    const known = counts.get(key);
    if (one.ms !== ms) exact.push(one);
    else if (known === undefined) counts.set(key, one);
    else known.n += one.n;
  }
  const groups = new Map<number, { n: number; placed: number }>();
  for (const { contract, n } of counts.values())
    getOrInsert(groups, groupOf(contract), () => ({ n: 0, placed: 0 })).n += n;
  const spread = [...exact];
  for (const { contract, n, cost } of counts.values()) {
    asRead?.(contract, n, ms, cost);
    const group = groups.get(groupOf(contract))!;
    for (let left = n; left > 0; left -= 1, group.placed += 1) {
      const placedMs = ms + Math.floor((group.placed * SECOND_MS) / group.n);
      const last = spread.at(-1);
      if (last?.ms === placedMs && last.contract === contract && cost === undefined) last.n += 1;
      else spread.push({ ms: placedMs, contract, n: 1, cost });
    }
  }
  for (const one of exact) asRead?.(one.contract, one.n, one.ms, one.cost);
  return spread.sort((a, b) => a.ms - b.ms);
}

// If only the number of requests in an interval is known, they are spread over it.
//
//   n = 5 in 60 s    |x           x           x           x           x           |
//                    0           12          24          36          48          60 s     request k at floor(k * spread / n)

/** The longest interval, in ms: a day. Its square is below 2^53, so doubles are exact. */
export const MAX_SPREAD_MS = 86_400_000;

/**
 * How many of n requests arrive before `offsetMs`: those with `k * spreadMs < offsetMs * n`, so `ceil(offsetMs * n / spreadMs)`.
 * n is split into a multiple of spreadMs and a remainder, so that every product is an exact integer.
 * @param offsetMs 0 to spreadMs
 * @param n 0 to 2^53 / spreadMs times spreadMs
 * @param spreadMs 1 to MAX_SPREAD_MS
 */
export function requestsBefore(offsetMs: number, n: number, spreadMs: number): number {
  const rest = n % spreadMs;
  const ofRest = offsetMs * rest;
  const over = ofRest % spreadMs;
  return ((n - rest) / spreadMs) * offsetMs + (ofRest - over) / spreadMs + (over > 0 ? 1 : 0);
}

/** Request k arrives `floor(k * spreadMs / n)` ms after `unixMs`. One step per cycle. `spreadMs` from 1 to a day. */
export function spreadOverCycles(
  unixMs: number,
  n: number,
  spreadMs: number,
  cycleMs: number,
  add: (cycle: number, n: number) => void,
): void {
  let placed = 0;
  let offsetMs = 0;
  while (placed < n) {
    const cycle = cycleOf(unixMs + offsetMs, cycleMs);
    const endMs = Math.min(spreadMs, startOf(cycle + 1, cycleMs) - unixMs);
    const before = requestsBefore(endMs, n, spreadMs);
    add(cycle, before - placed);
    placed = before;
    // With more requests than milliseconds, every ms has one, and `placed * spreadMs` might not be exact.
    offsetMs = n > spreadMs ? endMs : Math.floor((placed * spreadMs) / n);
  }
}
