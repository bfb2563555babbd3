// Parameters without effect are found, and no others: removing one changes no decision.
import { expect, it } from 'vitest';
import { definitionOf, products } from '../../../../src/core/limiter/products/products.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { faultsWithoutEffect } from '../../../../src/core/limiter/rule/without-effect.js';
import { ruleLimiter } from '../../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../../src/core/limiter/validate.js';
import { parseScenario } from '../../../../src/harness/scenario/load-scenario.js';
import { forAll } from '../../../draws.js';
import { type Asked, askedUpTo, rules } from './every-rule.js';

const window = { limit: 2, window_ms: 50 };
const bucket = { rate: 3, per_ms: 100, capacity: 3 };
const nodes = { nodes: 3, threshold: 4, within: 5, cycle_ms: 20 };
const parted = { nodes: 1, from_ms: 50, to_ms: 250 };

const requests = askedUpTo(60);

function decisions(primitive: string, params: object, asked: readonly Asked[]) {
  const rule = ruleOf({ primitive, params, clock_resolution_ms: 1 });
  let tMs = 1_699_999_200_000;
  const state = rule.fresh(tMs);
  return asked.map(({ gapMs, n, holdMs }) => {
    tMs += gapMs;
    return [rule.admit(state, tMs, n, holdMs), rule.nextAdmission(state, tMs, 1) - tMs, rule.remaining(state, tMs)];
  });
}

// biome-ignore format: one case a line
it.each<readonly [primitive: RuleDefinition['primitive'], params: object, faults: string]>([
  ['fixed_window', { ...window, block_ms: 90 }, 'block_ms without count_refused'],
  ['fixed_window', { ...window, refused_backoff: 2 }, 'refused_backoff without count_refused'],
  ['fixed_window', { ...window, refused_restart_window: true }, 'refused_restart_window without count_refused'],
  ['fixed_window', { ...window, refused_restart_window: true, count_refused: false }, 'refused_restart_window without count_refused'],
  ['fixed_window', { ...window, count_refused: true, refused_backoff: 2, block_ms: 90 }, 'block_ms beside refused_backoff'],
  ['fixed_window', { ...window, count_refused: true, refused_restart_window: true, block_ms: 90 }, 'block_ms beside refused_restart_window'],
  ['fixed_window', { ...window, every_hit_restarts_window: true, align: 'epoch' }, 'align beside every_hit_restarts_window'],
  ['fixed_window', { ...window, refused_rearm: true }, 'refused_rearm without local_block_ms'],
  ['fixed_window', { ...window, phase_ms: 7 }, 'phase_ms unless align is epoch or construction'],
  ['sliding_counter', { ...window, phase_ms: 7 }, 'phase_ms unless align is epoch'],
  ['sliding_counter', { ...window, count_refused: true, cost_overshoot: true }, 'cost_overshoot beside count_refused'],
  ['sliding_counter', { ...window, block_ms: 90, block_until_window_end: true }, 'block_ms beside block_until_window_end'],
  ['sliding_counter', { ...window, even_ms: true, floor_prev: true }, 'floor_prev beside even_ms'],
  ['sliding_counter', { ...window, floor_prev: true, floor_total: true }, 'floor_total beside floor_prev'],
  ['token_bucket', { ...bucket, phase_ms: 7 }, 'phase_ms unless refill is interval'],
  ['token_bucket', { ...bucket, refill: 'interval_trunc', align: 'epoch' }, 'align unless refill is interval'],
  ['token_bucket', { ...bucket, block_ms: 90 }, 'block_ms unless refill is interval_trunc'],
  ['token_bucket', { ...bucket, allow_over_capacity: true }, 'allow_over_capacity without max_wait_ms'],
  ['token_bucket', { ...bucket, refill: 'interval', forget_when_full: true, state_ttl_from_last_admit_ms: 60 }, 'state_ttl_from_last_admit_ms beside forget_when_full'],
  ['token_bucket', { ...bucket, refill: 'interval_trunc', max_wait_ms: 60 }, 'max_wait_ms beside refill interval_trunc'],
  ['token_bucket', { ...bucket, refill: 'interval', exact_float: true }, 'exact_float beside refill interval'],
  ['token_bucket', { ...bucket, refill: 'interval', align: 'first', phase_ms: 7 }, 'phase_ms beside align first'],
  ['leaky_queue', { spacing_ms: 20, max_wait_ms: 60, registered: 2 }, 'registered without max_queue'],
  ['guava_bursty', { interval_ms: 20, max_stored: 5, queue: true, max_wait_ms: 60 }, 'max_wait_ms beside queue'],
  ['guava_warmup', { interval_ms: 20, warmup_ms: 200, queue: true, max_wait_ms: 60 }, 'max_wait_ms beside queue'],
  ['adaptive', { algorithm: 'gradient2', timeout_ms: 30 }, 'timeout_ms unless algorithm is aimd or vegas'],
  ['many_nodes', { ...nodes, design: 'exact', sync_ms: 30 }, 'sync_ms unless design is batched'],
  ['many_nodes', { ...nodes, design: 'local_share', lag_ms: 30 }, 'lag_ms unless design is exact or batched'],
  ['many_nodes', { ...nodes, design: 'local_share', partition: parted }, 'partition unless design is exact or batched'],
  ['many_nodes', { ...nodes, design: 'batched', failover: { at_ms: 120, replica_lag_ms: 70 } }, 'failover unless design is exact'],
  ['and_all_charged', { of: [{ primitive: 'fixed_window', params: window }], align: 'epoch' }, 'align without limits'],
])(
  'a parameter without effect is found, and no decision needs it: %s %j: %s',
  (primitive, params, fault) => {
    const [name = '', ...why] = fault.split(' ');
    const path = `/params/${name}`;
    expect(faultsWithoutEffect({ primitive, params }, '')).toEqual([
      { path, message: `has no effect ${why.join(' ')}` },
    ]);
    const { [name]: _, ...others } = params as Readonly<Record<string, unknown>>;
    forAll([requests], (asked) => {
      expect(decisions(primitive, params, asked)).toEqual(decisions(primitive, others, asked));
    });
  },
);

