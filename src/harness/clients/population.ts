// All clients of a run.
//
//   arrival ─► dealt to a kind, by share ─┬─► a pool: a free client, or a new one
//                                         └─► devices: one of those of the contract, each as likely
//   closed clients take no arrivals: they make their own
//
//   client    0   1   2   3   4   5   6         a fixed number of clients is dealt to 3 contracts in turn
//   contract  0   1   2   0   1   2   0

import type { ActorSystem } from '../../core/limiter/actor-system.js';
import type { Draws } from '../../core/math/random.js';
import { weightedDraw } from '../../core/math/random-law.js';
import { assert } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import type { ClientEvent, Job } from './behaviour.js';
import { Client, type ClientWorld, type Instance, type Transport } from './client.js';
import { clientLogic } from './client-chart.js';
import type { ClientPlan } from './client-plan.js';
import { ClientTally, type ClientWatch, type TallyFigures } from './client-tally.js';

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

export type Population = ReturnType<typeof populationOf>;

/** At least as many devices of a kind as contracts, where it takes arrivals: `checkParts` makes sure of it. */
export function populationOf(options: PopulationOptions) {
  const { clock, drawCost, plans, draws } = options;
  let jobs = 0;
  const newJob = (contract: number): Job => {
    jobs += 1;
    const job = { number: jobs, contract, bornMs: clock.now() };
    return drawCost === undefined ? job : { ...job, cost: drawCost() };
  };
  const kinds = plans.map((plan) => kindOf(plan, options, newJob));
  /** Kinds that take arrivals, in the order of `shares`. */
  const takers = kinds.filter(({ plan }) => plan.share > 0);
  const shares = takers.length > 1 ? weightedDraw(takers.map(({ plan }) => plan.share)) : undefined;
  const dealing = draws('clients/kind');
  const tallyOfAll = (): ClientTally => {
    const { fromMs = clock.now(), untilMs } = kinds[0]?.tally ?? {};
    const total = new ClientTally(fromMs, undefined, untilMs);
    for (const { tally } of kinds) total.add(tally);
    return total;
  };
  return {
    takesArrivals: takers.length > 0,
    begin(): void {
      for (const kind of kinds) kind.begin();
    },
    arrive(contract: number): void {
      assert(takers.length > 0, 'a request came, and no kind of client takes any');
      const kind = takers[shares === undefined ? 0 : shares(dealing)]!;
      kind.take(newJob(contract));
    },
    /**
     * Clients that listen hear that their contract now admits, or no longer. Deferred on the agenda: the gate is still in its transition, and
     * cannot take what a device flushes at once.
     */
    moved(contract: number, admits: boolean): void {
      if (!kinds.some(({ plan }) => plan.listens)) return;
      const event = admits ? rateRestored : rateLimited;
      clock.agenda.at(clock.now(), Rank.client, () => {
        for (const kind of kinds) kind.announce(contract, event);
      });
    },
    *clients(): IterableIterator<Client> {
      for (const { clients } of kinds) yield* clients;
    },
    /** All clients, then each kind. */
    figures(): TallyFigures[] {
      const nowMs = clock.now();
      const clients = kinds.reduce((sum, kind) => sum + kind.clients.length, 0);
      return [
        tallyOfAll().figures('all', clients, nowMs),
        ...kinds.map(({ plan, tally, clients: { length } }) => tally.figures(plan.name, length, nowMs)),
      ];
    },
  };
}

function kindOf(
  plan: ClientPlan,
  { clock, transport, draws, contracts, fromMs, untilMs, actors, watch }: PopulationOptions,
  makeJob: (contract: number) => Job,
) {
  const { name, count, shared, behaviour, chart } = plan;
  const clients: Client[] = [];
  const tally = new ClientTally(fromMs ?? clock.now(), watch, untilMs);
  const picks = draws(`clients/${name}/device`);
  const nowMs = clock.now();
  const instances = Array.from({ length: shared?.count ?? 1 }, (_, index): Instance => {
    return { index, limit: shared?.limit?.(nowMs), gate: shared?.gate?.make(nowMs) };
  });
  const free = instances.map((): Client[] => []);
  const add = (contract: number, instance: Instance): Client => {
    const client = new Client(`${name}/${clients.length}`, contract, instance, world);
    clients.push(client);
    return client;
  };
  const idle = (contract: number): Client => {
    const instance = instances[instances.length === 1 ? 0 : picks.integer(0, instances.length - 1)]!;
    return free[instance.index]!.pop() ?? add(contract, instance);
  };
  const pick = (contract: number): Client => {
    const last = Math.floor((clients.length - 1 - contract) / contracts);
    return clients[contract + contracts * (last === 0 ? 0 : picks.integer(0, last))]!;
  };
  const world: ClientWorld = {
    plan,
    logic: clientLogic(behaviour, chart),
    actors,
    clock,
    transport,
    tally,
    draw: draws(`clients/${name}/behaviour`),
    newJob(contract) {
      const job = makeJob(contract);
      tally.born(job);
      return job;
    },
    freed(client) {
      if (count === undefined) free[client.instance.index]!.push(client);
    },
  };
  for (let number = 0; number < (count ?? 0); number += 1) add(number % contracts, instances[0]!);
  return {
    plan,
    clients,
    tally,
    begin(): void {
      if (count !== undefined) for (const client of clients) client.receive(begin, 'run');
    },
    take(job: Job): void {
      tally.born(job);
      const client = count === undefined ? idle(job.contract) : pick(job.contract);
      client.receive({ type: 'job', job }, 'arrivals');
    },
    announce(contract: number, event: ClientEvent): void {
      if (!plan.listens) return;
      for (let n = contract; n < clients.length; n += contracts) clients[n]!.receive(event, contract);
    },
  };
}
