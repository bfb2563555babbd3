// Owns what the tests of live runs share: scenarios from a few lines, and a run of one.

import { lastValueFrom, tap } from 'rxjs';
import type { Failure } from '../../../src/core/schema/failure.js';
import { type LiveReplay, type LiveReplayOptions, liveReplay$ } from '../../../src/harness/live/live-replay.js';
import { type LoadOptions, type LoadRun, load$, toResult } from '../../../src/harness/live/load.js';
import type { LoadResult } from '../../../src/harness/live/result.js';
import type { CycleRow } from '../../../src/harness/outcome/cycle-row.js';
import type { Comparison, LiveFigures } from '../../../src/harness/outcome/outcome-schema.js';
import { type LoadedScenario, parseScenario } from '../../../src/harness/scenario/load-scenario.js';

/** A scenario of the lines given. */
export function scenario(text: string): LoadedScenario {
  return parseScenario(`question: Does it agree?\n${text}`, 'test.yaml');
}

/** One request a cycle, and a burst that trips a gate of 6 within 8 cycles, limits several, and is over before the end. */
export const burst = scenario(`
seed: 7
duration: 20
limiter: { threshold: 6, within: 8 }
arrivals:
  - { model: constant, rate: 1 per 2 cycles }
  - { model: burst, burst_rate: 4, at: 6, for: 2 }
`);

/** For so long, and so often at least. */
const MOST_MS = 300_000;
const ATTEMPTS = 25;

/**
 * A run in which every request arrived in its cycle: again and again while the machine is too busy for that, which says nothing of
 * the target.
 */
export async function steady(attempt: () => Promise<LoadResult>): Promise<LoadResult> {
  const endMs = performance.now() + MOST_MS;
  for (let n = 1; ; n += 1) {
    const isLast = n >= ATTEMPTS && performance.now() > endMs;
    const result = await answered(attempt, isLast);
    if (result !== undefined && (isLast || isSteady(result))) return result;
  }
}

/** A run that is decided, for a limiter by the ms, to which cycles are nothing: again while the machine is too busy for a verdict. */
export async function decided(attempt: () => Promise<LoadResult>): Promise<LoadResult> {
  for (let n = 1; ; n += 1) {
    const result = await answered(attempt, n === ATTEMPTS);
    if (result !== undefined && (n === ATTEMPTS || told(result).comparison.verdict !== 'run invalid')) return result;
  }
}

/** Undefined if the machine was too busy for an answer of the node in time. */
function answered(attempt: () => Promise<LoadResult>, isLast: boolean): Promise<LoadResult | undefined> {
  return attempt().catch((error: Failure) => {
    if (isLast || error.code !== 'node_unreachable') throw error;
    return undefined;
  });
}

function isSteady(result: LoadResult): boolean {
  const { outcome } = result.observed;
  const { live, comparison } = told(result);
  const { planned, failed, timed_out, by_cycle } = live;
  const isValid = comparison.verdict !== 'run invalid';
  // Clients send when they like: in another cycle than their requests arrive in, every now and then.
  if (outcome.clients !== undefined) return isValid;
  // A run that was stopped has planned more than it sent.
  if (outcome.partial === true) return isValid || comparison.reason.startsWith('The run was stopped');
  const isWhole = by_cycle.every((cycle) => cycle.planned === cycle.sent && cycle.sent >= cycle.arrived);
  const isKnown = failed + timed_out > 0 || by_cycle.every((cycle) => cycle.planned === cycle.arrived);
  // "4 to 5": one was under way at the edge of two cycles.
  const isSharp = comparison.differences.every(({ observed }) => !/^\d+ to \d+$/.test(String(observed)));
  return planned === 0 || (isWhole && isKnown && isSharp);
}

/** What a test does when a cycle has closed. */
export interface Closed {
  /** Cycles since the start. */
  readonly elapsed: number;
  readonly admitted: number;
  readonly limited: number;
}

export function run(
  one: LoadedScenario,
  { onCycle, ...options }: LoadOptions & { readonly onCycle?: ((closed: Closed) => void) | undefined },
): Promise<LoadResult> {
  const each = tap<CycleRow<LoadRun>>(({ cycle, run: { firstCycle }, totals: { admitted, limited } }) =>
    onCycle?.({ elapsed: cycle - firstCycle + 1, admitted, limited }),
  );
  return lastValueFrom(load$(one, options).pipe(each, toResult()));
}

/** The result of a log that is replayed at a node. */
export function liveReplay(paths: readonly string[], options: LiveReplayOptions): Promise<LiveReplay> {
  return lastValueFrom(liveReplay$(paths, options).pipe(toResult()));
}

export interface Told {
  readonly comparison: Comparison;
  readonly live: LiveFigures;
  /** First cycle of the run. */
  readonly first: number;
}

/** What a live run says beside its figures. */
export function told({ observed: { outcome } }: LoadResult): Told {
  const { comparison, live, first_cycle: first } = outcome;
  if (comparison === undefined || live === undefined || first === null) throw new Error('it is no live run');
  return { comparison, live, first };
}
