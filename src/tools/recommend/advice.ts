// The answer to "which limit?": curves, recommended thresholds with the clients they would limit and when, and suspect keys.
import { exact, flag, titled } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { instantText, startOf } from '../../core/time/cycle.js';
import { VERSION } from '../../core/version.js';
import { Count, Measure, Nullable, Read, Text } from '../../harness/outcome/read-schema.js';
import { Curve } from './curve.js';
import { FittedRule, fit, fittedRules, heldOutFields, heldOutFigures } from './fitted-rule.js';
import { PasteLines } from './lines-to-paste.js';
import type { HeldOut, Sizing, Tuning } from './sizing.js';
import { AlikeNetwork, alikeNetworks, SuspectNetwork, suspectNetworks } from './suspects.js';
import { worstBurst } from './window-counts.js';

const CurvePoint = exact({
  threshold: Count('Requests a window may hold.'),
  limited: Count('Requests of all keys, suspects included.'),
  limited_share: Measure('Of all of these requests.'),
  keys_limited: Count('Keys with a limited request.'),
  suspects_limited: Count('Limited requests of suspects.'),
});

const RuleCurve = exact({
  rule: Text('Name of the rule.'),
  within: Count('Cycles.'),
  peak: Count('The smallest threshold that limits nothing.'),
  points: Type.Array(CurvePoint, { description: 'By threshold.' }),
});

const ClientHit = exact({
  key: Text('The client.'),
  requests: Count('Its requests.'),
  limited: Count('Of them, those limited.'),
  limited_share: Measure('limited / requests.'),
  peak: Count('Its largest window.'),
  suspect: flag('Whether it is a suspect.'),
});

const Recommendation = exact({
  ...fit,
  within: Count('Cycles.'),
  threshold: Count('The smallest threshold that keeps the share.'),
  held_out: Nullable(
    exact('Tested on the rest; null with too few requests.', {
      threshold: Count('Chosen from the first part of the requests.'),
      ...heldOutFields,
    }),
  ),
  clients: Type.Array(ClientHit, { description: 'Those limited most, first; none if all requests share one key.' }),
  by_hour: Nullable(
    Type.Array(Count('In this hour.'), {
      description: 'Limited requests by hour of the day, UTC, without suspects; null if too few rows are known.',
    }),
  ),
});

const Suspect = exact({
  key: Text('The client.'),
  requests: Count('Its requests.'),
  share: Measure('Of all requests.'),
  peaks: Type.Array(Count('Largest window of each length.')),
  withins: Type.Array(Count('Cycles of the windows in which it is a suspect.')),
});

const adviceFields = {
  weir: Text('Version of the program.'),
  kind: Type.Literal('recommend'),
  cycle_ms: Count('Length of a cycle in ms.'),
  requests: Count('Requests that were read.'),
  keys: Count('Their keys.'),
  first_at: Nullable(Text('When the first request came, ISO 8601.')),
  last_at: Nullable(Text('When the last request came, ISO 8601.')),
  curves: Type.Array(RuleCurve, { description: 'One for each length of a window.' }),
  recommendations: Type.Array(Recommendation, { description: 'For each window and share, in the order asked for.' }),
  fitted: Type.Array(FittedRule, { description: 'Other rules.' }),
  suspects: Type.Array(Suspect, { description: 'Keys left out of the figures, most requests first.' }),
  networks: Type.Array(SuspectNetwork, {
    description:
      'With far more requests than any other; their addresses need not be suspects, and limits include them.',
  }),
  alike_networks: Type.Array(AlikeNetwork, {
    description: 'Their addresses send so equally many requests that one client, or one program, is behind them.',
  }),
  unit: Type.Optional(Text('What thresholds count, for example tokens. Absent: requests.')),
};
const Advice = exact(adviceFields);

/** What `weir recommend` prints. */
export const RecommendAnswer = titled('weir recommend --json', {
  ...adviceFields,
  log: Text('Name of the log.'),
  partial: flag('True when reading was stopped.'),
  paste: Type.Array(PasteLines, { description: 'The first limit in the words of products.' }),
  read: Read,
  'notes?': Type.Array(Text('What a reader should know.')),
});

export type CurvePoint = Shaped<typeof CurvePoint>;
export type RuleCurve = Shaped<typeof RuleCurve>;
export type ClientHit = Shaped<typeof ClientHit>;
export type Recommendation = Shaped<typeof Recommendation>;
export type Suspect = Shaped<typeof Suspect>;
export type Advice = Shaped<typeof Advice>;

export interface AdviceOptions {
  readonly cycleMs: number;
  readonly shares: readonly number[];
  /** False: all requests share one key, so no clients are listed. */
  readonly isKeyed: boolean;
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
