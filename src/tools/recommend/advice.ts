// The answer to "which limit?": curves, recommended thresholds with the clients they would limit and when, and suspect keys.
import { instantText, startOf } from '../../core/time/cycle.js';
import { VERSION } from '../../core/version.js';
import { Curve } from './curve.js';
import { type Fit, type FittedRule, fittedRules, type HeldOutFigures, heldOutFigures } from './fitted-rule.js';
import type { HeldOut, Sizing, Tuning } from './sizing.js';
import { type AlikeNetwork, alikeNetworks, type SuspectNetwork, suspectNetworks } from './suspects.js';
import { worstBurst } from './worst-burst.js';

export interface CurvePoint {
  readonly threshold: number;
  /** Requests of all keys that are not excluded, suspects included. */
  readonly limited: number;
  readonly limited_share: number;
  readonly keys_limited: number;
  readonly suspects_limited: number;
}

export interface RuleCurve {
  readonly rule: string;
  /** cycles */
  readonly within: number;
  /** The smallest threshold that limits nothing. */
  readonly peak: number;
  readonly points: readonly CurvePoint[];
}

export interface ClientHit {
  readonly key: string;
  readonly requests: number;
  readonly limited: number;
  readonly limited_share: number;
  readonly peak: number;
  readonly suspect: boolean;
}

export interface Recommendation extends Fit {
  readonly within: number;
  readonly threshold: number;
  /** The threshold chosen from the first part of the requests, tested on the rest; null with too few requests. */
  readonly held_out: ({ readonly threshold: number } & HeldOutFigures) | null;
  /** The clients limited most, in descending order; empty if all requests share one key. */
  readonly clients: readonly ClientHit[];
  /** Limited requests by hour of the day, UTC, without suspects; null if the threshold is below the known rows. */
  readonly by_hour: readonly number[] | null;
}

export interface Suspect {
  readonly key: string;
  readonly requests: number;
  readonly share: number;
  readonly peaks: readonly number[];
  readonly withins: readonly number[];
}

export interface Advice {
  readonly weir: string;
  readonly kind: 'recommend';
  readonly cycle_ms: number;
  readonly requests: number;
  readonly keys: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly curves: readonly RuleCurve[];
  readonly recommendations: readonly Recommendation[];
  readonly fitted: readonly FittedRule[];
  readonly suspects: readonly Suspect[];
  /** Networks with far more requests than any other; their addresses need not be suspects, and limits include them. */
  readonly networks: readonly SuspectNetwork[];
  /** Networks whose addresses send so equally many requests that one client, or one program, is behind them. */
  readonly alike_networks: readonly AlikeNetwork[];
  readonly excluded: readonly string[];
  /** What thresholds count, for example tokens. Absent: requests. */
  readonly unit?: string;
}

export interface AdviceOptions {
  readonly cycleMs: number;
  readonly shares: readonly number[];
  /** False: all requests share one key, so no clients are listed. */
  readonly isKeyed: boolean;
  readonly excluded?: readonly string[] | undefined;
  readonly unit?: string | undefined;
}

const RULE = 'rolling_count';
const MOST_POINTS = 10_000;
const MOST_CLIENTS = 20;

/** @param names by key index; `firstMs` and `lastMs` are unix ms of the first and last request */
export function adviceOf(
  sizing: Sizing,
  names: readonly string[],
  [firstMs, lastMs]: readonly [number, number],
  options: AdviceOptions,
): Advice {
  const { counts } = sizing;
  const tuning = sizing.tuned();
  const heldOut = sizing.heldOut(tuning);
  const suspected = new Set(tuning.suspects.flatMap((ofWindow) => [...ofWindow]));
  const suspects = [...suspected].sort((a, b) => counts.requestsOf(b) - counts.requestsOf(a) || a - b);
  return {
    weir: VERSION,
    kind: 'recommend',
    cycle_ms: options.cycleMs,
    requests: counts.requests,
    keys: counts.keys,
    first_at: instantText(firstMs),
    last_at: instantText(lastMs),
    curves: counts.windowCycles.map((_, window) => curveOf(sizing, tuning, window)),
    recommendations: counts.windowCycles.flatMap((_, window) =>
      options.shares.map((share, index) =>
        recommendationOf({ sizing, tuning, names, options, window }, share, index, heldOut?.[window]?.[index]),
      ),
    ),
    fitted: fittedRules(sizing, tuning, options.shares, options.cycleMs),
    suspects: suspects.map((key) => ({
      key: names[key]!,
      requests: counts.requestsOf(key),
      share: counts.requestsOf(key) / counts.requests,
      peaks: counts.windowCycles.map((_, window) => counts.peakOf(key, window)),
      withins: counts.windowCycles.filter((_, window) => tuning.suspects[window]!.has(key)),
    })),
    networks: suspectNetworks(
      names.flatMap((name, key) => (suspected.has(key) ? [] : [[name, counts.requestsOf(key)] as const])),
    ),
    alike_networks: alikeNetworks(names.map((name, key) => [name, counts.requestsOf(key)])),
    excluded: options.excluded ?? [],
    ...(options.unit !== undefined && { unit: options.unit }),
  };
}

