import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { simulate } from '../../src/simulate/simulate.js';
import { read } from '../scenario/reading.js';

const run = (service: object, clients: object, more: object = {}) =>
  simulate(
    read(
      stringify({
        question: 'What do the tiers do?',
        limiter: { threshold: 1_000_000 },
        duration: '10s',
        drain: '10s',
        arrivals: [{ model: 'counts', counts: [10] }],
        clients: [clients],
        service,
        ...more,
      }),
    ),
  );

describe('services behind each other', () => {
  it('multiply retries: 4 attempts in each of three layers are 64', async () => {
    const failing = { servers: 1000, time: '1ms', attempts: 4 };
    const service = { servers: 1000, time: '1ms', tiers: [failing, { ...failing, fails: 1 }] };
    const { outcome } = await run(service, { kind: 'retrying', max_attempts: 4 });
    expect([
      outcome.service!.arrived,
      ...outcome.tiers!.map(({ arrived }) => arrived),
      outcome.clients![0]!.given_up,
    ]).toEqual([40, 160, 640, 10]);
  });

  it('serve what all of them have served', async () => {
    const service = { servers: 10, time: '5ms', tiers: [{ servers: 10, time: '7ms' }] };
    const { outcome } = await run(service, { kind: 'open' });
    expect([outcome.clients![0]!.succeeded, outcome.clients![0]!.job_latency_ms!.max]).toEqual([
      10,
      expect.closeTo(12, 9),
    ]);
  });

  it('slow needs a service', async () => {
    const slow = { faults: [{ kind: 'slow', share: 0.5, from: 0, to: '1s' }], service: undefined };
    expect(() => run({}, { kind: 'open' }, slow)).toThrow('slow needs a service');
  });
});
