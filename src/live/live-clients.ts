// Owns the clients of a live run: the same actors as in the simulation, driven by real time and real answers. Leaves what clients do
// to actor/client/, their transport to http-transport.ts.
import type { ClientPlan } from '../actor/client/client-plan.js';
import { Population } from '../actor/client/population.js';
import { RandomStream, type Seed } from '../math/random.js';
import type { ClientFigures } from '../outcome/schema.js';
import type { Series } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded.js';
import type { Traffic } from '../simulate/scenario-traffic.js';
import { SeriesRecorder } from '../simulate/series-recorder.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { WallClock } from '../time/wall.js';
import { makePopularity } from '../traffic/popularity.js';
import type { Flights } from './flights.js';
import { HttpTransport } from './http-transport.js';
import type { Ledger } from './ledger.js';

export interface LiveClientsOptions {
  readonly scenario: LoadedScenario;
  readonly plans: readonly ClientPlan[];
  readonly traffic: Traffic;
  readonly seed: Seed;
  /** Tells the target's time. */
  readonly clock: WallClock;
  /** The cycle of the target in which the run begins. */
  readonly firstCycle: number;
  readonly flights: Flights;
  readonly ledger: Ledger;
}

export class LiveClients {
  readonly #options: LiveClientsOptions;
  readonly #transport: HttpTransport;
  readonly #recorder: SeriesRecorder;
  #population: Population | undefined;
  #stopped = false;

  constructor(options: LiveClientsOptions) {
    this.#options = options;
    const { clock, flights, ledger, firstCycle, traffic, scenario } = options;
    const lastCycle = firstCycle + traffic.cycles + scenario.drain - 1;
    this.#recorder = new SeriesRecorder({ clock, firstCycle, lastCycle, hasService: false });
    // Clients send when they like: what they send is what was planned.
    this.#transport = new HttpTransport(clock, flights, (atMs) => ledger.plan(cycleOf(atMs, clock.cycleMs), 1));
  }

  /** To be called before the first cycle begins. */
  start(): void {
    const { scenario, plans, traffic, seed, clock, firstCycle } = this.#options;
    const popularity = makePopularity(scenario.popularity, traffic.names.length, new RandomStream(seed, 'popularity'));
    const startMs = startOf(firstCycle, clock.cycleMs);
    clock.agenda.at(startMs, Rank.client, () => {
      this.#population = new Population({
        clock,
        transport: this.#transport,
        plans,
        seed,
        contracts: traffic.names.length,
        watch: this.#recorder,
        fromMs: startMs + startOf(scenario.warmUp, clock.cycleMs),
      });
      this.#population.begin();
    });
    const arrive = () => {
      if (!this.#stopped) this.#population?.arrive(popularity.pick());
    };
    for (const index of traffic.arrivals.keys()) this.#arm(index, 0, arrive);
  }

  /** Nobody sends any more. */
  stop(): void {
    this.#stopped = true;
    this.#transport.stop();
  }

  rateLimited(contract: number): void {
    if (!this.#stopped) this.#population?.rateLimited(contract);
  }

  rateRestored(contract: number): void {
    if (!this.#stopped) this.#population?.rateRestored(contract);
  }

  figures(): ClientFigures[] {
    return this.#population?.figures() ?? [];
  }

  /** Open jobs and retries, cycle by cycle up to `lastCycle`. To be called once. */
  series(lastCycle: number): Series {
    return this.#recorder.finish(lastCycle);
  }

  /** Asks a model cycle by cycle, and lets each request arrive at its own instant. */
  #arm(index: number, cycle: number, arrive: () => void): void {
    const { traffic, clock, firstCycle } = this.#options;
    if (this.#stopped || cycle >= traffic.cycles) return;
    clock.agenda.at(startOf(firstCycle + cycle, clock.cycleMs), Rank.cycle, (due) => {
      const arrival = traffic.arrivals[index]!;
      const n = arrival.count(cycle);
      const places = new Float64Array(n);
      arrival.instants(places, n);
      for (const place of places) clock.agenda.at(due + place * clock.cycleMs, Rank.arrival, arrive);
      this.#arm(index, cycle + 1, arrive);
    });
  }
}
