// Rules near a rule: one of its numbers is another. Pure.
//
//   6 in 60 s    counts    5 in 60 s, 7 in 60 s
//                times     6 in 54 s, 6 in 66 s
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';

/** The same change of each of the rules that may explain a target. */
export interface NearRules {
  readonly rules: readonly RuleDefinition[];
  /** Which of the numbers was changed, and its value now. */
  readonly place: number;
  readonly value: number;
  readonly words: string;
}

const COUNTS: ReadonlySet<string> = new Set(['limit', 'threshold', 'capacity', 'burst', 'max_queue', 'free', 'tau_ms']);
const TIMES: ReadonlySet<string> = new Set([
  ...['window_ms', 'within', 'T_ms', 'spacing_ms', 'interval_ms', 'block_ms', 'rate', 'rate_1000'],
]);
const OFF = 0.1;

/** Each count changed by `by`. Those that would be too small are left out. */
export function withCountsBy(by: number, rules: readonly RuleDefinition[]): NearRules[] {
  return changed(rules, COUNTS, ({ name, value, params }) => {
    // A tolerance of GCRA is a burst, in times of its interval.
    const each = name === 'tau_ms' ? Number(params['T_ms']) : 1;
    const least = name === 'burst' || name === 'max_queue' || name === 'tau_ms' ? 0 : 1;
    return value + by * each >= least ? [value + by * each] : [];
  });
}

/** The rules with one count by one more or less, or one time or rate by a tenth. */
export function nearestTo(rules: readonly RuleDefinition[]): NearRules[] {
  const others = changed(rules, TIMES, ({ name, value }) => {
    const isWhole = name === 'within' || name === 'rate_1000';
    const near = [1 - OFF, 1 + OFF].map((share) => Number((value * share).toFixed(3)));
    return isWhole ? [Math.min(value - 1, Math.round(near[0]!)), Math.max(value + 1, Math.round(near[1]!))] : near;
  }).filter(({ value }) => value > 0);
  return [...withCountsBy(-1, rules), ...withCountsBy(1, rules), ...others];
}

interface Place {
  readonly name: string;
  readonly value: number;
  readonly params: Readonly<Record<string, unknown>>;
  with(value: number): RuleDefinition;
}

function changed(
  rules: readonly RuleDefinition[],
  names: ReadonlySet<string>,
  othersOf: (place: Place) => readonly number[],
): NearRules[] {
  const each = rules.map((rule) =>
    placesIn(rule, names).map((place) =>
      othersOf(place).map((value) => ({ rule: place.with(value), value, words: wordsOf(place, value) })),
    ),
  );
  // Rules that may explain the same target have the same numbers, in one order. The last one has its times in ms.
  return each
    .at(-1)!
    .flatMap((others, place) =>
      others.map(({ value, words }, k) => ({ place, value, words, rules: each.map((own) => own[place]![k]!.rule) })),
    );
}

function placesIn(rule: RuleDefinition, names: ReadonlySet<string>): Place[] {
  const params = rule.params as Readonly<Record<string, unknown>>;
  const set = (name: string, value: unknown): RuleDefinition => ({ ...rule, params: { ...params, [name]: value } });
  return Object.entries(params).flatMap(([name, value]): Place[] => {
    if (typeof value === 'number')
      return names.has(name) ? [{ name, value, params, with: (other) => set(name, other) }] : [];
    if (isRule(value)) return within(placesIn(value, names), (member) => set(name, member));
    if (!Array.isArray(value)) return [];
    return value.flatMap((member, k) => {
      const replaced = (other: unknown) => set(name, value.with(k, other));
      if (isRule(member)) return within(placesIn(member, names), replaced);
      return Array.isArray(member)
        ? within(placesIn(windowOf(member), names), ({ params }) => replaced(pairOf(params)))
        : [];
    });
  });
}

const windowOf = ([limit, window_ms]: readonly unknown[]): RuleDefinition => ({
  primitive: 'fixed_window',
  params: { limit, window_ms },
});
const pairOf = (params: unknown) => Object.values(params as object);

function within(places: readonly Place[], into: (member: RuleDefinition) => RuleDefinition): Place[] {
  return places.map((place) => ({ ...place, with: (value) => into(place.with(value)) }));
}

function isRule(value: unknown): value is RuleDefinition {
  return typeof value === 'object' && value !== null && 'primitive' in value;
}

function wordsOf({ name, params }: Place, value: number): string {
  const { limit, window_ms } = { ...params, [name]: value } as { readonly limit?: number; readonly window_ms?: number };
  if (limit !== undefined && window_ms !== undefined && (name === 'limit' || name === 'window_ms'))
    return `${limit} in ${seconds(window_ms)}`;
  if (name === 'rate_1000') return `a rate of ${value / 1000}/s`;
  if (name === 'rate') return `a rate of ${short(value)} in ${seconds(Number(params['per_ms']))}`;
  return name.endsWith('_ms') ? `${name.slice(0, -3)} ${seconds(value)}` : `${name.replaceAll('_', ' ')} ${value}`;
}

const short = (value: number) => Number(value.toPrecision(4));

export const seconds = (ms: number) => `${short(ms / 1000)} s`;
