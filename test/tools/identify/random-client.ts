// Retry policies drawn by seeds, each with what a right answer says of it.
import { drawsOf } from '../../../src/core/math/random.js';
import type { Reply } from '../../../src/tools/identify/client/script.js';
import type { TrueClient } from './simulated-client.js';

export interface RandomClient {
  readonly client: TrueClient;
  readonly growth: 'none' | 'fixed' | 'linear' | 'exponential';
  readonly jitter: string;
  /** As an answer has them; those that cannot show are left out. */
  readonly parameters: Readonly<Record<string, number>>;
}

const growths = ['fixed', 'linear', 'exponential', 'exponential', 'decorrelated'] as const;
const jitters = ['none', 'full', 'equal', 'additive', 'subtractive', 'proportional'] as const;

export function randomClient(seed: number): RandomClient {
  const draw = drawsOf(seed)('policy');
  const of = <T>(list: readonly T[]): T => list[draw.integer(0, list.length - 1)]!;
  const base = draw.uniform() < 0.7 ? of([50, 100, 200, 250, 300, 500, 1_000]) : draw.integer(40, 1_200);
  const law = of(growths);
  // Two waits of which the second is twice the first are linear and doubling.
  const attempts = draw.integer(law === 'linear' ? 4 : 3, 6);
  const growth = law === 'decorrelated' ? 'exponential' : law;
  const kind: string = law === 'decorrelated' ? 'decorrelated' : of(jitters);
  const factor = law === 'exponential' ? of([1.5, 2, 2, 3]) : 1;
  const share = kind === 'subtractive' ? of([0.1, 0.2, 0.25, 0.4]) : kind === 'proportional' ? of([0.1, 0.2, 0.3]) : 0;
  const plus = kind === 'additive' ? of([50, 100, 250]) : 0;
  const grown = (k: number) => (law === 'linear' ? base * k : base * factor ** (k - 1));
  // One that can show: it leaves what tells the laws apart, and is reached.
  const cap = attempts > 4 && growth !== 'fixed' && draw.uniform() < 0.35 ? Math.round(1.15 * grown(3)) : Infinity;
  const w = (k: number) => Math.min(cap, grown(k));
  const waits: Readonly<Record<string, (k: number, u: number, lastMs: number) => number>> = {
    none: w,
    full: (k, u) => u * w(k),
    equal: (k, u) => (0.5 + 0.5 * u) * w(k),
    additive: (k, u) => w(k) + u * plus,
    subtractive: (k, u) => (1 - share * u) * w(k),
    proportional: (k, u) => (1 + share * u) * w(k),
    decorrelated: (k, u, lastMs) => Math.min(cap, base + u * (3 * (k === 1 ? base : lastMs) - base)),
  };
  const advice = of(['ignored', 'obeyed', 'obeyed', 'floor']);
  const end = advice === 'ignored' ? undefined : of(['capped', 'own', 'stops', undefined] as const);
  const limitMs = of([10_000, 20_000, 30_000, 60_000]);
  const span = Array.from({ length: attempts - 1 }, (_, i) => w(i + 1)).reduce((sum, one) => sum + one, 0);
  const deadlineMs = draw.uniform() < 0.2 ? Math.round(1.5 * span + 2_000) : undefined;
  const quota = draw.uniform() < 0.15 ? draw.integer(5, 20) : undefined;
  const retried: readonly Reply['status'][] = of([
    [429, 500, 502, 503, 504, 'reset'],
    [429, 503],
    [429, 500, 502, 503, 504, 408, 'reset'],
  ]);
  const client: TrueClient = {
    attempts,
    retries: ({ status }) => retried.includes(status),
    wait: (k, stream, lastMs) => waits[kind]!(k, stream.uniform(), lastMs),
    advice: (told, own) => {
      if (advice === 'ignored') return own;
      if (end !== undefined && told > limitMs) return { capped: limitMs, own, stops: undefined }[end];
      return advice === 'floor' ? Math.max(told, own) : told;
    },
    deadlineMs,
    quota,
  };
  return {
    client,
    growth,
    jitter: kind,
    parameters: {
      base_ms: base,
      ...(law === 'exponential' || law === 'fixed' ? { factor } : {}),
      ...(cap === Infinity ? {} : { cap_ms: cap }),
      ...(share > 0 ? { jitter: share } : {}),
      ...(plus > 0 ? { plus_ms: plus } : {}),
    },
  };
}
