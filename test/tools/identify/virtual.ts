// A limiter in virtual time, behind a network with latency and jitter: what an investigation asks, it answers.

import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import type { Seed } from '../../../src/core/math/seed.js';
import { evidenceOf, type Seen } from '../../../src/tools/identify/evidence.js';
import { explanationsOf, type Investigated, isAlive } from '../../../src/tools/identify/explanations.js';
import type { Answered, Ask } from '../../../src/tools/identify/investigation.js';
import { structures } from '../../../src/tools/identify/structures.js';

export interface Network {
  /** One way, in ms. */
  readonly latencyMs: number;
  /** The most that a way takes longer, in ms. */
  readonly jitterMs: number;
  /** How long an admitted request is worked on, in ms. */
  readonly serviceMs?: number;
  /** The most that a third of all volleys is sent too late, as by a busy machine. */
  readonly lateMs?: number;
  /** The most that all answers of a third of all volleys are read too late, as on a machine that stalls. */
  readonly stallMs?: number;
  /** How long the investigation searches after the answers of a probe, in ms. */
  readonly searchMs?: number;
}

/** Decides one request at a time. */
export type Decide = (tMs: number, key: string) => number;

export function limiterOf(definition: RuleDefinition, madeMs: number, serviceMs = 0): Decide {
  const rule = ruleOf(definition);
  const states = new Map<string, unknown>();
  return (tMs, key) => {
    const state = states.get(key) ?? rule.fresh(madeMs);
    states.set(key, state);
    return rule.admit(state, tMs, 1, serviceMs);
  };
}

/** Plays an investigation against a limiter to its end. */
export function played<Found extends Investigated>(
  investigation: Generator<Ask, Found, Answered>,
  decide: Decide,
  { latencyMs, jitterMs, serviceMs = 0, lateMs = 0, stallMs = 0, searchMs = 0 }: Network,
  seed: Seed,
  log?: (ask: Ask, answered: Answered) => void,
): Found {
  const random = new RandomStream(seed, 'network');
  const way = () => latencyMs + random.uniform() * jitterMs;
  let nowMs = 1_000_000 + random.uniform() * 1_000_000;
  let searchingMs = 0;
  let next = investigation.next();
  while (next.done !== true) {
    const { probe, restMs, key } = next.value;
    const startMs = nowMs + Math.max(restMs, searchingMs);
    searchingMs = probe.volleys.length > 0 ? searchMs : 0;
    const events: { sentMs: number; comesMs: number; readsMs: number }[] = [];
    let sendsMs = startMs;
    for (const { atMs, n } of probe.volleys) {
      const byMs = lateMs > 0 && random.uniform() < 1 / 3 ? random.uniform() * lateMs : 0;
      sendsMs = Math.max(sendsMs, startMs + atMs + byMs);
      const readsMs = sendsMs + (stallMs > 0 && random.uniform() < 1 / 3 ? random.uniform() * stallMs : 0);
      for (let k = 0; k < n; k += 1) {
        const sentMs = sendsMs + k * 0.02;
        events.push({ sentMs, comesMs: sentMs + way(), readsMs });
      }
    }
    const seen: Seen[] = [];
    let stopMs = Infinity;
    // In order of arrival; what is sent after an answer that ends the probe is not sent.
    for (const { sentMs, comesMs, readsMs } of events.sort((a, b) => a.comesMs - b.comesMs)) {
      if (sentMs > stopMs) continue;
      const delay = decide(comesMs, key);
      const admitted = delay !== LIMITED;
      const answeredMs = Math.max(readsMs, comesMs + (admitted ? delay + serviceMs : 0) + way());
      seen.push({ key, sentMs, answeredMs, decision: admitted ? 'admitted' : 'limited' });
      if (probe.until === (admitted ? 'admitted' : 'limited')) stopMs = Math.min(stopMs, answeredMs);
    }
    nowMs = seen.reduce((most, one) => Math.max(most, one.answeredMs), startMs);
    const answered = { seen: seen.sort((a, b) => a.sentMs - b.sentMs), nowMs };
    log?.(next.value, answered);
    next = investigation.next(answered);
  }
  return next.value;
}

/** What a limiter answers to requests sent then by one key, each a ms on its way there and back. */
export function answersAt(decide: Decide, instants: readonly number[]): Seen[] {
  return instants.map((sentMs) => {
    const delay = decide(sentMs + 1, 'a');
    const decided = { key: 'a', sentMs, answeredMs: sentMs + 2 };
    if (delay === LIMITED) return { ...decided, decision: 'limited' };
    return { ...decided, answeredMs: decided.answeredMs + delay, decision: 'admitted' };
  });
}

/** An investigation that ended with these answers: those of the structures that explain them. */
export function settled(seen: readonly Seen[], ids: readonly string[]): Investigated {
  const evidence = evidenceOf(seen);
  const among = ids.map((id) => structures.find((structure) => structure.id === id)!);
  const alive = explanationsOf(evidence, [], among).filter(isAlive);
  const elapsedMs = seen.at(-1)!.answeredMs - seen[0]!.sentMs;
  return { evidence, alive, nearest: alive[0], elapsedMs, ended: 'settled' };
}
