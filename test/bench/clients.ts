// Owns the speed of simulated clients, all included: arrivals, agenda, host and gate, service, actors. Leaves measuring to measure.ts.
import { retryAfterCycles } from '../../src/core/limiter/forecast.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { drawsOf, RandomStream } from '../../src/core/math/random.js';
import { exponential } from '../../src/core/math/time-law.js';
import { CYCLE_MS, secondsUntil } from '../../src/core/time/cycle.js';
import { Rank } from '../../src/core/time/rank.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import type { SentAttempt } from '../../src/harness/clients/client.js';
import { planClients } from '../../src/harness/clients/client-plan.js';
import { Population } from '../../src/harness/clients/population.js';
import { ModelledTransport } from '../../src/harness/simulate/modelled-transport.js';
import { Service } from '../../src/harness/simulate/service.js';
import { Host } from '../../src/node/host/host.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { servicePlan } from '../harness/simulate/service-plan.js';
import { type BenchRow, beside, inTurn, secondsOf } from './measure.js';

/** What the task asks for: client actor events a second. */
const TARGET = 100_000;

export async function benchClients(rounds = 5, jobs = 100_000): Promise<BenchRow[]> {
  let seed = 0;
  const eventsPerSecond = async () => {
    let events = 0;
    const seconds = await secondsOf(() => (events = simulate(jobs, seed++)));
    return events / seconds;
  };
  const { clients: value } = await inTurn({ clients: eventsPerSecond }, rounds);
  const against = beside(value, 'what is asked for', TARGET, 1);
  return [{ what: 'clients: actor events, with agenda, gate and service', value, unit: 'events/s', against }];
}

/**
 * Retrying and obedient clients at 1.2 times what the gate lets through, and a service at 90 %.
 * @returns how many events the clients were given: a job, the end of an attempt, or the end of a pause each
 */
function simulate(jobs: number, seed: number): number {
  const clock = new VirtualClock(0, CYCLE_MS);
  const host = new Host({ clock, store: new MemoryStore() });
  host.createMachine({ slug: 'bench' });
  const contract = host.createContract('bench', rateLimiter({ threshold: 10_000, within: 60 }));
  const service: Service<SentAttempt> = new Service({
    clock,
    plan: servicePlan({ servers: 10, time: exponential(42), queue: 1_000, dropsAbandoned: true }),
    draw: new RandomStream(seed, 'service'),
    onEnd: (attempt, isServed) => transport.ended(attempt, isServed),
  });
  const transport = new ModelledTransport({
    clock,
    decide: () => {
      const cycle = clock.cycle();
      if (contract.decide(1, cycle) === 1) return undefined;
      const k = retryAfterCycles(contract.gate);
      const retryAfterMs = k === undefined ? undefined : 1000 * secondsUntil(cycle + k, clock.now(), CYCLE_MS);
      return { type: 'limited', retryAfterMs };
    },
    service,
  });
  const plans = planClients(
    [
      {
        kind: 'retrying',
        share: 4,
        timeout: '2s',
        max_attempts: 4,
        backoff: { policy: 'full_jitter', base: '200ms' },
        retry_budget: { share: 0.5 },
      },
      { kind: 'obedient', share: 1, max_attempts: 2 },
    ],
    CYCLE_MS,
  );
  const population = new Population({ clock, transport, plans, draws: drawsOf(seed), contracts: 1 });
  const gaps = new RandomStream(seed, 'arrivals');
  let arrived = 0;
  const arrive = (due: number) => {
    population.arrive(0);
    arrived += 1;
    if (arrived < jobs) clock.agenda.at(due + gaps.exponential(0.25), Rank.arrival, arrive);
  };
  clock.agenda.at(0, Rank.arrival, arrive);
  clock.run();
  const { attempts, retries } = population.figures()[0]!;
  return arrived + attempts + retries;
}
