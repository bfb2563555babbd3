// A rate limiter for one process: decides like a contract of the node, in memory and without a record. It reads no clock.

import { Failure } from '../schema/failure.js';
import { cycleMsFor } from '../schema/quantity.js';
import { CYCLE_MS, cycleOf, startOf } from '../time/cycle.js';
import type { Inspect } from './actor-system.js';
import { ContractActors } from './contract-actor.js';
import { admissionMs } from './forecast.js';
import { Gate } from './gate.js';
import { type Plan, spanCycles } from './plan.js';
import {
  checkLimiter,
  followsRule,
  limiterDefinition,
  type RuleLimiterSpec,
  windowsOf,
} from './products/limiter-spec.js';
import { planContract } from './validate.js';

export interface WindowOptions {
  /** Requests that a window may hold, a whole number from 1. Default: 100. */
  readonly threshold?: number;
  /** Length of the rolling window: cycles, or a text as `47s`. Default: 60 cycles. */
  readonly within?: number | string;
  /** In ms, a whole number from 1. Default: 777; if the window is a time, its largest divisor up to 777. */
  readonly cycleMs?: number;
}

type CycleOption = Pick<WindowOptions, 'cycleMs'>;

/** A text has the words of `--limit`: `100 in 60s`, `nginx 10r/s burst=5`. Fields that no limiter has are refused. */
export type LimiterOptions =
  | string
  | WindowOptions
  | ({ readonly limit: string } & CycleOption)
  | (RuleLimiterSpec & CycleOption);

export interface LimiterDecision {
  readonly admitted: number;
  readonly state: string;
  readonly remaining: number;
  /** Until a request would be admitted if no other arrives; 0: now, Infinity: never. Limited ones count in a window. */
  readonly retryAfterMs: number;
  /** Longest delay of the admitted requests by a rule; absent for a window. */
  readonly delayMs?: number;
}

export interface Limiter {
  /**
   * Decides `n` requests, one after the other. A window also counts limited requests.
   * @param nowMs unix time; a time before that of the last call counts as that time
   * @param n a whole number from 0. Default: 1
   * @param holdMs for a concurrency limit: time in flight of each once it starts. Default: `hold_ms`, else 0
   * @throws Failure `invalid_input`
   */
  decide(nowMs: number, n?: number, holdMs?: number): LimiterDecision;
}

/**
 * A rate limiter for one process.
 *
 *     createLimiter('100 in 60s').decide(Date.now())
 *     createLimiter({ threshold: 100, within: 60 }).decide(Date.now())
 *     createLimiter({ like: 'nginx', rate: '10r/s', burst: 5 }).decide(Date.now())
 *
 * @throws Failure `invalid_input` or `invalid_definition`, with the place of what cannot be read, is unknown or out of range
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  return limiterMaker(options).make();
}

/** Makes equal limiters, one per key. A key idle for `spanMs` is like a new one. @throws Failure as `createLimiter` */
export function limiterMaker(options: LimiterOptions = {}) {
  const { cycleMs: asked, ...given } = (Object(options) === options ? options : { limit: options }) as Given;
  const limiter = limiterOf(given);
  const cycleMs = asked ?? cycleMsFor(windowsOf(limiter), CYCLE_MS);
  const plan = planContract(limiterDefinition(limiter, cycleMs));
  const make = (): Limiter => {
    let gate: Gate | undefined;
    return {
      decide(nowMs: number, n = 1, holdMs?: number): LimiterDecision {
        if (!Number.isFinite(nowMs)) throw refused('nowMs', `is ${nowMs}, and must be a time in ms`);
        if (!Number.isSafeInteger(n) || n < 0) throw refused('n', `is ${n}, and must be a whole number from 0`);
        const cycle = cycleOf(nowMs, cycleMs);
        gate ??= makeGate(plan, cycle, undefined, cycleMs);
        const admitted = gate.decide(n, Math.max(cycle, gate.cycle), 0, nowMs, holdMs);
        return {
          admitted,
          state: plan.states[gate.state]!.name,
          remaining: gate.admits ? gate.remaining : 0,
          retryAfterMs: waitOf(gate, nowMs),
          ...(plan.rule === undefined ? {} : { delayMs: gate.delayMs }),
        };
      },
    };
  };
  return { make, spanMs: plan.rule?.spanMs ?? spanCycles(plan, cycleMs) * cycleMs };
}

const UNMADE = 'The limiter cannot be made.';

interface Given extends CycleOption {
  readonly limit?: unknown;
  readonly [field: string]: unknown;
}

function limiterOf(options: Given): Readonly<Record<string, unknown>> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  // Some products have a parameter of this name.
  const { limit, ...fields } = given;
  if (limit === undefined || followsRule(fields)) return checkLimiter(given);
  const [other] = Object.keys(fields);
  if (typeof limit !== 'string') throw refused('limit', "must be a text, as '100 in 60s'", UNMADE);
  if (other !== undefined) throw refused(other, 'cannot be combined with limit', UNMADE);
  return checkLimiter(limit);
}

function waitOf(gate: Gate, nowMs: number): number {
  // The search is needed only if there is no room.
  if (gate.admits && gate.remaining > 0) return 0;
  const ms = admissionMs(gate) ?? Number.POSITIVE_INFINITY;
  return ms <= gate.nowMs ? 0 : Math.max(0, ms - nowMs);
}

function refused(path: string, message: string, what = 'The limiter cannot decide.'): Failure {
  return new Failure('invalid_input', { what, why: `${path} ${message}.`, faults: [{ path: `/${path}`, message }] });
}

/**
 * A gate to embed: counts and decides like a contract of the node, in memory, without operators and without a record.
 * `makeGate(plan, cycleOf(now, CYCLE_MS)).decide(1, cycleOf(now, CYCLE_MS))` returns how many of one are admitted.
 * @param cycle of its start
 * @param inspect receives every move, for traces
 * @param cycleMs for a plan with a rule. Default: 777
 */
export function makeGate(plan: Plan, cycle: number, inspect?: Inspect, cycleMs = CYCLE_MS): Gate {
  const actors = inspect && new ContractActors(inspect);
  return new Gate(plan, { cycle, cycleMs, nowMs: startOf(cycle, cycleMs), actors });
}
