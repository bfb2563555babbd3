import { describe, expect, it } from 'vitest';
import type { ServiceAnswer } from '../../src/actor/client/behaviour.js';
import type { SentAttempt } from '../../src/actor/client/client.js';
import { planClients } from '../../src/actor/client/client-plan.js';
import { Population } from '../../src/actor/client/population.js';
import { drawsOf, RandomStream } from '../../src/math/random.js';
import { constant } from '../../src/math/time-law.js';
import { ModelledTransport, type ModelledTransportParts } from '../../src/simulate/modelled-transport.js';
import { Service } from '../../src/simulate/service.js';
import { VirtualClock } from '../../src/time/virtual.js';

const nothing = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };
const one = { ...nothing, jobs: 1, attempts: 1 };

/** One job of a client that waits up to `timeout`, through a gate, a service of one place and 10 ms, and losses. */
function send(
  parts: Omit<ModelledTransportParts, 'clock' | 'service'>,
  { jobs = 1, timeout = undefined as string | undefined, served = true } = {},
) {
  const clock = new VirtualClock(0, 777);
  const service: Service<SentAttempt> = new Service({
    clock,
    plan: { servers: 1, time: constant(10), queue: 0, dropsAbandoned: false },
    draw: new RandomStream(1, 'service'),
    onServed: (attempt) => transport.served(attempt),
  });
  const transport = new ModelledTransport({ ...parts, clock, ...(served ? { service } : {}) });
  const plans = planClients([{ kind: 'open', ...(timeout === undefined ? {} : { timeout }) }], 777);
  const population = new Population({ clock, transport, plans, draws: drawsOf(1), contracts: 1 });
  for (let n = 0; n < jobs; n += 1) population.arrive(0);
  clock.run();
  return { counts: population.counts, endMs: clock.now(), service: service.counts };
}

const limited: Extract<ServiceAnswer, { type: 'limited' }> = { type: 'limited', retryAfterMs: 5 };

describe('an attempt', () => {
  it('that the gate lets through is served by the service', () => {
    expect(send({ decide: () => undefined })).toMatchObject({
      counts: { ...one, succeeded: 1 },
      endMs: 10,
      service: { served: 1 },
    });
  });

  it('is served at once where nothing stands behind the gate', () => {
    expect(send({}, { served: false })).toMatchObject({ counts: { ...one, succeeded: 1 }, endMs: 0 });
  });

  it('that the gate limits never reaches the service', () => {
    expect(send({ decide: () => limited })).toMatchObject({
      counts: { ...one, given_up: 1 },
      endMs: 0,
      service: { arrived: 0 },
    });
  });

  it('that the service refuses has failed', () => {
    expect(send({}, { jobs: 2 })).toMatchObject({
      counts: { ...nothing, jobs: 2, attempts: 2, succeeded: 1, given_up: 1 },
      service: { arrived: 2, served: 1, refused: 1 },
    });
  });

  it('that was abandoned is known to the service as such', () => {
    expect(send({}, { timeout: '4ms' })).toMatchObject({
      counts: { ...one, given_up: 1, abandoned: 1 },
      endMs: 10,
      service: { served: 1, wasted: 1 },
    });
  });
});

describe('an answer that gets lost', () => {
  it('is waited for as long as patience lasts', () => {
    expect(send({ loses: () => true }, { timeout: '50ms' })).toMatchObject({
      counts: { ...one, given_up: 1, abandoned: 1 },
      endMs: 50,
      service: { served: 1, wasted: 0 },
    });
  });

  it('is heard of by who would wait for ever', () => {
    expect(send({ loses: () => true })).toMatchObject({ counts: { ...one, given_up: 1 }, endMs: 10 });
  });
});
