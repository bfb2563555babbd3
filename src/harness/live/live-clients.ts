// The clients of a live run: the actors of the simulation, driven by real time and real answers.

import { cycleOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { ServiceAnswer } from '../clients/behaviour.js';
import type { SentAttempt, Transport } from '../clients/client.js';
import { Population } from '../clients/population.js';
import type { ClientFigures } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { arrivalsOf } from '../simulate/run.js';
import type { Traffic } from '../simulate/scenario-traffic.js';
import { SeriesRecorder } from '../simulate/series-recorder.js';
import { eachOf, requestsOfModels } from '../traffic/requests.js';
import type { Sending, Stage } from './sending.js';
import type { RequestEnd } from './target.js';

export class LiveClients implements Sending, Transport {
  readonly isScheduled = false;
  readonly #traffic: Traffic;
  readonly #stage: Stage;
  readonly #recorder: SeriesRecorder;
  readonly #population: Population;
  #stopped = false;

  constructor({ clients: plans, warmUp }: LoadedScenario, traffic: Traffic, stage: Stage) {
    this.#traffic = traffic;
    this.#stage = stage;
    const { clock, firstCycle, lastCycle } = stage;
    this.#recorder = new SeriesRecorder({ clock, firstCycle, lastCycle, hasService: false });
    this.#population = new Population({
      clock,
      transport: this,
      plans,
      draws: traffic.draws,
      contracts: traffic.names.length,
      watch: this.#recorder,
      drawCost: traffic.drawCost,
      fromMs: startOf(firstCycle + warmUp, clock.cycleMs),
    });
  }

  start(): void {
    const { clock, firstCycle } = this.#stage;
    clock.agenda.at(startOf(firstCycle, clock.cycleMs), Rank.client, () => this.#population.begin());
    const batches = requestsOfModels(this.#traffic, firstCycle, clock.cycleMs);
    arrivalsOf(batches, clock).subscribe((batch) =>
      eachOf(batch, clock, (contract) => {
        if (!this.#stopped) this.#population.arrive(contract);
      }),
    );
  }

  stop(): void {
    this.#stopped = true;
  }

  send(attempt: SentAttempt): void {
    if (this.#stopped) return;
    const { clock, inFlight, observer } = this.#stage;
    const nowMs = clock.now();
    // Clients have no schedule: what they send counts as planned.
    observer.plan(cycleOf(nowMs, clock.cycleMs), 1);
    const { contract, cost } = attempt.job;
    inFlight.launch(contract, nowMs, cost, (end) => {
      if (!this.#stopped) attempt.answer(answerOf(end));
    });
  }

  /** Nothing to do: the request is in flight and the target counts it. */
  abandon(): void {}

  moved(contract: number, admits: boolean): void {
    if (!this.#stopped) this.#population.moved(contract, admits);
  }

  figures(): ClientFigures[] {
    return this.#population.figures();
  }

  /** Open jobs and retries by cycle. Call once. */
  series(lastCycle: number): Series {
    return this.#recorder.finish(lastCycle);
  }
}

function answerOf(end: RequestEnd): ServiceAnswer {
  if (end.type === 'fault') return { type: end.kind === 'timed_out' ? 'lost' : 'failed' };
  return end.admitted ? { type: 'served' } : { type: 'limited', retryAfterMs: end.retryAfterMs };
}
