// The clients of a live run: the actors of the simulation, driven by real time and real answers.

import { cycleOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { ServiceAnswer } from '../clients/behaviour.js';
import type { Transport } from '../clients/client.js';
import { populationOf } from '../clients/population.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { arrivalsOf } from '../simulate/run.js';
import type { Traffic } from '../simulate/scenario-traffic.js';
import { seriesRecorder } from '../simulate/series-recorder.js';
import { eachOf, requestsOfModels } from '../traffic/requests.js';
import type { Sending, Stage } from './sending.js';
import type { RequestEnd } from './target.js';

export function liveClients({ clients: plans, warmUp }: LoadedScenario, traffic: Traffic, stage: Stage): Sending {
  let stopped = false;
  const { clock, firstCycle, lastCycle, inFlight, observer } = stage;
  const transport: Transport = {
    send(attempt) {
      if (stopped) return;
      const nowMs = clock.now();
      // Clients have no schedule: what they send counts as planned.
      observer.plan(cycleOf(nowMs, clock.cycleMs), 1);
      const { contract, cost } = attempt.job;
      inFlight.launch(contract, nowMs, cost, (end) => {
        if (!stopped) attempt.answer(answerOf(end));
      });
    },
    /** Nothing to do: the request is in flight and the target counts it. */
    abandon() {},
  };
  const recorder = seriesRecorder({ clock, firstCycle, lastCycle, hasService: false });
  const population = populationOf({
    clock,
    transport,
    plans,
    draws: traffic.draws,
    contracts: traffic.names.length,
    watch: recorder,
    drawCost: traffic.drawCost,
    fromMs: startOf(firstCycle + warmUp, clock.cycleMs),
  });
  return {
    isScheduled: false,
    start() {
      clock.agenda.at(startOf(firstCycle, clock.cycleMs), Rank.client, () => population.begin());
      const batches = requestsOfModels(traffic, firstCycle, clock.cycleMs);
      arrivalsOf(batches, clock).subscribe((batch) =>
        eachOf(batch, clock, (contract) => {
          if (!stopped) population.arrive(contract);
        }),
      );
    },
    stop() {
      stopped = true;
    },
    moved(contract, admits) {
      if (!stopped) population.moved(contract, admits);
    },
    figures: population.figures,
    series: recorder.finish,
  };
}

function answerOf(end: RequestEnd): ServiceAnswer {
  if (end.type === 'fault') return { type: end.kind === 'timed_out' ? 'lost' : 'failed' };
  return end.admitted ? { type: 'served' } : { type: 'limited', retryAfterMs: end.retryAfterMs };
}
