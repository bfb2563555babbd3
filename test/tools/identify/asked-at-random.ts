// What a limiter drawn at random answers to probes drawn at random: bursts, polls and hammers about its limit and its times.
import { RandomStream } from '../../../src/core/math/random.js';
import type { Seen } from '../../../src/tools/identify/evidence.js';
import type { Investigated } from '../../../src/tools/identify/explanations.js';
import type { Ask, InvestigationSteps } from '../../../src/tools/identify/investigation.js';
import type { Volley } from '../../../src/tools/identify/probe.js';
import type { RandomLimiter } from './random-limiter.js';
import { limiterOf, played } from './virtual.js';

const MOST_REQUESTS = 400;

export function askedAtRandom({ definition, hypothesis, network }: RandomLimiter, seed: number): Seen[] {
  const seen: Seen[] = [];
  const random = new RandomStream(seed, 'probes');
  const { structure, parameters } = hypothesis;
  const { limit, otherMs } = parameters;
  const isByToken = structure.family === 'token bucket' || structure.family === 'queue';
  const spanMs = structure.isInFlight ? network.serviceMs! : parameters.spanMs;
  const longMs = isByToken ? spanMs * limit : spanMs;
  const from = (least: number, most: number) => least * (most / least) ** random.uniform();
  const whole = (most: number) => 1 + Math.floor(random.uniform() * most);
  const volleys = (): Volley[] => {
    const burst: Volley = { atMs: 0, n: whole(limit + 2) };
    const gapMs = from(longMs / 30, longMs);
    switch (whole(4)) {
      case 1:
        return [burst, { atMs: gapMs, n: whole(limit + 2) }];
      case 2:
        return [burst, ...Array.from({ length: whole(12) }, (_, k) => ({ atMs: (k + 1) * gapMs, n: 1 }))];
      case 3:
        return [
          { atMs: 0, n: limit + 1 },
          { atMs: from(0.9, 1.1) * (whole(2) === 1 ? otherMs : spanMs), n: whole(limit) },
        ];
      default:
        return [{ atMs: 0, n: whole(3) }];
    }
  };
  function* course(): Generator<Ask, Investigated, { seen: readonly Seen[] }> {
    while (seen.length < MOST_REQUESTS) {
      const restMs = whole(3) === 1 ? from(longMs, 3 * longMs) : from(1, longMs);
      const answered = yield { probe: { words: '', volleys: volleys() }, restMs, key: 'one' };
      seen.push(...answered.seen);
    }
    return undefined as unknown as Investigated;
  }
  played(course() as InvestigationSteps, limiterOf(definition, 0, network.serviceMs), network, seed);
  return seen;
}
