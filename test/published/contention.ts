// The cost of back-off policies when many clients contend for one row under optimistic concurrency.
//
//   client                                     row
//     ── read ───────────────────────────────►
//     ◄────────────────────────── version ────            every arrow takes |normal(10, 2)| ms
//     ── write, if still that version ───────►   version + 1, or refused
//     ◄──────────────────────── done or not ──
//     not done: n = n + 1, pause according to n, read again
//
// The rules are those of github.com/aws-samples/aws-arch-backoff-simulator; the figures are means of its runs.
import { RandomStream } from '../../src/core/math/random.js';
import { normal } from '../../src/core/math/time-law.js';
import { Agenda } from '../../src/core/time/agenda.js';
import { Rank } from '../../src/core/time/rank.js';
import { type BackoffPlan, type Pauses, pauses } from '../../src/harness/clients/backoff.js';
import type { PublishedCheck } from './published-check.js';

const CLIENTS = 100;
const BASE_MS = 5;
const CAP_MS = 2_000;

const network = normal(10, 2);

interface Published {
  readonly policy: BackoffPlan['policy'];
  readonly calls: readonly [number, number];
  /** Time until the last client finishes, in ms, with its standard error. */
  readonly completion: readonly [number, number];
}

const published: readonly Published[] = [
  { policy: 'none', calls: [2422, 6], completion: [2031, 9] },
  { policy: 'exponential', calls: [1868, 14], completion: [63903, 897] },
  { policy: 'equal_jitter', calls: [812.5, 1.5], completion: [6718, 135] },
  { policy: 'full_jitter', calls: [795, 1.5], completion: [4812, 112] },
  { policy: 'decorrelated', calls: [999, 6], completion: [4591, 135] },
];

export const contention: PublishedCheck = {
  title: `Back-off policies: ${CLIENTS} clients contend for one row`,
  source: 'github.com/aws-samples/aws-arch-backoff-simulator',
  tolerance: 'standard errors of the published means',
  rows: published.flatMap(({ policy, calls, completion }) => [
    { name: `${policy}: calls`, expected: calls[0], error: calls[1], unit: 'writes' },
    { name: `${policy}: completion`, expected: completion[0], error: completion[1], unit: 'ms' },
  ]),
  replicate: (seed, replication) =>
    published.flatMap(({ policy }) => {
      const stream = (use: string) => new RandomStream(seed, `published/contention/${replication}/${policy}/${use}`);
      const { calls, completionMs } = contend(
        pauses({ policy, baseMs: BASE_MS, capMs: CAP_MS }),
        stream('network'),
        stream('pauses'),
      );
      return [calls, completionMs];
    }),
};

function contend(pauses: Pauses, delays: RandomStream, draw: RandomStream) {
  const agenda = new Agenda(0);
  let version = 0;
  let calls = 0;
  const after = (waitMs: number, arrive: () => void) =>
    agenda.at(agenda.now + waitMs + network.drawMs(delays), Rank.service, arrive);
  const read = (n: number, pausedMs: number): void => {
    const seen = version;
    after(0, () => after(0, () => write(seen, n, pausedMs)));
  };
  const write = (seen: number, n: number, pausedMs: number): void => {
    calls += 1;
    const isDone = seen === version;
    if (isDone) version += 1;
    after(0, () => {
      if (!isDone) tryAgain(n + 1, pausedMs);
    });
  };
  const tryAgain = (n: number, lastMs: number): void => {
    const wait = pauses(n, lastMs);
    const pausedMs = typeof wait === 'number' ? wait : wait.drawMs(draw);
    after(pausedMs, () => read(n, pausedMs));
  };
  for (let client = 0; client < CLIENTS; client += 1) after(0, () => read(0, 0));
  while (agenda.step());
  return { calls, completionMs: agenda.now };
}
