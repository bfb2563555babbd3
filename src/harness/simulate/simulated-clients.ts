// The clients of a run in virtual time, and their transport: gate, faults, service.
import { retryAfterCycles } from '../../core/limiter/forecast.js';
import type { Gate } from '../../core/limiter/gate.js';
import { announcedWait } from '../../core/limiter/rule/announced.js';
import type { Clock } from '../../core/time/clock.js';
import { secondsUntil, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { ServiceAnswer } from '../clients/behaviour.js';
import type { SentAttempt } from '../clients/client.js';
import { type Population, populationOf } from '../clients/population.js';
import type { ClientFigures, ServiceFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Stretch } from '../outcome/stretch.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { eachOf, requestsOfModels } from '../traffic/requests.js';
import type { JourneyRecorder } from './journeys.js';
import type { KeyPlaces } from './key-places.js';
import { ModelledTransport } from './modelled-transport.js';
import { arrivalsOf } from './run.js';
import type { Traffic } from './scenario-traffic.js';
import { type SeriesRecorder, seriesRecorder } from './series-recorder.js';
import { Service } from './service.js';
import type { World } from './world.js';

type ClientsPlan = Pick<
  LoadedScenario,
  'senders' | 'service' | 'network' | 'faults' | 'plan' | 'startCycle' | 'warmUp' | 'costs'
>;

interface SimulatedClientsOptions {
  readonly traffic: Traffic;
  readonly world: World;
  /** Undefined if each key has one. */
  readonly places: KeyPlaces | undefined;
  readonly lastCycle: number;
  readonly journeys: JourneyRecorder | undefined;
}

export class SimulatedClients {
  readonly population: Population;
  readonly service: Service<SentAttempt> | undefined;
  readonly #world: World;
  readonly #places: KeyPlaces | undefined;
  readonly #contracts: number;
  readonly #startCycle: number;
  readonly #recorder: SeriesRecorder;
  /** For a limit on concurrency: Infinity, because the service determines the time in flight. */
  readonly #holdMs: number | undefined;
  readonly #charged: number | undefined;
  readonly #drawOneWayMs: (() => number) | undefined;
  readonly #heardMs = new Map<number, number>();

  constructor(
    { senders, service, network, faults, plan, startCycle, warmUp, costs }: ClientsPlan,
    { traffic, world, places, lastCycle, journeys }: SimulatedClientsOptions,
  ) {
    const { clock, actors } = world;
    const { draws } = traffic;
    this.#world = world;
    this.#places = places;
    this.#contracts = traffic.names.length;
    this.#startCycle = startCycle;
    const hasService = service !== undefined;
    const watch = seriesRecorder({ clock, firstCycle: startCycle, lastCycle, hasService });
    this.#recorder = watch;
    const fromMs = startOf(startCycle + warmUp, clock.cycleMs);
    const untilMs = startOf(startCycle + traffic.cycles, clock.cycleMs);
    const slow = faults.flatMap((fault) => (fault.kind === 'slow' ? [fault] : []));
    const speed = () => slow.reduce((all, { share, at }) => (this.#isIn(at) ? all * share : all), 1);
    if (service !== undefined) {
      this.service = new Service({
        clock,
        plan: service,
        draw: draws('service'),
        onStarted: journeys && ((attempt) => journeys.started(attempt, clock)),
        onEnd: (attempt, isServed) => modelled.ended(attempt, isServed),
        speed,
        watch,
        fromMs,
        untilMs,
      });
    }
    const retryAfter = service?.retryAfter;
    const retryAfterDraws = draws('service/retry_after');
    const networkDraws = draws('network');
    this.#drawOneWayMs = network && (() => network.oneWay.drawMs(networkDraws));
    const lossDraws = draws('faults/lost_answers');
    const losses = faults.flatMap((fault) => (fault.kind === 'lost_answers' ? [fault] : []));
    const holds = service !== undefined && plan.rule?.rule.release !== undefined;
    this.#holdMs = holds ? Number.POSITIVE_INFINITY : undefined;
    this.#charged = costs?.charged;
    const modelled = new ModelledTransport({
      decide: (attempt) => this.#decide(attempt),
      clock,
      pauses: faults.flatMap((fault) => (fault.kind === 'pause' ? [this.#instants(fault.at)] : [])),
      over: (attempt, wasServed, arrivedMs) => {
        if (holds) this.#release(attempt, arrivedMs);
        if (this.#charged !== undefined) this.#correct(attempt, wasServed ? 1 : 0, this.#charged, arrivedMs);
      },
      service: this.service,
      drawOneWayMs: this.#drawOneWayMs,
      journeys,
      // Whole seconds, as in the header.
      drawRetryAfterMs: retryAfter && (() => Math.ceil(retryAfter.drawMs(retryAfterDraws) / 1000) * 1000),
      loses: () => losses.some(({ share, at }) => this.#isIn(at) && lossDraws.uniform() < share),
    });
    this.population = populationOf({
      clock,
      transport: modelled,
      plans: senders,
      draws,
      contracts: traffic.names.length,
      fromMs,
      untilMs,
      actors,
      watch,
      drawCost: traffic.drawCost,
    });
    clock.agenda.at(clock.now(), Rank.client, () => this.population.begin());
    arrivalsOf(requestsOfModels(traffic, startCycle, clock.cycleMs), clock).subscribe((batch) =>
      eachOf(batch, clock, (contract) => this.population.arrive(contract)),
    );
  }

  moved(contract: number, admits: boolean): void {
    // The contract for keys without a place has no clients.
    if (contract >= this.#contracts) return;
    if (this.#drawOneWayMs === undefined) {
      this.population.moved(contract, admits);
      return;
    }
    const { clock } = this.#world;
    // Events of one stream keep their order.
    const atMs = Math.max(clock.now() + this.#drawOneWayMs(), this.#heardMs.get(contract) ?? 0);
    this.#heardMs.set(contract, atMs);
    clock.agenda.at(atMs, Rank.arrival, () => this.population.moved(contract, admits));
  }

  figures(): { clients: ClientFigures[]; service?: ServiceFigures } {
    const clients = this.population.figures();
    if (this.service === undefined) return { clients };
    return { clients, service: this.service.figures() };
  }

  series(lastCycle: number): Series {
    return this.#recorder.finish(lastCycle);
  }

  #decide({
    job: { contract, cost },
    client,
  }: SentAttempt): Extract<ServiceAnswer, { type: 'limited' }> | number | undefined {
    const [world, places] = [this.#world, this.#places];
    const charged = cost === undefined ? undefined : (this.#charged ?? cost);
    const isAdmitted = (places ?? world).request(contract, 1, { holdMs: this.#holdMs, charged, cost }) === 1;
    world.actors?.send(client.id, contract, { type: 'request', decision: isAdmitted ? 'admitted' : 'limited' });
    const decided = places === undefined ? world.contracts[contract] : places.decider(contract);
    if (decided === undefined) return { type: 'limited', retryAfterMs: places?.announcedMs() };
    const { delayMs } = decided.gate;
    if (isAdmitted) return delayMs === 0 ? undefined : delayMs;
    return { type: 'limited', retryAfterMs: announcedMs(decided.gate, world.clock, charged) };
  }

  #release({ job: { contract } }: SentAttempt, arrivedMs: number): void {
    this.#world.contracts[contract]!.release(this.#world.clock.now() - arrivedMs);
  }

  #correct({ job: { contract, cost = 0 } }: SentAttempt, served: 0 | 1, charged: number, arrivedMs: number): void {
    const more = served * cost - charged;
    if (more !== 0) this.#world.contracts[contract]!.charge(more, arrivedMs);
  }

  #isIn({ from, to }: Stretch): boolean {
    const cycle = this.#world.clock.cycle() - this.#startCycle;
    return cycle >= from && cycle < to;
  }

  #instants({ from, to }: Stretch) {
    const at = (cycle: number) => startOf(this.#startCycle + cycle, this.#world.clock.cycleMs);
    return { fromMs: at(from), toMs: at(to) };
  }
}

// The wait announced to a limited client.
//
//   a window of cycles    Retry-After: whole seconds up to the cycle in which a request is admitted again
//   a rule                what the product announces, right or wrong; the exact wait if its announcement is unknown

/** In ms; undefined if nothing is announced, or no wait is long enough. `charged` is per request. */
export function announcedMs(gate: Gate, clock: Clock, charged = 1): number | undefined {
  const { plan, record } = gate;
  if (plan.rule === undefined) {
    const cycles = retryAfterCycles(gate, 0, charged);
    return cycles === undefined ? undefined : secondsUntil(gate.cycle + cycles, clock.now(), clock.cycleMs) * 1000;
  }
  const { rule, definition } = plan.rule;
  const { state, atMs } = record.rule!;
  const ms = announcedWait(rule, definition.announces, state, atMs, charged);
  return ms === undefined || !Number.isFinite(ms) ? undefined : Math.max(0, ms);
}
