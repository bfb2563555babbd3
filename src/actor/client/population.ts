// All clients of a run: which there are, which of them gets a request, and which receive the events of a contract.
//
//   arrival ─► dealt to a kind, by share ─┬─► a pool: a free client, or a new one
//                                         └─► devices: one of those of the contract, each as likely
//   closed clients take no arrivals: they make their own
//
//   client    0   1   2   3   4   5   6         a fixed number of them is dealt to 3 contracts in turn
//   contract  0   1   2   0   1   2   0

import { RandomStream } from '../../math/random.js';
import { AliasTable } from '../../math/random-law.js';
import type { Seed } from '../../math/seed.js';
import { assert } from '../../schema/failure.js';
import type { Clock } from '../../time/clock.js';
import { Rank } from '../../time/rank.js';
import type { Inspect } from '../interpreted-moves.js';
import type { ClientEvent, Job } from './behaviour.js';
import { Client, type ClientLogic, type ClientWorld, inspectedLogic, type Transport } from './client.js';
import { type ClientPlan, refuse } from './client-plan.js';
import { type ClientCounts, ClientTally, type ClientWatch, sumOf, type TallyFigures } from './client-tally.js';
import { RetryBudget } from './retry-budget.js';

export interface PopulationOptions {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly plans: readonly ClientPlan[];
  readonly seed: Seed;
  /** How many contracts there are, at least 1. */
  readonly contracts: number;
  /** Jobs born before are a warm-up and not counted; unix ms. Default: now. */
  readonly fromMs?: number | undefined;
  /** Goodput is taken up to here, the end of the requests; unix ms. Default: the end of the run. */
  readonly untilMs?: number | undefined;
  /** Watches every message to every client. */
  readonly inspect?: Inspect | undefined;
  readonly watch?: ClientWatch | undefined;
}

const begin: ClientEvent = { type: 'begin' };
const rateLimited: ClientEvent = { type: 'rate_limited' };
const rateRestored: ClientEvent = { type: 'rate_restored' };

export class Population {
  readonly #clock: Clock;
  readonly #kinds: readonly Kind[];
  /** The kinds that take arrivals, in step with `#shares`. */
  readonly #takers: readonly Kind[];
  readonly #shares: AliasTable | undefined;
  readonly #dealing: RandomStream;
  #jobs = 0;

  /** @throws Failure `invalid_input` when there are fewer devices than contracts */
  constructor(options: PopulationOptions) {
    this.#clock = options.clock;
    this.#kinds = options.plans.map(
      (plan, index) => new Kind(plan, index, options, (contract) => this.#newJob(contract)),
    );
    this.#takers = this.#kinds.filter(({ plan }) => plan.share > 0);
    this.#shares = this.#takers.length > 1 ? new AliasTable(this.#takers.map(({ plan }) => plan.share)) : undefined;
    this.#dealing = new RandomStream(options.seed, 'clients/kind');
  }

  /** Whether any kind of client takes arrivals. */
  get takesArrivals(): boolean {
    return this.#takers.length > 0;
  }

