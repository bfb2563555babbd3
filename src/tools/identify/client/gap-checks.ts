// Whether gaps follow a law, and whether two kinds of them follow the same one.
import { log } from '../../../core/math/elementary.js';
import type { WaitFit } from './wait-fit.js';
import { areStalls, atLeast, closeMs, earlyMs, type Gap, latestMs, type TimerLateness, waitLaw } from './wait-law.js';

/** The distribution of a wait is visible if it is wider than the lateness by this factor. */
const WIDE = 20;
/** Kolmogorov's limit for 1 in 1,000. */
const UNEVEN = 1.95;
/** Additional unevenness by the lateness of a busy machine. */
const LOADED = 0.1;
/** Gaps before one retry are longer, or shorter, than their law: -log of 1 in 100,000. */
const UNLIKELY = 11.5;
/** A spread of lateness beyond this multiple of the usual one is a law that is not known. */
const MOST_LATE = 12;
const LATE_MS = 3;
/** The law of lateness is not exact: more gaps than this count as this many. */
const MOST_GAPS = 40;
const FEW = 8;
/** By how many times the delay of timers gaps of one law may differ: a process that has waited runs sooner, and more so if it has just started. */
const BUSY = 2;
const WARM = 8;

/** Medians of the gaps before retry k. */
export interface GapDifference {
  readonly k: number;
  readonly ms: number;
  readonly otherMs: number;
}

/** The first retry of which gaps follow two laws, with both medians: Kolmogorov-Smirnov, and more than lateness explains. */
export function difference(
  some: readonly Gap[],
  others: readonly Gap[],
  { oftenMs }: TimerLateness,
): GapDifference | undefined {
  const retries = new Set(some.map(({ k }) => k));
  for (const k of [...retries].sort((a, b) => a - b))
    for (const isFirst of [true, false]) {
      const [a, b] = [some, others].map((gaps) =>
        gaps.flatMap((gap) => (gap.k === k && gap.isFirst === isFirst ? [gap.ms] : [])).sort((x, y) => x - y),
      ) as [number[], number[]];
      if (a.length === 0 || b.length === 0) continue;
      const below = (sorted: readonly number[], ms: number) => sorted.filter((one) => one <= ms).length / sorted.length;
      const distance = Math.max(...[...a, ...b].map((ms) => Math.abs(below(a, ms) - below(b, ms))));
      const [x, y] = [a[a.length >> 1]!, b[b.length >> 1]!];
      const isLikely = distance * Math.sqrt((a.length * b.length) / (a.length + b.length)) <= UNEVEN;
      const lateMs = (isFirst ? WARM : BUSY) * oftenMs;
      if (!isLikely && Math.abs(x - y) > closeMs(Math.max(x, y)) + lateMs) return { k, ms: x, otherMs: y };
    }
  return undefined;
}

/** R. Berk and D. Jones, "Goodness-of-fit test statistics that dominate the Kolmogorov statistics" (1979), to one side. */
function areUnlikely(chances: readonly number[]): boolean {
  const { length } = chances;
  const n = Math.min(length, MOST_GAPS);
  const term = (seen: number, expected: number) => (seen === 0 ? 0 : seen * log(seen / Math.max(expected, 1e-12)));
  return [...chances]
    .sort((a, b) => a - b)
    .some((chance, i) => {
      const share = (i + 1) / length;
      return share > chance && n * (term(share, chance) + term(1 - share, 1 - chance)) > UNLIKELY;
    });
}

export function explained(
  gaps: readonly Gap[],
  fit: WaitFit,
  timers: TimerLateness,
): { readonly unexplained: readonly Gap[]; readonly isEven: boolean } {
  const { structure, parameters } = fit;
  const places: number[] = [];
  const stalled: Gap[] = [];
  const unexplained = gaps.filter((gap) => {
    const pieces = waitLaw(structure, parameters, gap);
    const late = gap.isFirst ? fit.first : fit.later;
    const { offsetMs, spreadMs } = late;
    const [fromMs, toMs] = [pieces[0]!.fromMs, pieces.at(-1)!.toMs];
    const by = earlyMs(toMs);
    if (pieces.length === 1 && toMs - fromMs > WIDE * spreadMs)
      places.push(Math.min(1, Math.max(0, (gap.ms - offsetMs - spreadMs - fromMs) / (toMs - fromMs))));
    if (gap.ms > toMs + latestMs(late) + by) stalled.push(gap);
    return gap.ms < fromMs + Math.min(0, offsetMs) - by;
  });
  if (!areStalls(stalled.length, gaps.length)) unexplained.push(...stalled);
  for (const retry of new Set(gaps.map(({ k }) => k))) {
    const those = gaps.filter((gap) => gap.k === retry);
    const laws = those.map((gap) => ({ gap, pieces: waitLaw(structure, parameters, gap) }));
    const chances = (side: 1 | -1) =>
      laws.map(({ gap, pieces }) =>
        atLeast(pieces, gap.ms - side * closeMs(pieces.at(-1)!.toMs), gap.isFirst ? fit.first : fit.later),
      );
    if (areUnlikely(chances(1)) || areUnlikely(chances(-1).map((one) => 1 - one))) unexplained.push(...those);
  }
  places.sort((a, b) => a - b);
  const n = places.length;
  const distance = Math.max(0, ...places.map((x, i) => Math.max((i + 1) / n - x, x - i / n)));
  const isLate = fit.later.spreadMs > MOST_LATE * (timers.averageMs + LATE_MS);
  return { unexplained, isEven: !isLate && (n < FEW || distance < UNEVEN / Math.sqrt(n) + LOADED) };
}
