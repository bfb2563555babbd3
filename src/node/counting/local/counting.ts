// Counts in the host of this process: at once if nothing waits, otherwise in the machine's turn.

import { HISTORY_CYCLES } from '../../../api/contract-history.js';
import type { Gate } from '../../../core/limiter/gate.js';
import { getOrInsert } from '../../../core/math/get-or-insert.js';
import type { AuditRow } from '../../../core/record/row.js';
import type { Failure } from '../../../core/schema/failure.js';
import type { Clock } from '../../../core/time/clock.js';
import { cycleOf, startOf } from '../../../core/time/cycle.js';
import { Rank } from '../../../core/time/rank.js';
import type { Durability } from '../../durability.js';
import type { Contract } from '../../host/contract.js';
import type { Move } from '../../host/contract-failures.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../host/steps.js';
import type { Sleeper } from '../../host/wakes.js';
import type { MachineWork } from '../../machine-work.js';
import {
  type Counting,
  type DecisionResult,
  type EventAnswer,
  type EventsAnswer,
  figuresOf,
  type KeyPage,
  type KeysShown,
  type MaybePromise,
  type Sampled,
  type Samples,
} from '../counting.js';
import { type DecisionRequest, keyShown } from '../decision.js';
import type { Event } from '../listeners.js';
import type { OnceOnly, Replayed } from '../once-only.js';
import { countEvent, countEvents, decideInSteps, decideNow, isOneStep, needsLongForecast } from './deciding.js';
import type { Idempotency } from './idempotency.js';

interface LocalContext {
  readonly host: Host;
  readonly clock: Clock;
  readonly work: MachineWork;
  readonly durability: Durability;
  readonly idempotency: Idempotency;
  readonly onError: (error: unknown) => void;
}

/** How often idle keys are evicted; contracts take different cycles. */
const EVICTION_CYCLES = 64;

/** Places per step of a page of keys. */
const NUMBERS_AT_ONCE = 64;

/** Keys per step: each evicted key is removed from the database. */
const KEYS_AT_ONCE = 16;

export class LocalCounting implements Counting {
  readonly samples: Samples;
  readonly #context: LocalContext;

  constructor(context: LocalContext) {
    this.samples = new LocalSamples(context.host);
    this.#context = context;
  }

  get failure(): Failure | undefined {
    return this.#context.host.failure;
  }

  decide(asked: DecisionRequest, nowMs: number): MaybePromise<DecisionResult> {
    const { machine } = asked;
    const { clock, work } = this.#context;
    if (!isOneStep(asked) || needsLongForecast(asked) || !work.isFree(machine, nowMs))
      return this.#counted(machine, (cycle) => decideInSteps(asked, cycle, nowMs));
    const cycle = cycleOf(nowMs, clock.cycleMs);
    return this.#onceDurable(machine, decideNow(asked, cycle, nowMs), cycle);
  }

  event(machine: Machine, event: Event, once?: OnceOnly): MaybePromise<EventAnswer | Replayed> {
    const { host } = this.#context;
    return this.#countedOnce(machine, once, (cycle) => countEvent(host, machine, event, cycle), idsIn);
  }

  async events(machine: Machine, values: readonly unknown[], once?: OnceOnly): Promise<EventsAnswer | Replayed> {
    const { host } = this.#context;
    const ids = ({ outcomes }: EventsAnswer) => outcomes.flatMap((one) => (one.ok ? idsIn(one) : []));
    return this.#countedOnce(machine, once, (cycle) => countEvents(host, machine, values, cycle), ids);
  }