  /** Starts the clients that make jobs of their own. To be called once, when the run begins. */
  begin(): void {
    for (const kind of this.#kinds) kind.begin();
  }

  /** A request is to be made now. */
  arrive(contract: number): void {
    assert(this.takesArrivals, 'a request came, and no kind of client takes any');
    const kind = this.#takers[this.#shares === undefined ? 0 : this.#shares.draw(this.#dealing)]!;
    kind.take(this.#newJob(contract));
  }

  /** The contract has emitted `rate_limited`. */
  rateLimited(contract: number): void {
    this.#announce(contract, rateLimited);
  }

  /** The contract has emitted `rate_restored`. */
  rateRestored(contract: number): void {
    this.#announce(contract, rateRestored);
  }

  /** Every client, by kind and number. */
  *clients(): IterableIterator<Client> {
    for (const { clients } of this.#kinds) yield* clients;
  }

  /** What has happened so far, over all kinds. */
  get counts(): ClientCounts {
    return sumOf(...this.#kinds.map(({ tally }) => tally.counts));
  }

  /** The figures up to now: the sum, then each kind. */
  figures(): TallyFigures[] {
    const nowMs = this.#clock.now();
    const clients = this.#kinds.reduce((sum, kind) => sum + kind.clients.length, 0);
    return [
      this.#sum().figures('all', clients, nowMs),
      ...this.#kinds.map(({ plan, tally, clients: { length } }) => tally.figures(plan.name, length, nowMs)),
    ];
  }

  /** In the same instant, but by the agenda: the gate is still in its transition, and must not receive what a device flushes at once. */
  #announce(contract: number, event: ClientEvent): void {
    if (!this.#kinds.some(({ plan }) => plan.listens)) return;
    this.#clock.agenda.at(this.#clock.now(), Rank.client, () => {
      for (const kind of this.#kinds) kind.announce(contract, event);
    });
  }

  #sum(): ClientTally {
    const { fromMs = this.#clock.now(), untilMs } = this.#kinds[0]?.tally ?? {};
    const total = new ClientTally(fromMs, undefined, untilMs);
    for (const { tally } of this.#kinds) total.add(tally);
    return total;
  }

  #newJob(contract: number): Job {
    this.#jobs += 1;
    return { number: this.#jobs, contract, bornMs: this.#clock.now() };
  }
}

/** The clients of one kind: a fixed number of them, or a pool that grows. */
class Kind implements ClientWorld {
  readonly clients: Client[] = [];
  readonly tally: ClientTally;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly draw: RandomStream;
  readonly inspect: Inspect | undefined;
  readonly #contracts: number;
  readonly budget: RetryBudget | undefined;
  readonly #logic: ClientLogic;
  readonly #free: Client[] = [];
  readonly #picks: RandomStream;
  readonly #makeJob: (contract: number) => Job;

  constructor(
    readonly plan: ClientPlan,
    index: number,
    { clock, transport, seed, contracts, fromMs, untilMs, inspect, watch }: PopulationOptions,
    makeJob: (contract: number) => Job,
  ) {
    const { name, count, share, budget, behaviour } = plan;
    if (count !== undefined && share > 0 && count < contracts) {
      refuse(`/${index}/count`, `is ${count}, and there are ${contracts} contracts: each needs a device of its own`);
    }
    this.clock = clock;
    this.transport = transport;
    this.inspect = inspect;
    this.tally = new ClientTally(fromMs ?? clock.now(), watch, untilMs);
    this.draw = new RandomStream(seed, `clients/${name}/behaviour`);
    this.#picks = new RandomStream(seed, `clients/${name}/device`);
    this.#contracts = contracts;
    this.budget = budget && new RetryBudget(budget, clock.now());
    this.#logic = { behaviour, inspected: inspect && inspectedLogic(behaviour, plan.chart) };
    this.#makeJob = makeJob;
    for (let number = 0; number < (count ?? 0); number += 1) this.#add(number % contracts);
  }

  get timeoutMs(): number | undefined {
    return this.plan.timeoutMs;
  }

  begin(): void {
    if (this.plan.count !== undefined) for (const client of this.clients) client.receive(begin);
  }

  take(job: Job): void {
    this.tally.born(job);
    const client =
      this.plan.count === undefined ? (this.#free.pop() ?? this.#add(job.contract)) : this.#pick(job.contract);
    client.receive({ type: 'job', job });
  }

  announce(contract: number, event: ClientEvent): void {
    if (!this.plan.listens) return;
    for (let n = contract; n < this.clients.length; n += this.#contracts) this.clients[n]!.receive(event);
  }

  newJob(contract: number): Job {
    const job = this.#makeJob(contract);
    this.tally.born(job);
    return job;
  }

  freed(client: Client): void {
    if (this.plan.count === undefined) this.#free.push(client);
  }

  #add(contract: number): Client {
    const client = new Client(`${this.plan.name}/${this.clients.length}`, contract, this.#logic, this);
    this.clients.push(client);
    return client;
  }

  /** One of the devices of a contract. */
  #pick(contract: number): Client {
    const last = Math.floor((this.clients.length - 1 - contract) / this.#contracts);
    return this.clients[contract + this.#contracts * (last === 0 ? 0 : this.#picks.integer(0, last))]!;
  }
}
