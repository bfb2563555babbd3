// Decisions a second of every rule over 10,000 keys, beside libraries in memory that follow two of them.
import { MemoryStore as ExpressStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type RuleDefinition, ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import { type BenchRow, type Body, beside, sideBySide } from './measure.js';

const KEYS = 10_000;
/** Requests of one ms over all keys: each is asked once in about 100 ms. */
const PER_MS = 100;

const window = { limit: 10, window_ms: 1000 };
const bucket = { rate: 10, per_ms: 1000, capacity: 10 };
const rules: Readonly<Record<string, RuleDefinition>> = {
  'fixed window': { primitive: 'fixed_window', params: { ...window, count_refused: true }, clock_resolution_ms: 1 },
  'sliding log': { primitive: 'sliding_log', params: window, clock_resolution_ms: 1 },
  'segmented window': { primitive: 'segmented_window', params: { ...window, segments: 4 }, clock_resolution_ms: 1 },
  'sliding counter': { primitive: 'sliding_counter', params: { ...window, align: 'epoch' }, clock_resolution_ms: 1 },
  'token bucket': { primitive: 'token_bucket', params: bucket, clock_resolution_ms: 1 },
  'token bucket by intervals': { primitive: 'token_bucket', params: { ...bucket, refill: 'interval' } },
  gcra: { primitive: 'gcra', params: { T_ms: 100, tau_ms: 900 }, clock_resolution_ms: 1 },
  'nginx limit_req': { primitive: 'nginx_limit_req', params: { rate_1000: 10_000, burst: 9 } },
  'leaky queue': { primitive: 'leaky_queue', params: { spacing_ms: 100, max_queue: 9 } },
  Guava: { primitive: 'guava_bursty', params: { interval_ms: 100, max_stored: 10 } },
  concurrency: { primitive: 'concurrency', params: { limit: 10 } },
};

export async function benchRules(rounds = 3, n = 200_000): Promise<BenchRow[]> {
  const ids = Array.from({ length: KEYS }, (_, i) => `key-${i}`);
  const stream = new RandomStream(1, 'bench/rules');
  const order = Uint32Array.from({ length: 1 << 16 }, () => stream.integer(0, KEYS - 1));
  let place = 0;
  const nextId = () => {
    place = (place + 1) & 0xffff;
    return ids[order[place]!]!;
  };
  const flexible = new RateLimiterMemory({ points: 10, duration: 1 });
  const express = new ExpressStore();
  express.init({ windowMs: 1000 } as Parameters<typeof express.init>[0]);

  const bodies: Record<string, Body> = {};
  for (const [name, definition] of Object.entries(rules)) {
    const rule = ruleOf(definition);
    const states = new Map<string, unknown>();
    let ms = 1_699_999_200_000;
    bodies[name] = (count) => {
      for (let i = 0; i < count; i += 1) {
        const id = nextId();
        let state = states.get(id);
        if (state === undefined) {
          state = rule.fresh(ms);
          states.set(id, state);
        }
        rule.admit(state, ms + Math.floor(i / PER_MS), 1, 50);
      }
      ms += Math.ceil(count / PER_MS);
    };
  }
  bodies['rate-limiter-flexible'] = async (count) => {
    // It rejects what is limited.
    for (let i = 0; i < count; i += 1) await flexible.consume(nextId()).catch(() => {});
  };
  bodies['express-rate-limit'] = async (count) => {
    for (let i = 0; i < count; i += 1) await express.increment(nextId());
  };

  const speeds = await sideBySide(bodies, n, rounds);
  express.shutdown();
  return Object.keys(rules).flatMap((name) =>
    ['rate-limiter-flexible', 'express-rate-limit'].map((peer) => {
      const value = speeds[name]!;
      const against = beside(value, peer, speeds[peer]!, 1);
      return { what: `${name}, 10,000 keys`, value, unit: 'decisions/s', against };
    }),
  );
}
