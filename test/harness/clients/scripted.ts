// Clients against a server that answers by a script, in virtual time.
import { type Draws, drawsOf, type RandomStream } from '../../../src/core/math/random.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { ServiceAnswer } from '../../../src/harness/clients/behaviour.js';
import type { SentAttempt, Transport } from '../../../src/harness/clients/client.js';
import { planClients } from '../../../src/harness/clients/client-plan.js';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { Population } from '../../../src/harness/clients/population.js';

/** Undefined: no answer ever. Answers come at once unless `latencyMs` says otherwise. */
export type Script = (attempt: SentAttempt, nowMs: number) => ServiceAnswer | undefined;

/** One contract, with draws of the seed 1, if nothing else is said. */
export function populationOf(
  clients: readonly ClientSpec[],
  transport: Transport,
  clock: VirtualClock,
  other: Partial<ConstructorParameters<typeof Population>[0]> = {},
): Population {
  const plans = planClients(clients, clock.cycleMs);
  return new Population({ clock, transport, plans, draws: drawsOf(1), contracts: 1, ...other });
}

export interface Given {
  /** When jobs are wanted. Default: one at 0. */
  readonly jobsMs?: readonly number[];
  readonly seed?: number;
  readonly latencyMs?: number;
  readonly untilMs?: number;
  /** Every uniform variate, instead of those of the seed. */
  readonly uniform?: number;
}

export interface Seen {
  readonly ms: number;
  readonly job: number;
  readonly number: number;
}

export function against(script: Script, spec: ClientSpec, given: Given = {}) {
  const { jobsMs = [0], seed = 1, latencyMs = 0, untilMs = Number.POSITIVE_INFINITY, uniform } = given;
  const clock = new VirtualClock(0, 777);
  const sent: Seen[] = [];
  const transport: Transport = {
    send(attempt) {
      sent.push({ ms: clock.now(), job: attempt.job.number, number: attempt.number });
      const answer = script(attempt, clock.now());
      if (answer === undefined) return;
      if (latencyMs === 0) attempt.answer(answer);
      else clock.agenda.at(clock.now() + latencyMs, Rank.service, () => attempt.answer(answer));
    },
    abandon() {},
  };
  const draws: Draws = uniform === undefined ? drawsOf(seed) : () => ({ uniform: () => uniform }) as RandomStream;
  const population = populationOf([spec], transport, clock, { draws });
  for (const ms of jobsMs) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
  clock.run({ untilMs });
  return { sent, counts: population.figures()[0]!, endMs: clock.now() };
}

/** `0 j1#1 100 j1#2`: the instants of all attempts, in whole ms. */
export function words(sent: readonly Seen[]): string {
  return sent.map(({ ms, job, number }) => `${Math.round(ms)} j${job}#${number}`).join(' ');
}

export const failed: ServiceAnswer = { type: 'failed' };
export const served: ServiceAnswer = { type: 'served' };
export const limited = (retryAfterMs?: number): ServiceAnswer => ({ type: 'limited', retryAfterMs });
