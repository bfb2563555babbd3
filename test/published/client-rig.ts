// Clients of one kind in virtual time, for published systems.
import { drawsOf, RandomStream } from '../../src/core/math/random.js';
import type { TimeLaw } from '../../src/core/math/time-law.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { Rank } from '../../src/core/time/rank.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import type { ServiceAnswer } from '../../src/harness/clients/behaviour.js';
import type { SentAttempt, Transport } from '../../src/harness/clients/client.js';
import { type CustomClientSpec, planClients } from '../../src/harness/clients/client-plan.js';
import type { ClientSpec } from '../../src/harness/clients/client-schema.js';
import type { ClientWatch } from '../../src/harness/clients/client-tally.js';
import { populationOf } from '../../src/harness/clients/population.js';
import type { ServicePlan } from '../../src/harness/scenario/service-plan.js';
import { ModelledTransport } from '../../src/harness/simulate/modelled-transport.js';
import { Service, type ServiceWatch } from '../../src/harness/simulate/service.js';
import { servicePlan } from '../harness/simulate/service-plan.js';
import { poissonArrivals, UNIT_MS } from './arrivals.js';

interface RigOptions {
  readonly spec: ClientSpec | CustomClientSpec;
  readonly seed: number;
  readonly purpose: string;
  readonly decide?: (attempt: SentAttempt, nowMs: number) => Extract<ServiceAnswer, { type: 'limited' }> | undefined;
  readonly service: Pick<ServicePlan, 'time'> & Partial<ServicePlan>;
  readonly speed?: (nowMs: number) => number;
  readonly watch?: ServiceWatch;
  readonly clientWatch?: ClientWatch;
  /** Delay of each attempt and each answer. Default: none. */
  readonly network?: TimeLaw;
  readonly fromMs?: number;
}

export function clientRig(options: RigOptions) {
  const { spec, seed, purpose, decide, service: plan, speed, watch, clientWatch, network, fromMs } = options;
  const clock = new VirtualClock(0, CYCLE_MS);
  const delays = new RandomStream(seed, `${purpose}/network`);
  const later = (act: () => void) => {
    if (network === undefined) act();
    else clock.agenda.at(clock.now() + network.drawMs(delays), Rank.service, act);
  };
  const service: Service<SentAttempt> = new Service({
    clock,
    plan: servicePlan(plan),
    draw: new RandomStream(seed, `${purpose}/service`),
    onEnd: (attempt, isServed) => later(() => modelled.ended(attempt, isServed)),
    speed: speed && (() => speed(clock.now())),
    watch,
    fromMs,
  });
  const modelled = new ModelledTransport({
    clock,
    service,
    decide: decide && ((attempt) => decide(attempt, clock.now())),
  });
  // An attempt under way arrives even if its client gives up.
  const delayed: Transport = { send: (attempt) => later(() => modelled.send(attempt)), abandon: () => {} };
  const transport = network === undefined ? modelled : delayed;
  const plans = planClients([spec], CYCLE_MS);
  const draws = drawsOf(`${seed}/${purpose}`);
  const population = populationOf({ clock, transport, plans, draws, contracts: 1, fromMs, watch: clientWatch });
  return {
    clock,
    service,
    population,
    poisson(rate: number, toS: number, arrive: (draw: RandomStream) => void = () => population.arrive(0)): void {
      const draw = new RandomStream(seed, `${purpose}/arrivals`);
      poissonArrivals(clock, draw, rate, toS, () => arrive(draw));
    },
    /** Share of the jobs in the interval that succeed within it. */
    goodput(fromS: number, toS: number): number {
      clock.run({ untilMs: fromS * UNIT_MS });
      const before = population.figures()[0]!;
      clock.run({ untilMs: toS * UNIT_MS });
      const { succeeded, jobs } = population.figures()[0]!;
      return (succeeded - before.succeeded) / (jobs - before.jobs);
    },
  };
}
