// How long a rule remembers. Pure.
import { planRule } from '../limiter/planned-rule.js';
import { type RuleDefinition, ratePerMs } from '../limiter/rule/rule-definition.js';
import { CYCLE_MS } from '../time/cycle.js';

const LENGTHS = new Set(['window_ms', 'within', 'block_ms', 'local_block_ms', 'per_ms']);

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

export const seconds = (ms: number) => `${Number((ms / 1000).toPrecision(4))} s`;
