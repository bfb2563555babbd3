// All clients of a run.
//
//   arrival ─► dealt to a kind, by share ─┬─► a pool: a free client, or a new one
//                                         └─► devices: one of those of the contract, each as likely
//   closed clients take no arrivals: they make their own
//
//   client    0   1   2   3   4   5   6         a fixed number of clients is dealt to 3 contracts in turn
//   contract  0   1   2   0   1   2   0

import type { ActorSystem } from '../../core/limiter/actor-system.js';
import type { Draws, RandomStream } from '../../core/math/random.js';
import { AliasTable } from '../../core/math/random-law.js';
import { assert } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import type { ClientEvent, Job } from './behaviour.js';
import { Client, type ClientWorld, type Instance, type Transport } from './client.js';
import { clientLogic } from './client-chart.js';
import type { ClientPlan } from './client-plan.js';
import { ClientTally, type ClientWatch, type TallyFigures } from './client-tally.js';
import { refuseField } from './retry-plan.js';

interface PopulationOptions {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly plans: readonly ClientPlan[];
  readonly draws: Draws;
  readonly contracts: number;
  /** Unix ms; end of the warm-up: earlier jobs are not counted. Default: now. */
  readonly fromMs?: number | undefined;
  /** Unix ms; end of the requests and of the goodput. Default: the end of the run. */
  readonly untilMs?: number | undefined;
  readonly actors?: ActorSystem | undefined;
  readonly drawCost?: (() => number) | undefined;
  readonly watch?: ClientWatch | undefined;
}

const begin: ClientEvent = { type: 'begin' };
const rateLimited: ClientEvent = { type: 'rate_limited' };
const rateRestored: ClientEvent = { type: 'rate_restored' };

export class Population {
  readonly #clock: Clock;
  readonly #kinds: readonly Kind[];
  /** Kinds that take arrivals, in the order of `#shares`. */
  readonly #takers: readonly Kind[];
  readonly #shares: AliasTable | undefined;
  readonly #dealing: RandomStream;
  readonly #drawCost: PopulationOptions['drawCost'];
  #jobs = 0;

  /** @throws Failure `invalid_input` for fewer devices than contracts */
  constructor(options: PopulationOptions) {
    this.#clock = options.clock;
    this.#drawCost = options.drawCost;
    this.#kinds = options.plans.map(
      (plan, index) => new Kind(plan, index, options, (contract) => this.#newJob(contract)),
    );
    this.#takers = this.#kinds.filter(({ plan }) => plan.share > 0);
    this.#shares = this.#takers.length > 1 ? new AliasTable(this.#takers.map(({ plan }) => plan.share)) : undefined;
    this.#dealing = options.draws('clients/kind');
  }

  get takesArrivals(): boolean {
    return this.#takers.length > 0;
  }