  async state(contract: Contract, name?: string): Promise<Gate> {
    return this.#context.work.once(this.#machineOf(contract), (cycle) => {
      if (contract.failure === undefined) contract.advance(cycle);
      return contract.gateOf(name, contract.cycle);
    });
  }

  async states(contracts: readonly Contract[]): Promise<readonly Contract[]> {
    return contracts;
  }

  async keys(contract: Contract, page: KeyPage): Promise<KeysShown> {
    return this.#context.work.of(this.#machineOf(contract), (cycle) => keyPage(contract, page, cycle));
  }

  async durable(machine: Machine): Promise<void> {
    await this.#context.durability.ofRows(machine);
  }

  async head(machine: Machine): Promise<Machine['head']> {
    const { head } = machine;
    await this.durable(machine);
    return head;
  }

  async move(contract: Contract, move: Move, name?: string): Promise<AuditRow> {
    const { host, work, durability } = this.#context;
    const machine = this.#machineOf(contract);
    try {
      return await work.once(machine, () => host.transition(contract, move, name));
    } finally {
      await durability.ofRows(machine);
    }
  }

  async tick(cycle: number): Promise<void> {
    if (this.failure !== undefined) return;
    this.#evictKeys(cycle);
    this.#context.idempotency.purge(cycle);
    this.#context.durability.saveCounts();
  }

  #evictKeys(cycle: number): void {
    let index = cycle;
    for (const contract of this.#context.host.keyed) {
      index += 1;
      const { keys, failure } = contract;
      if (index % EVICTION_CYCLES !== 0 || keys === undefined || keys.size === 0 || failure !== undefined) continue;
      const done = this.#context.work.of(this.#machineOf(contract), function* (now) {
        contract.advance(now);
        while (keys.evictIdle(KEYS_AT_ONCE) === KEYS_AT_ONCE) yield;
      });
      if (done instanceof Promise) done.catch(this.#context.onError);
    }
  }

  /** @param ids of the contracts that counted */
  #countedOnce<T extends object>(
    machine: Machine,
    once: OnceOnly | undefined,
    count: (cycle: number) => Steps<T>,
    ids: (answer: T) => readonly string[],
  ): MaybePromise<T | Replayed> {
    const { host, idempotency } = this.#context;
    if (once === undefined) return this.#counted(machine, count);
    const windows = (answer: T) => Array.from(new Set(ids(answer)), (id) => host.contract(id));
    return this.#counted(machine, (cycle) => idempotency.once(machine, once, cycle, () => count(cycle), windows));
  }

  #counted<T>(machine: Machine, work: (cycle: number) => Steps<T>): MaybePromise<T> {
    let cycle = 0;
    const done = this.#context.work.of(machine, (arrived) => {
      cycle = arrived;
      return work(arrived);
    });
    if (done instanceof Promise) return done.then((value) => this.#onceDurable(machine, value, cycle));
    return this.#onceDurable(machine, done, cycle);
  }

  #onceDurable<T>(machine: Machine, value: T, cycle: number): MaybePromise<T> {
    const durable = this.#context.durability.ofCounts(machine, cycle);
    return durable === undefined ? value : durable.then(() => value);
  }

  #machineOf({ machine }: Contract): Machine {
    return this.#context.host.machine(machine.slug);
  }
}

function idsIn({ contracts }: EventAnswer): string[] {
  return contracts.map(({ id }) => id);
}

/** By the number of their creation. */
function* keyPage(contract: Contract, { after, limit, limited, search }: KeyPage, cycle: number): Steps<KeysShown> {
  const { keys: all } = contract;
  const keys: KeysShown['keys'][number][] = [];
  let looked = 0;
  let last = after;
  for (const key of all?.all() ?? []) {
    looked += 1;
    if (looked % NUMBERS_AT_ONCE === 0) yield;
    if (key.number <= after) continue;
    if (keys.length === limit) return { cycle, keys, next: last };
    last = key.number;
    if (key.name.includes(search) && (!limited || all!.isLimited(key)))
      keys.push(keyShown(contract, key.name, contract.gateOf(key.name, cycle)));
  }
  return { cycle, keys };
}

/** Samples contracts of this process at the end of a cycle, before anything of the next: Rank.close in the machine's order of time. */
export class LocalSamples implements Samples {
  readonly mostUnwatched = Number.POSITIVE_INFINITY;
  readonly #host: Host;
  readonly #samplers = new Map<Machine, Sampler>();

  constructor(host: Host) {
    this.#host = host;
  }

  begin(sampled: Sampled): void {
    const machine = this.#host.machine(sampled.contract.image.machine);
    const sampler = getOrInsert(this.#samplers, machine, () => new Sampler(machine));
    sampler.sampled.add(sampled);
    sampled.begin(figuresNow(sampled.contract));
  }

  end(sampled: Sampled): void {
    const machine = this.#host.machines.get(sampled.contract.image.machine);
    const sampler = machine && this.#samplers.get(machine);
    if (machine === undefined || sampler === undefined) return;
    sampler.sampled.delete(sampled);
    if (sampler.sampled.size > 0) return;
    machine.context.wakes.cancel(sampler);
    this.#samplers.delete(machine);
  }
}

class Sampler implements Sleeper {
  readonly rank = Rank.close;
  readonly sampled = new Set<Sampled>();
  wakeMs = 0;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#next(machine.cycle + 1);
  }

  wake(ms: number): void {
    const { clock } = this.#machine.context;
    const over = cycleOf(ms, clock.cycleMs) - 1;
    for (const one of this.sampled) {
      const { contract } = one;
      if (contract.failure === undefined) contract.advance(over);
      one.take(over, figuresNow(contract));
    }
    // After a long suspension, only as many cycles as a history holds.
    this.#next(Math.max(over + 2, clock.cycle() - HISTORY_CYCLES));
  }

  #next(cycle: number): void {
    const { clock, wakes } = this.#machine.context;
    this.wakeMs = startOf(cycle, clock.cycleMs);
    wakes.schedule(this);
  }
}

/** Each figure is named: a copy of the tally, whose names they have, doubles the turn in which 1,200 contracts are sampled. */
function figuresNow({ gate, tally, limiting, keys, comparison }: Contract): number[] {
  return figuresOf({
    state: gate.state,
    count: gate.count,
    admitted: tally.admitted,
    limited: tally.limited,
    entries: tally.entries,
    restores: tally.restores,
    limiting: limiting > 0 ? 1 : 0,
    keys: keys?.size ?? 0,
    limited_keys: keys?.limited ?? 0,
    would_limit: comparison?.wouldLimit ?? Number.NaN,
  });
}
