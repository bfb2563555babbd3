// Decisions of contracts that Redis counts by itself: results of a script as answers of the API.
import type { Failure } from '../../core/schema/failure.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { DecisionResult } from '../counting/counting.js';
import type { Decision, DecisionRequest } from '../counting/decision.js';
import { inFuture } from '../counting/listeners.js';
import type { Contract } from '../host/contract.js';
import { eventTooOld, type Move, tooManyKeys, whyNoTransition } from '../host/contract-failures.js';
import { gatePlace, lost } from './gate-transactions.js';
import type { PlainPlan } from './plain-plan.js';
import { CountBatch, type GateReply, gateReplyIn } from './redis/batch.js';
import type { RedisConnection } from './redis/connection.js';
import { GateBytes } from './redis/gate-bytes.js';

export interface How {
  /** The cycle of the events. Default: the running one. */
  readonly happened?: number | undefined;
  /** Whether n is the cost of one request. Default: n events. */
  readonly isOne?: boolean;
  /** Refused while Redis is away, even if the contract is open then. */
  readonly mustCount?: boolean;
}

const MOST_PASTS = 10_000;

export class PlainCounting {
  readonly #connection: RedisConnection;
  readonly #batch: CountBatch;
  /** Past of limiting gates by name and late events, for one cycle: what leaves when does not change any more. */
  readonly #pasts = new Map<string, Promise<GateBytes | undefined>>();
  #pastsCycle = 0;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    this.#batch = new CountBatch(connection);
  }

  async decide(asked: DecisionRequest, plain: PlainPlan, how: How): Promise<DecisionResult> {
    const { contract, n, name, peek } = asked;
    const { happened, isOne = false } = how;
    const { prefix, gate } = gatePlace(contract, name);
    const keys = keysOf(contract, name);
    const isLate = happened !== undefined && happened !== cycleOf(this.#connection.nowMs(), this.#connection.cycleMs);
    const counted = isLate
      ? await this.#connection
          .call<number[]>('late', prefix, [gate, n, keys, happened].map(String))
          .then(([nowMs, reply]) => gateReplyIn(reply, 0, nowMs))
      : await this.#batch.count(prefix, gate, peek ? 0 : n, keys);
    if (counted.admitted < 0) return whyNot(contract, happened, plain, counted);
    const after = await this.#retryAfter(prefix, gate, plain, counted, isOne ? n : 1);
    return { decision: decisionOf(asked, plain, counted, after), cycle: counted.cycle, nowMs: counted.nowMs };
  }

  /**
   * @param target index of the wanted state @returns the number of the entry
   * @throws Failure `no_transition`, `contract_not_found`, `too_many_keys`, `store_away`
   */
  async move(
    contract: Contract,
    plain: PlainPlan,
    name: string | undefined,
    target: number,
    { to, holdCycles = 0, by = '' }: Move,
  ): Promise<number> {
    const isLimiting = target === plain.limiting ? 1 : 0;
    const { prefix, gate } = gatePlace(contract, name);
    const args = [gate, keysOf(contract, name), isLimiting, holdCycles, by].map(String);
    const [, number] = await this.#connection.call<number>('move', prefix, args);
    if (number > 0) return number;
    if (number === -1) throw lost(contract);
    if (number === -2) throw tooManyKeys(contract.image);
    // About the state that Redis found, which may have changed since.
    throw whyNoTransition(contract.plan, target, to);
  }

  /** As `retryAfterCycles` of the forecast, for n requests at once. */
  async #retryAfter(
    prefix: string,
    gate: string,
    { threshold }: PlainPlan,
    { count, cycle, isLimiting, isHeld, late }: GateReply,
    n: number,
  ): Promise<number | undefined> {
    if (n > threshold) return undefined;
    const one = !isLimiting && (isHeld || count < threshold);
    if (one && (n <= 1 || count + n <= threshold)) return 0;
    const past = await this.#past(prefix, gate, cycle, late, isHeld);
    if (past === undefined) return 1;
    const first = isLimiting ? Math.max(1, past.heldUntilCycle - cycle) : 1;
    return past.cyclesUntilAtMost(threshold - Math.max(1, n), count, cycle, first);
  }

  #past(prefix: string, gate: string, cycle: number, late: number, isHeld: boolean): Promise<GateBytes | undefined> {
    if (cycle !== this.#pastsCycle || this.#pasts.size > MOST_PASTS) {
      this.#pasts.clear();
      this.#pastsCycle = cycle;
    }
    const name = `${late} ${gate}`;
    let past = isHeld ? undefined : this.#pasts.get(name);
    if (past === undefined) {
      past = this.#connection
        .call<Buffer | number>('look', prefix, [gate], { isBinary: true })
        .then(([, bytes]) => (bytes instanceof Buffer ? new GateBytes(bytes) : undefined));
      past.catch(() => this.#pasts.delete(name));
      this.#pasts.set(name, past);
    }
    return past;
  }
}

function keysOf({ image }: Contract, name: string | undefined): number {
  if (name === undefined) return 0;
  const { maxKeys = 1, overflow } = image.keyed ?? {};
  return overflow === 'share' ? -maxKeys : maxKeys;
}

function decisionOf(
  { contract, n, name, peek }: DecisionRequest,
  { threshold, limiting }: PlainPlan,
  { admitted, count, isLimiting }: GateReply,
  after: number | undefined,
): Decision {
  const { id, plan } = contract;
  const remaining = Math.max(0, threshold - count);
  const fits = peek ? after === 0 && (n <= 1 || n <= remaining) : admitted === n;
  const passed = plan.isShadow || (peek && fits) ? n : peek ? 0 : admitted;
  return {
    id,
    key: name,
    state: plan.states[isLimiting ? limiting : plan.initial]!.name,
    count,
    threshold,
    remaining,
    admitted: passed,
    limited: n - passed,
    would_limit: plan.isShadow ? (peek ? !fits : isLimiting) : undefined,
    retry_after_cycles: after,
    retry_after_ms: undefined,
    delay_ms: undefined,
  };
}

function whyNot(contract: Contract, happened = 0, { within }: PlainPlan, { admitted, cycle: now }: GateReply): Failure {
  switch (admitted) {
    case -2:
      return tooManyKeys(contract.image);
    case -3:
      return happened > now ? inFuture(happened, now) : eventTooOld(contract, happened, now, within);
    default:
      return lost(contract);
  }
}
