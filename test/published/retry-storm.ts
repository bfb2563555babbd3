// A service stays down long after a burst, because it still processes attempts that clients have abandoned.
//
//   arrivals/s   9 ____|‾20‾|____9______7___5___3         evenly spaced; one server, 10/s, exponential; patience 0.5 s, 5 attempts
//   seconds      0    20   30       60   75  90  100
//
//   an abandoned attempt costs the server as much as a live one, and its client rejoins the end of the queue
//
// Two cures: no retries, or dropping abandoned attempts. As in the program that produced the published figures, an answer to an earlier
// attempt is a success if the client is still trying.
import { exponential } from '../../src/core/math/time-law.js';
import { Rank } from '../../src/core/time/rank.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

/** Arrivals per second; from and to in seconds. */
const spans = [
  { rate: 9, from: 0, to: 20 },
  { rate: 20, from: 20, to: 30 },
  { rate: 9, from: 30, to: 60 },
  { rate: 7, from: 60, to: 75 },
  { rate: 5, from: 75, to: 90 },
  { rate: 3, from: 90, to: 100 },
] as const;

const SERVICE_MS = 100;
const PATIENCE_MS = 500;
const ATTEMPTS = 5;

const AFTER_BURST = [45, 60] as const;
const AT_THE_END = [92, 100] as const;

export const retryStorm: PublishedCheck = {
  title: 'Retry storm: a service that stays down after a burst, and its two cures',
  source: 'github.com/adamfilli/happy-simulator, metastable state with a retrying client',
  tolerance: 'standard errors of the runs of its program',
  mechanism: 'retries',
  rows: [
    { name: `${ATTEMPTS} attempts: mean queue, 45-60 s`, expected: 2102, error: 24, unit: 'requests' },
    { name: `${ATTEMPTS} attempts: mean queue, 92-100 s`, expected: 3029, error: 24, unit: 'requests' },
    { name: `${ATTEMPTS} attempts: goodput, 92-100 s`, expected: 0, unit: '/s' },
    { name: 'one attempt: goodput, 92-100 s', expected: 2.98, unit: '/s' },
    { name: 'abandoned work dropped: goodput, 45-60 s', expected: 8.93, unit: '/s' },
  ],
  replicate(seed, replication, without) {
    const purpose = `published/retry-storm/${replication}`;
    const storm = run({ attempts: without ? 1 : ATTEMPTS, dropsAbandoned: false }, seed, `${purpose}/storm`);
    const once = run({ attempts: 1, dropsAbandoned: false }, seed, `${purpose}/once`);
    const dropping = run({ attempts: ATTEMPTS, dropsAbandoned: true }, seed, `${purpose}/dropping`);
    return [
      storm.afterBurst.queue,
      storm.atTheEnd.queue,
      storm.atTheEnd.goodput,
      once.atTheEnd.goodput,
      dropping.afterBurst.goodput,
    ];
  },
};

interface Way {
  readonly attempts: number;
  readonly dropsAbandoned: boolean;
}

function run({ attempts, dropsAbandoned }: Way, seed: number, purpose: string) {
  const { clock, service, population } = clientRig({
    spec: { kind: 'retrying', timeout: `${PATIENCE_MS}ms`, takes_late_answers: true, max_attempts: attempts },
    seed,
    purpose,
    service: { time: exponential(SERVICE_MS), dropsAbandoned },
  });
  for (const { rate, from, to } of spans)
    for (let n = 1; n <= rate * (to - from); n += 1)
      clock.agenda.at((from + n / rate) * UNIT_MS, Rank.arrival, () => population.arrive(0));
  const readAt = (s: number) => {
    clock.run({ untilMs: s * UNIT_MS });
    return { waitingMs: service.waiting.areaMs(clock.now()), succeeded: population.figures()[0]!.succeeded };
  };
  const between = ([from, to]: readonly [number, number]) => {
    const [before, after] = [readAt(from), readAt(to)];
    return {
      queue: (after.waitingMs - before.waitingMs) / ((to - from) * UNIT_MS),
      goodput: (after.succeeded - before.succeeded) / (to - from),
    };
  };
  return { afterBurst: between(AFTER_BURST), atTheEnd: between(AT_THE_END) };
}
