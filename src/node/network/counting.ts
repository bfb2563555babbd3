// Counts in Redis, for several nodes, by the clock of Redis.
//
//   plain contract   ─► micro-batch ─► counted, decided and moved by a script
//   other contract   ─► a turn: the gate of this process, by compare-and-set

import type { Gate } from '../../core/limiter/gate.js';
import type { AuditRow } from '../../core/record/row.js';
import { Failure } from '../../core/schema/failure.js';
import type { CallerQueue } from '../caller-queue.js';
import type { Counting, DecisionResult, EventAnswer, EventsAnswer, KeyPage, KeysShown } from '../counting/counting.js';
import { figuresOf, type Sampled, type Samples } from '../counting/counting.js';
import { type DecisionRequest, decisionOf, foreseen, keyShown } from '../counting/decision.js';
import { eventsAnswer, eventsIn, failureOfEvent } from '../counting/events.js';
import { askedBy, type Event, inFuture, listenersOf } from '../counting/listeners.js';
import { type OnceOnly, Replayed, reachOf, reused } from '../counting/once-only.js';
import type { Contract } from '../host/contract.js';
import type { Move } from '../host/contract-failures.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { ofOwner } from '../request-source.js';
import { type GateTransactions, gateName, unlessGone } from './gate-transactions.js';
import type { Network } from './network.js';
import type { How } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import { prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

/** An answer is kept for the longest window of the machine, within these bounds in ms. */
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

export class NetworkCounting implements Counting {
  readonly #network: Network;
  readonly #host: Host;
  readonly #queue: CallerQueue;
  readonly #sampled = new Set<Sampled>();
  #isSampling = false;

  constructor(network: Network, host: Host, queue: CallerQueue) {
    this.#network = network;
    this.#host = host;
    this.#queue = queue;
  }

  get #transactions(): GateTransactions {
    return this.#network.transactions;
  }

  /** Requests admitted and limited are not kept by cycle in Redis. */
  readonly samples: Samples = {
    // Some 3 ms of this process in each cycle, and 80 calls of Redis a second.
    mostUnwatched: 64,
    begin: (sampled) => {
      this.#sampled.add(sampled);
      sampled.begin(figuresOf({}));
    },
    end: (sampled) => void this.#sampled.delete(sampled),
  };

  /** Count and state are read when the next cycle begins. */
  async tick(cycle: number): Promise<void> {
    if (this.#isSampling || this.#sampled.size === 0) return;
    this.#isSampling = true;
    try {
      const all = [...this.#sampled].map((sampled) => [sampled.contract.id, sampled] as const);
      const contracts = all.map(([, { contract }]) => contract);
      const now = new Map((await this.#states(contracts, cycle - 1)).map((contract) => [contract.id, contract]));
      for (const [id, sampled] of all) {
        const found = now.get(id);
        if (found === undefined) continue;
        const { gate, admits } = found;
        sampled.take(cycle - 1, figuresOf({ count: gate.count, limiting: admits ? 0 : 1, state: gate.state }));
      }
    } finally {
      this.#isSampling = false;
    }
  }

  get failure(): Failure | undefined {
    return this.#network.failure;
  }

  decide(asked: DecisionRequest): Promise<DecisionResult> {
    return this.#count(asked, { isOne: true });
  }

  event(machine: Machine, event: Event, once?: OnceOnly): Promise<EventAnswer | Replayed> {
    return doOnce(this.#network.connection, machine, once, () => this.#countEvent(machine, event));
  }

  /** They are counted, or the request fails, even if a contract is open while Redis is away. */
  events(machine: Machine, values: readonly unknown[], once?: OnceOnly): Promise<EventsAnswer | Replayed> {
    const { connection, directory } = this.#network;
    return doOnce(connection, machine, once, async () => {
      const events = await this.#queue.steps(ofOwner(machine.image.owner), eventsIn(values));
      // The decisions show it if the store is away.
      await directory.refresh(machine).catch(() => {});
      const count = (event: Event | Failure) =>
        event instanceof Failure ? event : this.#countEvent(machine, event, true).catch(failureOfEvent);
      return eventsAnswer(await Promise.all(events.map(count)));
    });
  }

  /** Returns failures to count. @throws Failure `store_away` unless the contract is open then */
  async #count(asked: DecisionRequest, how: How): Promise<DecisionResult> {
    try {
      const plain = plainPlan(asked.contract.plan);
      return plain === undefined
        ? await this.#transact(asked, how)
        : await this.#network.plain.decide(asked, plain, how);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code !== 'store_away') return error;
      if (how.mustCount || asked.contract.plan.definition.when_away !== 'open') throw error;
      return this.#admitUncounted(asked);
    }
  }

  async state(contract: Contract, name?: string): Promise<Gate> {
    return (await this.#transactions.snapshot(contract, name)).gate;
  }

  states(contracts: readonly Contract[]): Promise<readonly Contract[]> {
    return this.#states(contracts);
  }

  /** By last count; `next` is an offset. Redis cannot search in names: each page is filtered after reading. */
  async keys(contract: Contract, { after, limit, limited, search }: KeyPage): Promise<KeysShown> {
    const { connection, clock } = this.#network;
    const prefix = prefixOf(contract.machine.slug);
    const range = [String(after), String(after + limit)];
    const all = await connection.command<string[]>('ZRANGE', `${prefix}k:${gateName(contract)}`, ...range);
    const names = all.map((gate) => gate.slice(gateName(contract).length + 1));
    const page = await Promise.all(names.slice(0, limit).map((name) => this.#transactions.snapshot(contract, name)));
    const keys = page.flatMap((one, index) => {
      const key = names[index]!;
      return !key.includes(search) || (limited && one.admits) ? [] : [keyShown(one, key, one.gate)];
    });
    return { cycle: clock.cycle(), keys, ...(names.length > limit ? { next: after + limit } : {}) };
  }

  /** The rows known here are in Redis already. */
  async durable(): Promise<void> {}

  async head(machine: Machine): Promise<Machine['head']> {
    await this.#network.head(machine);
    return machine.head;
  }

  move(contract: Contract, move: Move, name?: string): Promise<AuditRow> {
    return this.#network.entries.transition(contract, name, move);
  }

  /** Includes contracts that another node has just made. */
  async #countEvent(machine: Machine, event: Event, mustCount = event.cycle !== undefined): Promise<EventAnswer> {
    const { type, count: n = 1, cycle: happened, contract_id, key } = event;
    const how = { happened, mustCount };
    const askedNow = () => askedBy(machine, listenersOf(this.#host, machine, type, contract_id), n, key);
    const newest = machine.contracts.at(-1);
    const first = askedNow();
    const countAll = (asked: readonly DecisionRequest[]) => Promise.all(asked.map((one) => this.#count(one, how)));
    // The decisions show it if the store is away.
    const [outcomes] = await Promise.all([countAll(first), this.#network.directory.refresh(machine).catch(() => {})]);
    if (machine.contracts.at(-1) !== newest) {
      const decided = new Set(first.map(({ contract }) => contract));
      // One may be new, and others deleted by now.
      const later = machine.contracts.some((contract) => !decided.has(contract)) ? askedNow() : [];
      outcomes.push(...(await countAll(later.filter(({ contract }) => !decided.has(contract)))));
    }
    const counted = outcomes.flatMap((outcome) => (outcome instanceof Failure ? [] : [outcome]));
    const [failure] = outcomes;
    if (counted.length === 0) throw failure;
    return { ok: true, cycle: counted[0]!.cycle, contracts: counted.map(({ decision }) => decision) };
  }

  async #states(contracts: readonly Contract[], upTo?: number): Promise<readonly Contract[]> {
    const read = (contract: Contract) => this.#transactions.snapshot(contract, undefined, upTo).catch(unlessGone);
    const snapshots = await Promise.all(contracts.map(read));
    return snapshots.filter((one) => one !== undefined);
  }

  /** Leaves no trace: once Redis is back, contracts go on with its counts. */
  #admitUncounted({ contract, n, name }: DecisionRequest): DecisionResult {
    const uncounted = { admitted: n, limited: 0, retry_after_cycles: 0, away: true } as const;
    const { connection, clock } = this.#network;
    return { decision: { id: contract.id, key: name, ...uncounted }, cycle: clock.cycle(), nowMs: connection.nowMs() };
  }

  async #transact(asked: DecisionRequest, { happened, isOne = false }: How): Promise<DecisionResult> {
    const { contract, kind, n, name, peek } = asked;
    const nowMs = this.#network.connection.nowMs();
    if (peek) {
      const now = await this.#transactions.snapshot(contract, name);
      const { cycle } = now.gate;
      return { decision: foreseen({ ...asked, contract: now }, cycle), cycle, nowMs };
    }
    const { value } = await this.#transactions.run(contract, name, (fresh, cycle) => {
      if (happened !== undefined && happened > cycle) throw inFuture(happened, cycle);
      const isNow = happened === undefined || happened === cycle;
      const admitted = isNow
        ? fresh.decide(n, cycle, kind, undefined, isOne)
        : fresh.decideLate(n, happened, cycle, kind);
      return { decision: decisionOf({ ...asked, contract: fresh }, admitted, fresh.gate, isOne ? n : 1), cycle, nowMs };
    });
    return value;
  }
}

/**
 * A request with an idempotency key counts once, whichever node it is repeated on.
 *
 *   first     mark set where there is none ─► counted ─► answer kept in place of the mark
 *   repeated  answer there ─► the same answer        mark alone ─► 503: pending, or its node ended before it knew. Never counted twice
 */
async function doOnce<T extends object>(
  connection: RedisConnection,
  machine: Machine,
  once: OnceOnly | undefined,
  work: () => Promise<T>,
): Promise<T | Replayed> {
  if (once === undefined) return work();
  const prefix = prefixOf(machine.slug);
  const place = `${prefix}i:${machine.slug}:${once.key}`;
  const keptMs = String(keptFor(machine));
  const mark = `${once.request} `;
  const found = await connection.command<string | null>('SET', place, mark, 'NX', 'GET', 'PX', keptMs);
  if (found !== null) {
    if (!found.startsWith(mark)) throw reused();
    if (found === mark)
      throw new Failure('store_away', {
        what: 'It is not known whether it was done.',
        why: 'A request with this Idempotency-Key is under way, or its node ended before it could answer.',
        fix: 'Send it again in a second with the same key: it is never counted twice.',
      });
    return new Replayed(found.slice(mark.length));
  }
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    // Nothing was counted, except perhaps after `store_away`.
    if (error instanceof Failure && error.code !== 'store_away') await connection.command('DEL', place);
    throw error;
  }
  await connection.command('SET', place, `${mark}${JSON.stringify(answer)}`, 'PX', keptMs);
  return answer;
}

function keptFor({ contracts, context: { clock } }: Machine): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (reachOf(contracts, clock.cycleMs) + 1) * clock.cycleMs));
}
