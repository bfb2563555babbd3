// The clients of a run in virtual time, with the transport they send on: gate, faults, service.

import type { Answer } from '../actor/client/behaviour.js';
import type { SentAttempt } from '../actor/client/client.js';
import type { ClientPlan } from '../actor/client/client-plan.js';
import { Population } from '../actor/client/population.js';
import type { Inspect } from '../actor/interpreted-moves.js';
import { RandomStream } from '../math/random.js';
import type { Seed } from '../math/seed.js';
import type { ClientFigures, ServiceFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { planService } from '../scenario/service-plan.js';
import { secondsUntil, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { Popularity } from '../traffic/popularity.js';

import { announcedMs } from './announced-wait.js';
import { lastInstantOf } from './drive.js';
import { FaultyTransport } from './faulty-transport.js';
import { ModelledTransport } from './modelled-transport.js';

import type { Traffic } from './scenario-traffic.js';
import { SeriesRecorder } from './series-recorder.js';
import { Service } from './service.js';
import type { World } from './world.js';

interface SimulatedClientsOptions {
  readonly scenario: LoadedScenario;
  readonly plans: readonly ClientPlan[];
  readonly traffic: Traffic;
  readonly world: World;
  readonly popularity: Popularity;
  readonly seed: Seed;
  /** Where the run is expected to end. */
  readonly lastCycle: number;
  readonly inspect: Inspect | undefined;
}

export class SimulatedClients {
  readonly population: Population;
  readonly service: Service<SentAttempt> | undefined;
  /** Told of every attempt at the gate, for traces: who sent it, to which contract, and how it was decided. */
  onAttempt: ((client: string, contract: number, decision: 'admitted' | 'limited') => void) | undefined;
  readonly #world: World;
  readonly #traffic: Traffic;
  readonly #popularity: Popularity;
  readonly #startCycle: number;
  readonly #recorder: SeriesRecorder;
  readonly #places = [] as Float64Array[];
  /** How long a request is in flight for a limit on concurrency; Infinity: as long as the service takes. */
  readonly #holdMs: number | undefined;

  constructor({ scenario, plans, traffic, world, popularity, seed, lastCycle, inspect }: SimulatedClientsOptions) {
    const { clock } = world;
    this.#world = world;
    this.#traffic = traffic;
    this.#popularity = popularity;
    this.#startCycle = scenario.startCycle;
    this.#recorder = new SeriesRecorder({
      clock,
      firstCycle: scenario.startCycle,
      lastCycle,
      hasService: scenario.service !== undefined,
    });
    const fromMs = startOf(scenario.startCycle + scenario.warmUp, clock.cycleMs);
    const untilMs = startOf(scenario.startCycle + traffic.cycles, clock.cycleMs);
    this.service =
      scenario.service === undefined
        ? undefined
        : new Service<SentAttempt>({
            clock,
            plan: planService(scenario.service, scenario.cycleMs, '/service'),
            draw: new RandomStream(seed, 'service'),
            onServed: (attempt) => modelled.served(attempt),
            watch: this.#recorder,
            fromMs,
            untilMs,
          });
    const losing = new RandomStream(seed, 'faults/lost_answers');
    const losses = scenario.faults.flatMap((fault) => (fault.kind === 'lost_answers' ? [fault] : []));
    const holds = this.service !== undefined && scenario.plan.rule?.rule.release !== undefined;
    this.#holdMs = holds ? Number.POSITIVE_INFINITY : undefined;
    const modelled = new ModelledTransport({
      decide: (attempt) => this.#decide(attempt),
      clock,
      over: holds ? (attempt) => this.#release(attempt) : undefined,
      service: this.service,
      loses: () => losses.some(({ share, at }) => this.#isIn(at) && losing.uniform() < share),
    });
    const pauses = scenario.faults.flatMap((fault) => (fault.kind === 'pause' ? [fault.at] : []));
    const transport =
      pauses.length === 0
        ? modelled
        : new FaultyTransport(
            clock,
            modelled,
            pauses.map((at) => this.#instants(at)),
          );
    this.population = new Population({
      clock,
      transport,
      plans,
      seed,
      contracts: traffic.names.length,
      fromMs,
      untilMs,
      inspect,
      watch: this.#recorder,
    });
    world.onMove = (contract, admits) => {
      // Nobody holds a device of the contract that keys without a place share.
      if (contract >= traffic.names.length) return;
      if (admits) this.population.rateRestored(contract);
      else this.population.rateLimited(contract);
    };
    clock.agenda.at(clock.now(), Rank.client, () => this.population.begin());
    for (const index of traffic.arrivals.keys()) this.#arm(index, 0);
  }

  figures(): { clients: ClientFigures[]; service?: ServiceFigures } {
    const clients = this.population.figures();
    return this.service === undefined ? { clients } : { clients, service: this.service.figures() };
  }

  /** What was measured over time, up to the end of `lastCycle`. To be called once. */
  series(lastCycle: number): Series {
    return this.#recorder.finish(lastCycle);
  }

  /** Asks a model cycle by cycle, and lets each request arrive at its own instant. */
  #arm(index: number, cycle: number): void {
    if (cycle >= this.#traffic.cycles) return;
    const { clock } = this.#world;
    const due = startOf(this.#startCycle + cycle, clock.cycleMs);
    clock.agenda.at(due, Rank.cycle, () => {
      const arrival = this.#traffic.arrivals[index]!;
      const n = arrival.count(cycle);
      const places = this.#placesFor(index, n);
      arrival.instants(places, n);
      // The end of a cycle, rounded to a double, may be the beginning of the next.
      const last = lastInstantOf(this.#startCycle + cycle, clock.cycleMs);
      for (let k = 0; k < n; k += 1) {
        clock.agenda.at(Math.min(due + places[k]! * clock.cycleMs, last), Rank.arrival, this.#arrive);
      }
      this.#arm(index, cycle + 1);
    });
  }

  readonly #arrive = (): void => this.population.arrive(this.#popularity.pick());

  #placesFor(index: number, n: number): Float64Array {
    const known = this.#places[index];
    if (known !== undefined && known.length >= n) return known;
    const grown = new Float64Array(Math.max(64, n * 2));
    this.#places[index] = grown;
    return grown;
  }

  #decide({ job: { contract }, client }: SentAttempt): Extract<Answer, { type: 'limited' }> | number | undefined {
    const world = this.#world;
    const isAdmitted = world.decide(contract, 1, world.clock.cycle(), this.#holdMs) === 1;
    this.onAttempt?.(client.id, contract, isAdmitted ? 'admitted' : 'limited');
    const decided = world.places === undefined ? world.contracts[contract] : world.places.decider(contract);
    if (decided === undefined) return { type: 'limited', retryAfterMs: placeMs(world) };
    const { delayMs } = decided.gate;
    if (isAdmitted) return delayMs === 0 ? undefined : delayMs;
    return { type: 'limited', retryAfterMs: announcedMs(decided.gate, world.clock) };
  }

  #release({ job: { contract }, sentMs }: SentAttempt): void {
    this.#world.contracts[contract]!.release(this.#world.clock.now() - sentMs);
  }

  #isIn({ from, to }: Stretch): boolean {
    const cycle = this.#world.clock.cycle() - this.#startCycle;
    return cycle >= from && cycle < to;
  }

  #instants({ from, to }: Stretch): { readonly fromMs: number; readonly toMs: number } {
    const at = (cycle: number) => startOf(this.#startCycle + cycle, this.#world.clock.cycleMs);
    return { fromMs: at(from), toMs: at(to) };
  }
}

/** Until a key may find a place, in ms, as a node announces it: in whole seconds. */
function placeMs({ clock, places }: World): number | undefined {
  const cycle = places?.againCycle(clock.cycle());
  return cycle === undefined ? undefined : secondsUntil(cycle, clock.now(), clock.cycleMs) * 1000;
}
