// Accepted load of a service whose refusals cost it c of a request, if its clients throttle themselves.
//
//   sent K x accepted, refused (K - 1) x accepted:  accepted (1 + c (K - 1)) = 1       without a throttle  a + c (load - a) = 1

import { constant } from '../../src/core/math/time-law.js';
import type { ClientSpec } from '../../src/harness/clients/client-schema.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const RATE = 50;
const LOAD = 3;

const cases = [
  { c: 0.25, k: 2, accepted: 0.8 },
  { c: 0.25, k: 1.1, accepted: 0.9756 },
  { c: 0.25, k: undefined, accepted: 0.3333 },
] as const;

export const clientThrottle: PublishedCheck = {
  title: `Client throttle: what a service accepts at ${LOAD} times its capacity, where refusing costs c`,
  source:
    '"Site Reliability Engineering" (O\'Reilly 2016), chapter 21; accepted = 1 / (1 + c (K - 1)) in the fluid limit',
  tolerance:
    'figures of the fluid limit to four digits; a queue of a hundred and windows of two minutes are within 1.3 % of it',
  mechanism: 'the throttle of the clients',
  rows: cases.map(({ c, k, accepted }) => ({
    name: `c ${c}, ${k === undefined ? 'no throttle' : `K ${k}`}: accepted`,
    expected: accepted,
    error: 0.004,
    unit: 'of capacity',
  })),
  replicate: (seed, replication, without) =>
    cases.map(({ c, k }) => {
      const purpose = `published/client-throttle/${replication}/${c}/${k}`;
      const gate = k === undefined || without ? {} : { gate: { kind: 'throttle', k, over: '2m' } as const };
      const spec: ClientSpec = { kind: 'retrying', max_attempts: 1, ...gate };
      const [fromMs, toMs] = [200 * UNIT_MS, 300 * UNIT_MS];
      const { clock, service, poisson } = clientRig({
        spec,
        seed,
        purpose,
        service: {
          queue: 100,
          time: constant(UNIT_MS / RATE),
          refusalMs: (c * UNIT_MS) / RATE,
        },
      });
      poisson(LOAD * RATE, toMs / UNIT_MS);
      clock.run({ untilMs: fromMs });
      const before = service.counts.served;
      clock.run({ untilMs: toMs });
      return (service.counts.served - before) / (RATE * ((toMs - fromMs) / UNIT_MS));
    }),
};
