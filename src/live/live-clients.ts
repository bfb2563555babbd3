// The clients of a live run: the actors of the simulation, driven by real time and real answers.

import type { ServiceAnswer } from '../actor/client/behaviour.js';
import type { SentAttempt, Transport } from '../actor/client/client.js';
import { Population } from '../actor/client/population.js';
import type { Draws } from '../math/random.js';
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { unreachable } from '../schema/failure.js';
import { arriveByAgenda } from '../simulate/feed.js';
import type { Traffic } from '../simulate/scenario-traffic.js';
import { SeriesRecorder } from '../simulate/series-recorder.js';
import type { Clock } from '../time/clock.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { End, RequestsInFlight } from './in-flight.js';
import type { Sending, Stage } from './sending.js';

export class LiveClients implements Sending {
  readonly isScheduled = false;
  readonly #scenario: LoadedScenario;
  readonly #traffic: Traffic;
  readonly #draws: Draws;
  readonly #stage: Stage;
  readonly #transport: HttpTransport;
  readonly #recorder: SeriesRecorder;
  #population: Population | undefined;
  #stopped = false;

  constructor(scenario: LoadedScenario, traffic: Traffic, draws: Draws, stage: Stage) {
    this.#scenario = scenario;
    this.#traffic = traffic;
    this.#draws = draws;
    this.#stage = stage;
    const { clock, inFlight, observer, firstCycle } = stage;
    const lastCycle = firstCycle + traffic.cycles + scenario.drain - 1;
    this.#recorder = new SeriesRecorder({ clock, firstCycle, lastCycle, hasService: false });
    // Clients have no schedule: what they send counts as planned.
    this.#transport = new HttpTransport(clock, inFlight, (atMs) => observer.plan(cycleOf(atMs, clock.cycleMs), 1));
  }

  start(): void {
    const { clients: plans, warmUp } = this.#scenario;
    const { clock, firstCycle } = this.#stage;
    const [traffic, draws] = [this.#traffic, this.#draws];
    const startMs = startOf(firstCycle, clock.cycleMs);
    clock.agenda.at(startMs, Rank.client, () => {
      this.#population = new Population({
        clock,
        transport: this.#transport,
        plans,
        draws,
        contracts: traffic.names.length,
        watch: this.#recorder,
        drawCost: traffic.drawCost,
        fromMs: startMs + startOf(warmUp, clock.cycleMs),
      });
      this.#population.begin();
    });
    arriveByAgenda(traffic, clock, firstCycle, (contract) => {
      if (!this.#stopped) this.#population?.arrive(contract);
    });
  }

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

  /** Open jobs and retries by cycle. Call once. */
  series(lastCycle: number): Series {
    return this.#recorder.finish(lastCycle);
  }
}

class HttpTransport implements Transport {
  readonly #clock: Clock;
  readonly #inFlight: RequestsInFlight;
  readonly #onSend: (atMs: number) => void;
  #stopped = false;

  constructor(clock: Clock, inFlight: RequestsInFlight, onSend: (atMs: number) => void) {
    this.#clock = clock;
    this.#inFlight = inFlight;
    this.#onSend = onSend;
  }

  stop(): void {
    this.#stopped = true;
  }

  send(attempt: SentAttempt): void {
    if (this.#stopped) return;
    const nowMs = this.#clock.now();
    this.#onSend(nowMs);
    const { contract, cost } = attempt.job;
    this.#inFlight.launch(contract, nowMs, cost, (end) => {
      if (!this.#stopped) attempt.answer(answerOf(end));
    });
  }

  /** Nothing to do: the request is in flight and the target counts it. */
  abandon(): void {}
}

function answerOf(end: End): ServiceAnswer {
  switch (end.type) {
    case 'decided':
      return end.admitted ? { type: 'served' } : { type: 'limited', retryAfterMs: end.retryAfterMs };
    case 'failed':
      return { type: 'failed' };
    case 'timed_out':
      return { type: 'lost' };
    default:
      return unreachable(end);
  }
}
