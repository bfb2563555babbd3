// The retrial queue M/M/1. A client that finds the server busy returns after an exponential time, without limit.
//
//   arrivals lambda ─► server mu, rho = lambda / mu         in orbit, on average:  rho (lambda + rho theta) / ((1 - rho) theta)
//        ▲   └─ busy ─► orbit                               as theta grows without bound: the queue of M/M/1
//        └── theta each ──┘
import { exponential } from '../../src/core/math/time-law.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const cases = [
  { rho: 0.5, theta: 1 },
  { rho: 0.7, theta: 0.5 },
  { rho: 0.7, theta: 5 },
] as const;

const FROM = 500;
const TO = 6000;

export const retrialQueue: PublishedCheck = {
  title: 'Retrial queue M/M/1: clients in orbit',
  source: 'G. Falin and J. Templeton, "Retrial Queues" (1997), section 1.1',
  mechanism: 'the return of clients that found the server busy',
  rows: cases.map(({ rho, theta }) => ({
    name: `rho ${rho}, theta ${theta}: mean number in orbit`,
    expected: (rho * (rho + rho * theta)) / ((1 - rho) * theta),
    unit: 'clients',
  })),
  replicate: (seed, replication, without) =>
    cases.map(({ rho, theta }) => {
      const purpose = `published/retrial-queue/${replication}/${rho}/${theta}`;
      let open = 0;
      const { clock, service, poisson } = clientRig({
        spec: without
          ? { kind: 'open' }
          : {
              kind: 'retrying',
              max_attempts: 'unlimited',
              backoff: { policy: 'fixed', base: `${UNIT_MS / theta}ms`, jitter: 'exponential' },
            },
        seed,
        purpose,
        service: { queue: 0, time: exponential(UNIT_MS) },
        clientWatch: {
          born: () => {
            open += 1;
          },
          retried: () => {},
          ended: () => {
            open -= 1;
          },
        },
      });
      poisson(rho, TO);
      let area = 0;
      for (let tenths = FROM * 10; tenths < TO * 10; tenths += 1) {
        clock.run({ untilMs: (tenths * UNIT_MS) / 10 });
        area += open - service.busy.value;
      }
      return area / ((TO - FROM) * 10);
    }),
};
