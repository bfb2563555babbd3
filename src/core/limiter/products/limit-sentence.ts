// A limiter in one sentence, as feedback: how it was understood, its first burst, and its long-run rate.
import { parseTime } from '../../schema/quantity.js';
import { planRule } from '../planned-rule.js';
import { type RuleDefinition, ratePerMs } from '../rule/rule-definition.js';
import { limitText } from './limit-text.js';
import { followsRule } from './limiter-spec.js';
import { definitionOf } from './products.js';

type Limiter = Readonly<Record<string, unknown>>;

export function limitSentence(limiter: Limiter, cycleMs: number): string {
  if ('definition' in limiter) {
    const { name, id, states } = limiter['definition'] as { name?: string; id?: string; states: object };
    return `${name ?? id ?? 'definition'}: a definition with the states ${Object.keys(states).join(', ')}`;
  }
  if (!followsRule(limiter)) {
    const { threshold = 100, within = 60 } = limiter as {
      readonly threshold?: number;
      readonly within?: number | string;
    };
    const cycles = parseTime(within, cycleMs, '/within', 1);
    const span = `${(cycles * cycleMs) / 1000} s, ${cycles} cycles of ${cycleMs} ms`;
    return `${limitText(limiter)}: ${threshold} requests in a rolling window of ${span}; refused requests count`;
  }
  const rule = definitionOf(limiter, cycleMs);
  const { most } = planRule(rule);
  const perMs = ratePerMs(rule);
  const burst = Number.isFinite(most) ? `a new client gets ${most} at once` : 'refuses nothing';
  const harm = harmOf(rule);
  const rate = perMs === undefined ? '' : `, ${harm === '' ? '' : 'up to '}${rateText(perMs)} in the long run`;
  return `${limitText(limiter)}: ${burst}${rate}${harm}`;
}

/** What a refused request costs its client. */
function harmOf({ params }: RuleDefinition): string {
  const { count_refused: isCounted, block_ms: blockMs = 0 } = params as Readonly<Record<string, unknown>>;
  return isCounted === true ? '; refused requests count' : blockMs === 0 ? '' : '; a refusal blocks';
}

function rateText(perMs: number): string {
  const [ms, unit] = (
    [
      [1000, 's'],
      [60_000, 'min'],
      [3_600_000, 'h'],
    ] as const
  ).find(([one]) => perMs * one >= 1) ?? [86_400_000, 'd'];
  return `${Number((perMs * ms).toPrecision(4))}/${unit}`;
}
