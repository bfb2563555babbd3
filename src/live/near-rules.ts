// Rules near a rule: one of its counts is another. Pure.
//
//   6 in 60 s    by -1: 5 in 60 s    by 1: 7 in 60 s
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

/** Each count changed by `by`. Those that would be too small are left out. */
export function withCountsBy(by: number, rules: readonly RuleDefinition[]): NearRules[] {
  return changed(rules, ({ name, value, params }) => {
    // A tolerance of GCRA is a burst, in times of its interval.
    const each = name === 'tau_ms' ? Number(params['T_ms']) : 1;
    const least = name === 'burst' || name === 'max_queue' || name === 'tau_ms' ? 0 : 1;
    return value + by * each >= least ? [value + by * each] : [];
  });
}

interface Place {
  readonly name: string;
  readonly value: number;
  readonly params: Readonly<Record<string, unknown>>;
  with(value: number): RuleDefinition;
}

function changed(rules: readonly RuleDefinition[], othersOf: (place: Place) => readonly number[]): NearRules[] {
  const each = rules.map((rule) =>
    placesIn(rule).map((place) =>
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

function placesIn(rule: RuleDefinition): Place[] {
  const params = rule.params as Readonly<Record<string, unknown>>;
  const set = (name: string, value: unknown): RuleDefinition => ({ ...rule, params: { ...params, [name]: value } });
  return Object.entries(params).flatMap(([name, value]): Place[] => {
    if (typeof value === 'number')
      return COUNTS.has(name) ? [{ name, value, params, with: (other) => set(name, other) }] : [];
    if (isRule(value)) return within(placesIn(value), (member) => set(name, member));
    if (!Array.isArray(value)) return [];
    return value.flatMap((member, k) => {
      const replaced = (other: unknown) => set(name, value.with(k, other));
      if (isRule(member)) return within(placesIn(member), replaced);
      return Array.isArray(member) ? within(placesIn(windowOf(member)), ({ params }) => replaced(pairOf(params))) : [];
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
  if (limit !== undefined && window_ms !== undefined && name === 'limit') return `${limit} in ${seconds(window_ms)}`;
  return name.endsWith('_ms') ? `${name.slice(0, -3)} ${seconds(value)}` : `${name.replaceAll('_', ' ')} ${value}`;
}

export const seconds = (ms: number) => `${Number((ms / 1000).toPrecision(4))} s`;
