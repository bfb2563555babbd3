import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { constant } from '../../../src/core/math/time-law.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { ServiceAnswer } from '../../../src/harness/clients/behaviour.js';
import type { SentAttempt } from '../../../src/harness/clients/client.js';
import { ModelledTransport, type ModelledTransportParts } from '../../../src/harness/simulate/modelled-transport.js';
import { Service } from '../../../src/harness/simulate/service.js';
import { populationOf } from '../clients/scripted.js';
import { servicePlan } from './service-plan.js';

type Parts = Omit<ModelledTransportParts, 'clock' | 'service'>;
type Options = { readonly jobs?: number; readonly timeout?: string; readonly served?: boolean };

const nothing = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };
const one = { ...nothing, jobs: 1, attempts: 1 };

/** One job of a client that waits up to `timeout`, through a gate, a service of one place and 10 ms, and losses. */
function send(parts: Parts, { jobs = 1, timeout, served = true }: Options = {}) {
  const clock = new VirtualClock(0, 777);
  const service: Service<SentAttempt> = new Service({
    clock,
    plan: servicePlan({ time: constant(10), queue: 0 }),
    draw: new RandomStream(1, 'service'),
    onEnd: (attempt, isServed) => transport.ended(attempt, isServed),
  });
  const transport = new ModelledTransport({ ...parts, clock, ...(served ? { service } : {}) });
  const client = { kind: 'open', ...(timeout === undefined ? {} : { timeout }) } as const;
  const population = populationOf([client], transport, clock);
  for (let n = 0; n < jobs; n += 1) population.arrive(0);
  clock.run();
  return { counts: population.figures()[0]!, endMs: clock.now(), service: service.counts };
}

const limited: Extract<ServiceAnswer, { type: 'limited' }> = { type: 'limited', retryAfterMs: 5 };
const timeout = (ms: string) => ({ timeout: ms });
const never = () => true;

// biome-ignore format: one case a line
it.each<[what: string, parts: Parts, options: Options, counts: object, endMs: number, service: object]>([
  ['an attempt that the gate admits is served by the service', { decide: () => undefined }, {}, { succeeded: 1 }, 10, { served: 1 }],
  ['it is served at once where nothing stands behind the gate', {}, { served: false }, { succeeded: 1 }, 0, {}],
  ['one that the gate limits never reaches the service', { decide: () => limited }, {}, { given_up: 1 }, 0, { arrived: 0 }],
  ['one that the service refuses has failed',
    {}, { jobs: 2 }, { jobs: 2, attempts: 2, succeeded: 1, given_up: 1 }, 10, { arrived: 2, served: 1, refused: 1 }],
  ['one that was abandoned is known to the service as such',
    {}, timeout('4ms'), { given_up: 1, abandoned: 1 }, 10, { served: 1, wasted: 1 }],
  ['one given up in a pause is so, too', { pauses: [{ fromMs: 0, toMs: 20 }] }, timeout('4ms'), { given_up: 1, abandoned: 1 }, 30, { wasted: 1 }],
  ['a lost answer is waited for as long as patience lasts',
    { loses: never }, timeout('50ms'), { given_up: 1, abandoned: 1 }, 50, { served: 1, wasted: 0 }],
  ['a request and its answer each take the way', { drawOneWayMs: () => 50 }, {}, { succeeded: 1 }, 110, { served: 1 }],
  ['a refusal comes back as late', { drawOneWayMs: () => 50, decide: () => limited }, {}, { given_up: 1 }, 100, { arrived: 0 }],
  ['one that is given up on its way arrives all the same, and is known as such afterwards',
    { drawOneWayMs: () => 50 }, timeout('4ms'), { given_up: 1, abandoned: 1 }, 110, { served: 1, wasted: 1 }],
  ['an answer that is under way does not count for who gave up meanwhile',
    { drawOneWayMs: () => 50 }, timeout('80ms'), { given_up: 1, abandoned: 1 }, 130, { served: 1, wasted: 0 }],
  ['it is reported to a client that would wait for ever', { loses: never }, {}, { given_up: 1 }, 10, {}],
])('%s', (_, parts, options, counts, endMs, service) => {
  expect(send(parts, options)).toMatchObject({ counts: { ...one, ...counts }, endMs, service });
});
