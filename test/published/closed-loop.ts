// Clients that think, send a request to one server, and wait for its answer.
//
//   N clients, think time Z, response R, throughput X        X = N / (R + Z): the interactive response time law, for any distribution
//
// The figures for exponential times follow from mean value analysis (M. Reiser and S. S. Lavenberg, 1980):
//   R(n) = s (1 + Q(n - 1)),   X(n) = n / (R(n) + Z),   Q(n) = X(n) R(n)
import { drawsOf, RandomStream } from '../../src/core/math/random.js';
import { exponential, type TimeLaw } from '../../src/core/math/time-law.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import type { SentAttempt } from '../../src/harness/clients/client.js';
import { behaviourOf } from '../../src/harness/clients/client-chart.js';
import { closed } from '../../src/harness/clients/closed.js';
import { populationOf } from '../../src/harness/clients/population.js';
import { ModelledTransport } from '../../src/harness/simulate/modelled-transport.js';
import { Service } from '../../src/harness/simulate/service.js';
import { servicePlan } from '../harness/simulate/service-plan.js';
import { UNIT_MS } from './arrivals.js';
import type { PublishedCheck } from './published-check.js';

const CLIENTS = 10;
const THINK = 9;
const WARM_UP = 200;
const MEASURED = 4_000;
const DRAIN = 200;

export const closedLoop: PublishedCheck = {
  title: `Closed loop: ${CLIENTS} clients, think time ${THINK}, one server`,
  source: 'mean value analysis; interactive response time law',
  rows: [
    { name: 'throughput X', expected: 0.83204, unit: 'per service time' },
    { name: 'response R', expected: 3.0187, unit: 'service times' },
    { name: 'R - (N / X - Z) within a run', expected: 0, unit: 'service times' },
  ],
  replicate(seed, replication) {
    const purpose = `published/closed-loop/${replication}`;
    const clock = new VirtualClock(0, CYCLE_MS);
    const [fromMs, toMs] = [WARM_UP * UNIT_MS, (WARM_UP + MEASURED) * UNIT_MS];
    const isMeasured = (ms: number) => ms >= fromMs && ms < toMs;
    const [thinks, responses] = [
      { count: 0, sum: 0 },
      { count: 0, sum: 0 },
    ];
    const law = exponential(THINK * UNIT_MS);
    const think: TimeLaw = {
      ...law,
      drawMs(stream) {
        const ms = law.drawMs(stream);
        if (isMeasured(clock.now())) add(thinks, ms / UNIT_MS);
        return ms;
      },
    };
    const service: Service<SentAttempt> = new Service({
      clock,
      plan: servicePlan({ time: exponential(UNIT_MS) }),
      draw: new RandomStream(seed, `${purpose}/service`),
      onEnd: (attempt, isServed) => {
        if (isMeasured(attempt.sentMs)) add(responses, (clock.now() - attempt.sentMs) / UNIT_MS);
        transport.ended(attempt, isServed);
      },
    });
    const transport = new ModelledTransport({ clock, service });
    const plan = { name: 'closed', count: CLIENTS, share: 0, listens: false, timeoutMs: undefined };
    const plans = [{ ...plan, behaviour: behaviourOf(closed({ think })) }];
    const population = populationOf({ clock, transport, plans, draws: drawsOf(`${seed}/${purpose}`), contracts: 1 });
    population.begin();
    clock.run({ untilMs: toMs + DRAIN * UNIT_MS });
    const throughput = responses.count / MEASURED;
    const response = responses.sum / responses.count;
    return [throughput, response, response - (CLIENTS / throughput - thinks.sum / thinks.count)];
  },
};

function add(to: { count: number; sum: number }, value: number): void {
  to.count += 1;
  to.sum += value;
}
