// Answers of a limiter behind a network, in virtual time: requests and answers are delayed, overtake each other, and are lost.
//
//   sent ──(up)──► counted ──(held)──► released ──(down)──► answered

import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { RandomStream } from '../../../src/core/math/random.js';
import type { Seed } from '../../../src/core/math/seed.js';
import type { SeenRequest } from '../../../src/harness/explain/seen-request.js';
import type { Decide } from './rule-definitions.js';

export interface Sent {
  readonly sentMs: number;
  readonly upMs: number;
  readonly downMs: number;
  /** The request never arrives; its answer never does. */
  readonly loses?: 'request' | 'answer' | undefined;
}

/** Bursts, steady requests, pauses; each way takes up to `longestMs`; a share of the requests or of their answers is lost. */
export function drawn(seed: Seed, n: number, longestMs: number, lost = 0): Sent[] {
  const draw = new RandomStream(seed, 'requests');
  let sentMs = 0;
  return Array.from({ length: n }, (): Sent => {
    const kind = draw.uniform();
    const most = kind < 0.4 ? 0 : kind < 0.8 ? 100 : kind < 0.95 ? 300 : 2500;
    sentMs += draw.uniform() * most;
    const loses = draw.uniform() < lost ? (draw.uniform() < 0.5 ? 'request' : 'answer') : undefined;
    return { sentMs, upMs: draw.uniform() * longestMs, downMs: draw.uniform() * longestMs, loses };
  });
}

/** `n` requests at a mean rate, on a network that takes `wayMs` there and back and up to `jitterMs` more each way. */
export function steady(seed: Seed, n: number, gapMs: number, wayMs: number, jitterMs: number): Sent[] {
  const draw = new RandomStream(seed, 'requests');
  const way = () => wayMs / 2 + draw.uniform() * jitterMs;
  let sentMs = 0;
  return Array.from({ length: n }, (): Sent => {
    sentMs -= Math.log(1 - draw.uniform()) * gapMs;
    return { sentMs, upMs: way(), downMs: way() };
  });
}

/** What is seen of them; `make` is given the time at which the limiter is made, by a clock of its own, which is `behindMs` later on. */
export function seenOf(
  sent: readonly Sent[],
  seed: Seed,
  make: (madeMs: number) => Decide,
  behindMs: (atMs: number) => number = () => 0,
): SeenRequest[] {
  const draw = new RandomStream(seed, 'clock');
  const aheadMs = 1.7e12 + draw.uniform() * 10_000;
  const at = ({ sentMs, upMs }: Sent) => aheadMs + sentMs + upMs;
  const arrived = sent.filter(({ loses }) => loses !== 'request').sort((a, b) => at(a) - at(b));
  const firstMs = arrived.length === 0 ? aheadMs : at(arrived[0]!);
  const decide = make(draw.uniform() < 0.5 ? firstMs : firstMs - 1e8 - draw.uniform() * 1e6);
  const heldMs = new Map(arrived.map((one) => [one, decide(at(one) - behindMs(one.sentMs + one.upMs))]));
  return sent.map((one): SeenRequest => {
    const { sentMs, upMs, downMs } = one;
    if (one.loses !== undefined) return { sentMs, answeredMs: Number.POSITIVE_INFINITY, decision: 'unknown' };
    const held = heldMs.get(one)!;
    const answeredMs = sentMs + upMs + downMs + Math.max(0, held);
    return { sentMs, answeredMs, decision: held === LIMITED ? 'limited' : 'admitted' };
  });
}
