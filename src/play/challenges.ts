// Challenges: a failing scenario, the values that may change, and the expectations that judge the result.
import { parseDocument } from 'yaml';
import { steps } from './steps.js';

export interface Challenge {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  readonly text: string;
  /** Only values below these paths may change. */
  readonly free: readonly string[];
  readonly mostChanges?: number;
  readonly solution: string;
}

const storm = `${steps.find(({ name }) => name === 'the-storm')!.text}expect:
  - { name: the queue is short at the end, that: service.queue_max < 400 }
  - { name: a quarter of the jobs succeed, that: clients.succeeded > clients.jobs / 4 }
`;

const peak = `question: Can 40 a second of capacity serve ten seconds of 120 a second?
seed: 11
duration: 10s
limiter: { threshold: 100, within: 10s }
arrivals:
  - { model: poisson, rate: 120/s }
clients:
  - { kind: retrying, max_attempts: 3, backoff: { policy: full_jitter, base: 500ms, cap: 2s } }
service: { servers: 4, time: { law: exponential, mean: 100ms }, queue: 100 }
drain: 90s
expect:
  - { name: less than 1 % of the jobs are lost, that: clients.succeeded >= 0.99 * clients.jobs }
  - { name: the queue has at most 100 places, that: service.queue_max <= 100 }
`;

const gentle = `question: Can a burst of 60 pass where 100 a minute is the limit?
seed: 5
cycle_ms: 500
duration: 5m
limiter: { like: nginx, rate: 100r/m }
arrivals:
  - { model: constant, rate: 20/min }
  - { model: spikes, requests: 60, at: 90s }
phases:
  burst: { from: 85s, to: 95s }
expect:
  - { name: nothing of the burst is refused, that: limited == 0, phase: burst }
  - { name: never more than 100 in a minute, that: admitted <= 100, in_any: 60s }
`;

export const challenges: readonly Challenge[] = [
  {
    name: 'end-the-storm',
    title: 'End the storm by one change',
    task: 'The load is far below what the service can do, and still it never recovers. Change one value, and only one.',
    text: storm,
    free: ['clients', 'limiter', 'service'],
    mostChanges: 1,
    solution: storm.replace('max_attempts: 5', 'max_attempts: 1'),
  },
  {
    name: 'three-times-the-capacity',
    title: 'Three times the capacity',
    task: 'Ten seconds of 120 requests a second meet a service that can do 40. Lose less than 1 % of the jobs. You may set the limiter and the clients.',
    text: peak,
    free: ['limiter', 'clients'],
    solution: peak
      .replace('{ threshold: 100, within: 10s }', '{ like: x-time, limit: 38, burst: 20 }')
      .replace('max_attempts: 3', 'max_attempts: 60')
      .replace('base: 500ms, cap: 2s', 'base: 1s, cap: 8s'),
  },
  {
    name: 'a-gentle-limit',
    title: 'A gentle limit',
    task: 'A rate alone refuses every burst. Let sixty requests through at once, and never more than 100 in any minute. You may set the limiter.',
    text: gentle,
    free: ['limiter'],
    solution: gentle.replace('{ like: nginx, rate: 100r/m }', '{ threshold: 100, within: 60s }'),
  },
];

/** The first forbidden change, as a sentence; undefined if there is none. */
export function foulOf({ text, free, mostChanges }: Challenge, changed: string): string | undefined {
  const [before, after] = [leavesOf(text), leavesOf(changed)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  const foul = paths.find((path) => !free.some((one) => path === one || path.startsWith(`${one}.`)));
  if (foul !== undefined) return `${foul} has changed. Only ${free.join(', ')} may change.`;
  if (mostChanges === undefined || paths.length <= mostChanges) return undefined;
  return `${paths.length} values have changed (${paths.join(', ')}), and ${mostChanges} may.`;
}

function leavesOf(text: string): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) leaves.set(path, value);
    else for (const [name, inner] of Object.entries(value)) visit(inner, path === '' ? name : `${path}.${name}`);
  };
  visit(parseDocument(text, { logLevel: 'error' }).toJS(), '');
  return leaves;
}
