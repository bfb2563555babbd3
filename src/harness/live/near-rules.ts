// Rules near a rule, of which one number is another, and how long a rule remembers. Pure.
//
//   6 in 60 s    counts    5 in 60 s, 7 in 60 s
//                times     6 in 57 s, 6 in 63 s
import { planRule } from '../../core/limiter/planned-rule.js';
import { type RuleDefinition, ratePerMs } from '../../core/limiter/rule/rule-definition.js';
import { CYCLE_MS } from '../../core/time/cycle.js';

/** The same change of each of the rules that may explain a target. */
export interface NearRules {
  readonly rules: readonly RuleDefinition[];
  readonly words: string;
}

const COUNTS = new Set(['limit', 'threshold', 'capacity', 'burst', 'max_queue', 'free', 'tau_ms']);
const FROM_0 = new Set(['burst', 'max_queue', 'tau_ms']);
const WHOLE = new Set(['within', 'rate_1000']);
const TIMES = new Set([...WHOLE, 'window_ms', 'T_ms', 'spacing_ms', 'interval_ms', 'block_ms', 'rate']);
const LENGTHS = new Set(['window_ms', 'within', 'block_ms', 'local_block_ms', 'per_ms']);
const OFF = 0.05;

/** After this time the limiter is as new, whatever it counted: that of a full one, or a whole window or block. */
export function memoryMs(rule: RuleDefinition): number {
  const { spanMs, most } = planRule(rule);
  const lengths = placesIn(rule, LENGTHS).map(({ name, value, beside }) =>
    name === 'within'
      ? value * (beside['cycle_ms'] ?? CYCLE_MS)
      : value * (rule.primitive === 'sliding_counter' ? 2 : 1),
  );
  const rate = ratePerMs(rule);
  return Math.max(spanMs, ...lengths, rate === undefined || !Number.isFinite(most) ? 0 : Math.ceil(most / rate));
}

/** With one count, or one time or rate, a twentieth less or more, and at least one where it is a whole number. */
export function nearRulesOf(rules: readonly RuleDefinition[]): NearRules[] {
  // Rules that may explain the same target have the same numbers, in one order. The last one has its times in ms.
  const each = rules.map((rule) => changesOf(rule));
  return each.at(-1)!.flatMap(({ words }, k) => {
    const own = each.map((changes) => changes[k]?.rule);
    return own.every((rule) => rule !== undefined) ? [{ words, rules: own }] : [];
  });
}

function changesOf(rule: RuleDefinition) {
  return placesIn(rule, new Set([...COUNTS, ...TIMES])).flatMap((place) => {
    const { name, value, beside } = place;
    // A tolerance of GCRA is a burst, in times of its interval.
    const unit = name === 'tau_ms' ? beside['T_ms']! : COUNTS.has(name) || WHOLE.has(name) ? 1 : 0.001;
    const by = unit * Math.max(1, Math.round((OFF * value) / unit));
    const least = FROM_0.has(name) ? 0 : unit;
    return [value - by, value + by]
      .filter((near) => near >= least)
      .map((near) => ({ rule: changed(rule, place.path, near), words: wordsOf(place, near) }));
  });
}

interface Place {
  readonly path: readonly string[];
  readonly name: string;
  readonly value: number;
  readonly beside: Readonly<Record<string, number>>;
}

/** Windows of a rule of several are pairs of limit and length. */
const PAIR = ['limit', 'window_ms'];

function placesIn(within: object, names: ReadonlySet<string>, path: readonly string[] = []): Place[] {
  const named = path.at(-2) === 'limits' ? PAIR.map((name, k) => [name, Object.values(within)[k]]) : undefined;
  const beside = Object.fromEntries(named ?? Object.entries(within)) as Record<string, unknown>;
  return Object.entries(beside).flatMap(([name, value], k): Place[] => {
    const here = [...path, named ? `${k}` : name];
    if (typeof value === 'object' && value !== null) return placesIn(value, names, here);
    if (typeof value !== 'number' || !names.has(name)) return [];
    return [{ path: here, name, value, beside: beside as Place['beside'] }];
  });
}

function changed<T extends object>(within: T, [name, ...rest]: readonly string[], value: number): T {
  const copy = Array.isArray(within) ? [...within] : { ...within };
  const part = (copy as Record<string, object>)[name!]!;
  return Object.assign(copy, { [name!]: rest.length === 0 ? value : changed(part, rest, value) }) as T;
}

function wordsOf({ name, beside }: Place, value: number): string {
  const { limit, window_ms, threshold, within } = { ...beside, [name]: value } as Place['beside'];
  if (threshold !== undefined && within !== undefined) return `${threshold} in ${within} cycles`;
  if (limit !== undefined && window_ms !== undefined && PAIR.includes(name)) return `${limit} in ${seconds(window_ms)}`;
  if (name === 'rate_1000') return `a rate of ${value / 1000}/s`;
  if (name === 'rate') return `a rate of ${short(value)} in ${seconds(beside['per_ms']!)}`;
  if (name === 'tau_ms') return `burst ${short(value / beside['T_ms']!)}`;
  if (name === 'T_ms') return `1 in ${seconds(value)}`;
  return name.endsWith('_ms') ? `${name.slice(0, -3)} ${seconds(value)}` : `${name.replaceAll('_', ' ')} ${value}`;
}

const short = (value: number) => Number(value.toPrecision(4));

export const seconds = (ms: number) => `${short(ms / 1000)} s`;