function curveOf({ counts }: Sizing, { suspects, curves }: Tuning, window: number): RuleCurve {
  const others = curves[window]!;
  const ofSuspects = new Curve(counts, window, suspects[window]!);
  const peak = Math.max(others.peak, ofSuspects.peak);
  const wide = ofSuspects.peak > others.peak ? ofSuspects : others;
  const peaks = Float64Array.from({ length: counts.keys }, (_, key) => counts.peakOf(key, window)).sort();
  let kept = 0;
  const points = wide.thresholds(MOST_POINTS).map((threshold): CurvePoint => {
    while (kept < peaks.length && peaks[kept]! <= threshold) kept += 1;
    const suspects_limited = ofSuspects.limited(threshold);
    const limited = others.limited(threshold) + suspects_limited;
    const limited_share = limited / counts.requests;
    return { threshold, limited, limited_share, keys_limited: peaks.length - kept, suspects_limited };
  });
  return { rule: RULE, within: counts.windowCycles[window]!, peak, points };
}

interface SizedForWindow {
  readonly sizing: Sizing;
  readonly tuning: Tuning;
  readonly names: readonly string[];
  readonly options: AdviceOptions;
  readonly window: number;
}

/** @param index of the share */
function recommendationOf(
  { sizing, tuning, names, options: { cycleMs, isKeyed }, window }: SizedForWindow,
  share: number,
  index: number,
  heldOut: (HeldOut & { readonly threshold: number }) | undefined,
): Recommendation {
  const { counts } = sizing;
  const suspects = tuning.suspects[window]!;
  const curve = tuning.curves[window]!;
  const threshold = tuning.thresholds[window]![index]!;
  const within = counts.windowCycles[window]!;
  const limited = curve.limited(threshold);
  const hit = Array.from({ length: counts.keys }, (_, key) => key)
    .filter((key) => counts.peakOf(key, window) > threshold)
    .map((key) => ({ key, limited: counts.limitedOf(key, window, threshold) }));
  const ofSuspects = hit.filter(({ key }) => suspects.has(key));
  return {
    rule: RULE,
    within,
    limited_below: share,
    threshold,
    requests: curve.requests,
    limited,
    limited_share: curve.requests === 0 ? 0 : limited / curve.requests,
    keys_limited: hit.length - ofSuspects.length,
    suspects_limited: ofSuspects.reduce((sum, one) => sum + one.limited, 0),
    worst_burst_1s: worstBurst(threshold, within, cycleMs, 1000),
    worst_burst_1min: worstBurst(threshold, within, cycleMs, 60_000),
    held_out:
      heldOut === undefined ? null : { threshold: heldOut.threshold, ...heldOutFigures(heldOut, share, cycleMs) },
    clients: !isKeyed
      ? []
      : hit
          .sort((a, b) => b.limited - a.limited || a.key - b.key)
          .slice(0, MOST_CLIENTS)
          .map((one) => ({
            key: names[one.key]!,
            requests: counts.requestsOf(one.key),
            limited: one.limited,
            limited_share: one.limited / counts.requestsOf(one.key),
            peak: counts.peakOf(one.key, window),
            suspect: suspects.has(one.key),
          })),
    by_hour: byHour(sizing, window, threshold, suspects, cycleMs),
  };
}

const HOUR_MS = 3_600_000;

function byHour(
  { busy }: Sizing,
  window: number,
  threshold: number,
  suspects: ReadonlySet<number>,
  cycleMs: number,
): number[] | null {
  const { floor, leftOut } = busy[window]!;
  if (threshold < floor || [...leftOut].some((key) => !suspects.has(key))) return null;
  const hours = new Array<number>(24).fill(0);
  for (const { key, cycle, from, to } of busy[window]!.rows()) {
    if (to <= threshold || suspects.has(key)) continue;
    const hour = Math.floor(startOf(cycle, cycleMs) / HOUR_MS) % 24;
    hours[hour < 0 ? hour + 24 : hour]! += to - Math.max(from, threshold);
  }
  return hours;
}
