// The rule of a limit that was found, and what it lets through.
import { definitionOf } from '../../core/limiter/products/products.js';
import { play } from '../../core/limiter/products/profile.js';
import { type RuleDefinition, ratePerMs, ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { Failure } from '../../core/schema/failure.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import type { FoundLimiter, GatewayLimits } from './found.js';

/** A limit is asked for its rule several times, and each time would be checked. */
const rules = new WeakMap<FoundLimiter, RuleDefinition>();

/** @throws Failure `invalid_definition` if a parameter is out of bounds */
export function ruleIn(limiter: FoundLimiter): RuleDefinition {
  return getOrInsert(rules, limiter, () => definitionOf(limiter.limit, CYCLE_MS));
}

/** Limits that are out of bounds become notes. */
export function fittingLimits(gateway: GatewayLimits): GatewayLimits {
  const faults = gateway.limiters.flatMap((limiter) => {
    try {
      if (limiter.limit !== undefined) ruleIn(limiter);
      return [];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return [{ limiter, what: `${limiter.name}: ${error.why ?? error.what}`.replace(/\.$/, '') }];
    }
  });
  const bad = new Set(faults.map(({ limiter }) => limiter));
  return {
    ...gateway,
    limiters: gateway.limiters.filter((one) => !bad.has(one)),
    notUnderstood: [
      ...gateway.notUnderstood,
      ...faults.map(({ limiter: { file, line }, what }) => ({ file, line, what })),
    ],
  };
}

/** In the long run, requests of a key per ms by all instances; undefined for limits on requests in flight. */
export function paceOf(limiter: FoundLimiter): number | undefined {
  const perMs = limiter.limit === undefined ? undefined : ratePerMs(ruleIn(limiter));
  return perMs && perMs * limiter.instances;
}

/** The delays of a simultaneous burst of one key, which the instances share. */
export function burstDelays(limiter: FoundLimiter, sent: number): number[] {
  const rule = ruleOf(ruleIn(limiter));
  return Array.from({ length: limiter.instances }, (_, i) => Math.floor((sent + i) / limiter.instances)).flatMap((n) =>
    play(
      rule,
      Array.from({ length: n }, () => 0),
    ),
  );
}

const SMALLEST_BURST = 100;
const LARGEST_BURST = 1_000_000;

/** What is admitted of the smallest burst, in powers of ten, that is not admitted whole. */
export function admittedAtOnce(limiter: FoundLimiter) {
  for (let sent = SMALLEST_BURST; ; sent *= 10) {
    const delays = burstDelays(limiter, sent);
    const [atOnce, held] = [delays.filter((delay) => delay === 0).length, delays.filter((delay) => delay > 0).length];
    if (atOnce + held < sent || sent >= LARGEST_BURST) return { sent, atOnce, held };
  }
}