  begin(): void {
    for (const kind of this.#kinds) kind.begin();
  }

  arrive(contract: number): void {
    assert(this.takesArrivals, 'a request came, and no kind of client takes any');
    const kind = this.#takers[this.#shares === undefined ? 0 : this.#shares.draw(this.#dealing)]!;
    kind.take(this.#newJob(contract));
  }

  /**
   * Clients that listen hear that their contract now admits, or no longer. Deferred on the agenda: the gate is still in its transition, and
   * cannot take what a device flushes at once.
   */
  moved(contract: number, admits: boolean): void {
    if (!this.#kinds.some(({ plan }) => plan.listens)) return;
    const event = admits ? rateRestored : rateLimited;
    this.#clock.agenda.at(this.#clock.now(), Rank.client, () => {
      for (const kind of this.#kinds) kind.announce(contract, event);
    });
  }

  *clients(): IterableIterator<Client> {
    for (const { clients } of this.#kinds) yield* clients;
  }

  /** All clients, then each kind. */
  figures(): TallyFigures[] {
    const nowMs = this.#clock.now();
    const clients = this.#kinds.reduce((sum, kind) => sum + kind.clients.length, 0);
    return [
      this.#sum().figures('all', clients, nowMs),
      ...this.#kinds.map(({ plan, tally, clients: { length } }) => tally.figures(plan.name, length, nowMs)),
    ];
  }

  #sum(): ClientTally {
    const { fromMs = this.#clock.now(), untilMs } = this.#kinds[0]?.tally ?? {};
    const total = new ClientTally(fromMs, undefined, untilMs);
    for (const { tally } of this.#kinds) total.add(tally);
    return total;
  }

  #newJob(contract: number): Job {
    this.#jobs += 1;
    const job = { number: this.#jobs, contract, bornMs: this.#clock.now() };
    return this.#drawCost === undefined ? job : { ...job, cost: this.#drawCost() };
  }
}

class Kind implements ClientWorld {
  readonly clients: Client[] = [];
  readonly tally: ClientTally;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly draw: RandomStream;
  readonly logic: ClientWorld['logic'];
  readonly actors: ActorSystem | undefined;
  readonly #contracts: number;
  readonly #instances: readonly Instance[];
  readonly #free: readonly Client[][];
  readonly #picks: RandomStream;
  readonly #makeJob: (contract: number) => Job;

  constructor(
    readonly plan: ClientPlan,
    index: number,
    { clock, transport, draws, contracts, fromMs, untilMs, actors, watch }: PopulationOptions,
    makeJob: (contract: number) => Job,
  ) {
    const { name, count, share, shared, behaviour, chart } = plan;
    if (count !== undefined && share > 0 && count < contracts) {
      refuseField(
        `/${index}/count`,
        `is ${count}, and there are ${contracts} contracts: each needs a device of its own`,
      );
    }
    this.clock = clock;
    this.transport = transport;
    this.logic = clientLogic(behaviour, chart);
    this.actors = actors;
    this.tally = new ClientTally(fromMs ?? clock.now(), watch, untilMs);
    this.draw = draws(`clients/${name}/behaviour`);
    this.#picks = draws(`clients/${name}/device`);
    this.#contracts = contracts;
    const nowMs = clock.now();
    this.#instances = Array.from({ length: shared?.count ?? 1 }, (_, index) => {
      return { index, limit: shared?.limit?.(nowMs), gate: shared?.gate?.make(nowMs) };
    });
    this.#free = this.#instances.map(() => []);
    this.#makeJob = makeJob;
    for (let number = 0; number < (count ?? 0); number += 1) this.#add(number % contracts);
  }

  begin(): void {
    if (this.plan.count !== undefined) for (const client of this.clients) client.receive(begin, 'run');
  }

  take(job: Job): void {
    this.tally.born(job);
    const client = this.plan.count === undefined ? this.#idle(job.contract) : this.#pick(job.contract);
    client.receive({ type: 'job', job }, 'arrivals');
  }

  announce(contract: number, event: ClientEvent): void {
    if (!this.plan.listens) return;
    for (let n = contract; n < this.clients.length; n += this.#contracts) this.clients[n]!.receive(event, contract);
  }

  newJob(contract: number): Job {
    const job = this.#makeJob(contract);
    this.tally.born(job);
    return job;
  }

  freed(client: Client): void {
    if (this.plan.count === undefined) this.#free[client.instance.index]!.push(client);
  }

  #idle(contract: number): Client {
    const all = this.#instances;
    const instance = all.length === 1 ? all[0]! : all[this.#picks.integer(0, all.length - 1)]!;
    return this.#free[instance.index]!.pop() ?? this.#add(contract, instance);
  }

  #add(contract: number, instance = this.#instances[0]!): Client {
    const client = new Client(`${this.plan.name}/${this.clients.length}`, contract, instance, this);
    this.clients.push(client);
    return client;
  }

  #pick(contract: number): Client {
    const last = Math.floor((this.clients.length - 1 - contract) / this.#contracts);
    return this.clients[contract + this.#contracts * (last === 0 ? 0 : this.#picks.integer(0, last))]!;
  }
}
