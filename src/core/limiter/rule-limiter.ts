// A limiter that follows a rule, as a definition: allowing until the rule refuses, limiting until it would admit again.
//
//   allowing ── refused > 0 / rate_limited ──► limiting ── refused == 0 / rate_restored ──► allowing
import type { ContractDefinition } from './definition.js';
import type { RuleDefinition } from './rule/rule-definition.js';

export function templateIdOf({ primitive }: Pick<RuleDefinition, 'primitive'>): string {
  return primitive.replaceAll('_', '-');
}

export function ruleLimiter(rule: RuleDefinition, name: string = rule.primitive): ContractDefinition {
  return {
    id: templateIdOf(rule),
    category: 'Limiters',
    name: name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
    version: '1.0',
    audit_clock: { on: true, tick_rate: 1 },
    rule,
    states: { allowing: { initial: true, role: 'initial' }, limiting: { role: 'intermediate' } },
    transitions: [
      transitionOn({ aggregate: 'refused' }, ['allowing', 'limiting', 'refused > 0', 'rate_limited']),
      transitionOn({ aggregate: 'refused' }, ['limiting', 'allowing', 'refused == 0', 'rate_restored']),
    ],
    operators: [{ id: 'KO42', kind: 'substrate' }],
  };
}

export type LimiterMove = readonly [from: string, to: string, condition: string, emit?: string];

export function transitionOn(aggregate: object, [from, to, condition, emit]: LimiterMove) {
  return {
    from,
    to,
    operator: 'KO42',
    fires_when: null,
    proof_required: false,
    trigger: { kind: 'on_aggregate', event: 'request', ...aggregate, condition },
    post_actions: emit === undefined ? [] : [{ emit }],
  };
}