it.each<[RuleDefinition['primitive'], object]>([
  ['fixed_window', { ...window, align: 'first', count_refused: true, every_hit_restarts_window: true }],
  ['fixed_window', { ...window, align: 'first', phase_ms: 0, count_refused: false, block_ms: 0 }],
  ['token_bucket', { ...bucket, align: 'construction', phase_ms: 0, exact_float: false }],
])('a parameter that says what its rule does anyway is taken: %s %j', (primitive, params) => {
  expect(faultsWithoutEffect({ primitive, params }, '')).toEqual([]);
});

it.each<[object, string]>([
  [{ cost_overshoot: true }, 'cost_overshoot is of no limiter without floor_prev'],
  [
    { floor_total: true, double_seconds: true },
    'double_seconds is of no limiter without floor_total and state_ttl_whole_seconds',
  ],
  [
    { floor_total: true, state_ttl_whole_seconds: true },
    'state_ttl_whole_seconds is of no limiter without floor_total and double_seconds',
  ],
])('a sliding counter that there is not is refused: %j', (flags, fault) => {
  const rule = { primitive: 'sliding_counter', params: { ...window, ...flags } } as RuleDefinition;
  const [name, ...message] = fault.split(' ');
  expect(faultsWithoutEffect(rule, '')).toEqual([{ path: `/params/${name}`, message: message.join(' ') }]);
  expect(() => definitionOf(rule, 777)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
});

it('what has no effect is found in members too, and in a time in flight that nothing limits', () => {
  const member = { primitive: 'fixed_window', params: { ...window, block_ms: 90 } };
  const b = { primitive: 'and', params: { of: [member] } };
  const faults = faultsWithoutEffect({ primitive: 'or', params: { a: member, b }, hold_ms: 50 }, '/rule');
  const paths = ['/rule/hold_ms', '/rule/params/a/params/block_ms', '/rule/params/b/params/of/0/params/block_ms'];
  expect(faults.map(({ path }) => path)).toEqual(paths);
});

it('every parameter of the rules in every suite has an effect', () => {
  expect(Object.values(rules).flatMap((rule) => faultsWithoutEffect(rule, ''))).toEqual([]);
});

const fastify = { like: 'fastify', max: 10, continueExceeding: true, exponentialBackoff: true, store: 'redis' };

it.each([...Object.entries(products).map(([like, { example }]) => ({ like, ...example })), fastify])(
  '%j gives its rule no parameter without effect',
  (limiter) => {
    expect(faultsWithoutEffect(definitionOf(limiter, 777), '')).toEqual([]);
  },
);

it('a scenario and a definition say what has no effect', () => {
  const rule: RuleDefinition = { primitive: 'fixed_window', params: { ...window, block_ms: 90 } };
  const faults = (at: string) => [{ path: `${at}/params/block_ms`, message: 'has no effect without count_refused' }];
  const scenario = {
    question: 'Blocked?',
    duration: 10,
    limiter: rule,
    arrivals: [{ model: 'constant' as const, rate: 1 }],
  };
  expect(() => parseScenario(scenario)).toThrow(expect.objectContaining({ faults: faults('/limiter') }));
  expect(() => definitionOf(rule, 777)).toThrow(expect.objectContaining({ faults: faults('') }));
  expect(() => planContract(ruleLimiter(rule))).toThrow(expect.objectContaining({ faults: faults('/rule') }));
});
