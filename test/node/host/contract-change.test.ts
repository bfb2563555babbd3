// Contracts that change in place, against models: a limiter whose numbers change at an instant, and a contract with the candidate's rule alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContractDefinition } from '../../../src/core/limiter/definition.js';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { Contract } from '../../../src/node/host/contract.js';
import type { ContractChange } from '../../../src/node/host/contract-change.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import type { KeyedImage } from '../../../src/node/store/store.js';
import { NaiveLimiter } from '../../core/limiter/naive-limiter.js';
import { rules } from '../../core/limiter/rule/every-rule.js';
import { verifyRows } from '../../core/record/verifying.js';
import { forAll, tries } from '../../draws.js';
import { codeOf } from '../../failures.js';
import { restarted } from './virtual-host.js';

const CYCLE_MS = 40;
const START = 2_306_790_000;
const KEYED: KeyedImage = { maxKeys: 10, idleCycles: 0, overflow: 'refuse' };

const planOf = (definition: ContractDefinition) => planContract(definition);
const windowPlan = (threshold: number, within: number) => planOf(rateLimiter({ threshold, within }));
const tokenBucket = (capacity: number, rate = 1) =>
  ruleLimiter({ primitive: 'token_bucket', params: { rate, per_ms: CYCLE_MS, capacity } });

const gcra = (tau_ms: number) => ruleLimiter({ primitive: 'gcra', params: { T_ms: 1_000, tau_ms } });
const slidingLog = (limit: number) => ruleLimiter({ primitive: 'sliding_log', params: { limit, window_ms: 9_000 } });

/** A machine with one contract, on a clock of its own. */
class Bench {
  readonly clock = new VirtualClock(START * CYCLE_MS, CYCLE_MS);
  readonly store = new MemoryStore();
  host = new Host({ clock: this.clock, store: this.store });
  readonly id: string;

  constructor(definition: ContractDefinition, keyed?: KeyedImage) {
    this.host.createMachine({ slug: 'm' });
    this.id = this.host.createContract('m', definition, undefined, keyed).id;
  }

  get contract(): Contract {
    return this.host.contract(this.id);
  }

  /** A node stores what was counted once a cycle. */
  wait(cycles: number): void {
    if (cycles > 0) this.host.saveWindows();
    this.clock.run({ untilMs: (this.clock.cycle() + cycles) * CYCLE_MS });
  }

  decide(n: number, key?: string): number {
    return this.contract.decide(n, this.clock.cycle(), 0, key);
  }

  change(change: ContractChange) {
    const steps = this.host.changeContract(this.contract, change);
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  }

  restart(isKilled = false): void {
    this.host = restarted(this.host, this, isKilled);
  }

  state(key?: string): string {
    const { state } = this.contract.gateOf(key, this.clock.cycle());
    return this.contract.plan.states[state]!.name;
  }

  count(key?: string): number {
    return this.contract.gateOf(key, this.clock.cycle()).count;
  }

  rows() {
    const rows = this.store.rows('m', { limit: 10_000 });
    expect(verifyRows(rows)).toMatchObject({ valid: true });
    return rows;
  }
}

it('a change leaves a row with the values before and after, who asked, and its id', () => {
  const bench = new Bench(rateLimiter({ threshold: 5, within: 10 }));
  const { forgotten } = bench.change({ plan: windowPlan(7, 12), name: 'login', by: 'wk_1' });
  expect(bench.rows().at(-1)).toMatchObject({
    kind: 'contract_changed',
    ...{ contract_id: bench.id, from: 'allowing', to: 'allowing', states: ['allowing', 'limiting'], by: 'wk_1' },
    changes: [
      { what: 'name', to: 'login' },
      { what: 'threshold', from: 5, to: 7 },
      { what: 'within', from: 10, to: 12 },
    ],
    forgotten: 'Requests that are older than 10 cycles had left the window, and are not counted by the longer one.',
  });
  expect(forgotten).toBeDefined();
});

it('a change that changes nothing leaves no row', () => {
  const bench = new Bench(rateLimiter({ threshold: 5, within: 10 }));
  expect(bench.change({ plan: windowPlan(5, 10) }).changes).toEqual([]);
  expect(bench.rows()).toHaveLength(2);
});

it('a change may take away the state in which a key is', () => {
  const bench = new Bench(rateLimiter({ threshold: 10, within: 10, near_limit: 0.5 }), KEYED);
  bench.decide(6, 'ann');
  expect(bench.state('ann')).toBe('nearing');
  bench.change({ plan: windowPlan(10, 10) });
  expect([bench.state('ann'), bench.count('ann')]).toEqual(['allowing', 6]);
  expect(bench.rows().at(-1)?.changes).toEqual([{ what: 'near_limit', from: 0.5 }]);
});

it('a window that changes keeps its figures', () => {
  const bench = new Bench(rateLimiter({ threshold: 2, within: 10 }), KEYED);
  bench.decide(4, 'ann');
  bench.change({ plan: windowPlan(9, 10) });
  bench.decide(1, 'ann');
  const { requests, limited } = bench.contract.tally;
  expect([requests, limited]).toEqual([5, 2]);
});

it('a contract with another rule begins anew, and says so in its row', () => {
  const bench = new Bench(rateLimiter({ threshold: 2, within: 100 }), KEYED);
  bench.decide(5, 'ann');
  const { forgotten, resets } = bench.change({ plan: planOf(tokenBucket(3)) });
  expect([resets, forgotten]).toEqual([true, 'token_bucket does not count as a window does: all counts begin anew.']);
  expect([bench.decide(4, 'ann'), bench.state('ann')]).toEqual([3, 'limiting']);
  const last = [
    { resets: true, to: 'allowing' },
    { key: 'ann', from: 'allowing' },
  ];
  expect(bench.rows().slice(3)).toMatchObject(last);
});

it.each([false, true])('a contract of a new rule has no key of the old after a restart; killed: %s', (isKilled) => {
  const bench = new Bench(rateLimiter({ threshold: 2, within: 100 }), KEYED);
  bench.decide(5, 'ann');
  bench.host.saveWindows();
  bench.change({ plan: planOf(tokenBucket(3)) });
  bench.restart(isKilled);
  expect([bench.state('ann'), bench.decide(4, 'ann')]).toEqual(['allowing', 3]);
  bench.rows();
});

it('a contract counts the same events after a change, or is not changed', () => {
  const bench = new Bench(rateLimiter({ threshold: 2, within: 10 }));
  const other = rateLimiter({ threshold: 2, within: 10 });
  const text = JSON.stringify(other).replaceAll('"request"', '"login"');
  expect(codeOf(() => bench.change({ plan: planOf(JSON.parse(text)) }))).not.toBe('done');
  expect(bench.rows()).toHaveLength(2);
});

it.each([
  ['a larger bucket', tokenBucket(5), tokenBucket(9), [0, 0]],
  ['a smaller bucket', tokenBucket(9), tokenBucket(5), [4, 4]],
  ['gcra', gcra(4_000), gcra(8_000), [0, 4]],
  ['sliding_log', slidingLog(5), slidingLog(9), [0, 4]],
])('a contract keeps the state of a rule with other numbers: %s', (_, before, after, [left, then]) => {
  const bench = new Bench(before, KEYED);
  bench.decide(5, 'ann');
  const now = bench.contract.gateOf('ann', bench.clock.cycle()).remaining;
  const { resets } = bench.change({ plan: planOf(after) });
  const later = bench.contract.gateOf('ann', bench.clock.cycle()).remaining;
  expect([resets, now, later]).toEqual([false, left, then]);
});

it('a name outlives a restart', () => {
  const bench = new Bench(rateLimiter());
  bench.change({ name: 'login' });
  bench.restart(true);
  expect(bench.host.machine('m').named.get('login')?.id).toBe(bench.id);
});

const key = fc.constantFrom('a', 'b', 'c');
const numbers = fc.record({ threshold: fc.integer({ min: 1, max: 6 }), within: fc.integer({ min: 1, max: 8 }) });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ key, n: fc.integer({ min: 1, max: 4 }), gap: fc.nat(3) }) },
  { weight: 2, arbitrary: numbers },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
);

/** What the shorter window no longer counted stays away from a longer one after a restart. */
const lengthened = [
  { key: 'a' as const, n: 1, gap: 0 },
  { key: 'a' as const, n: 1, gap: 1 },
  { threshold: 2, within: 4 },
  { key: 'c' as const, n: 1, gap: 3 },
  { threshold: 1, within: 5 },
  'restart' as const,
  { key: 'a' as const, n: 1, gap: 0 },
];

describe.each([
  ['without keys', undefined],
  ['with keys', KEYED],
] as const)('a contract %s whose numbers change', (_, keyed) => {
  it('a contract decides as a model whose numbers change at that instant', () => {
    forAll(
      [numbers, fc.array(step, { minLength: 1, maxLength: 40 })],
      { numRuns: tries(60), examples: [[{ threshold: 1, within: 2 }, lengthened]] },
      (first, steps) => {
        const bench = new Bench(rateLimiter(first), keyed);
        const models = new Map(
          ['a', 'b', 'c'].map((one) => [one, new NaiveLimiter(first.threshold, first.within, START)]),
        );
        for (const does of steps) {
          const cycle = bench.clock.cycle();
          if (does === 'restart') bench.restart();
          else if ('threshold' in does) {
            for (const model of models.values()) {
              model.advance(cycle);
              model.change(does.threshold, does.within);
            }
            bench.change({ plan: windowPlan(does.threshold, does.within) });
          } else {
            bench.wait(does.gap);
            const model = models.get(keyed === undefined ? 'a' : does.key)!;
            const name = keyed === undefined ? undefined : does.key;
            expect(bench.decide(does.n, name)).toBe(model.decide(does.n, bench.clock.cycle()).admitted);
            expect([bench.state(name), bench.count(name)]).toEqual([model.state, model.count]);
          }
        }
        bench.rows();
      },
    );
  });
});

const asked = fc.array(fc.record({ key, n: fc.integer({ min: 1, max: 3 }), gap: fc.nat(3) }), { maxLength: 40 });
const definitions = [
  rateLimiter({ threshold: 3, within: 4 }),
  ...Object.values(rules).map((rule) => ruleLimiter(rule)),
];

it.each(definitions.map((one) => [JSON.stringify(one.rule ?? 'window'), one] as const))(
  'a candidate decides as a contract with its rule alone, and changes no decision: %s',
  (_, definition) => {
    forAll([asked, fc.boolean()], 20, (steps, hasKeys) => {
      const keyed = hasKeys ? KEYED : undefined;
      const limiter = rateLimiter({ threshold: 2, within: 3 });
      const benches = [limiter, limiter, definition].map((one) => new Bench(one, keyed));
      const [both, one] = benches as [Bench, Bench, Bench];
      both.change({ candidate: planOf(definition) });
      const found = { both: 0, only_limiter: 0, only_candidate: 0 };
      for (const { key: name, n, gap } of steps) {
        for (const bench of benches) bench.wait(gap);
        const decided = benches.map((bench) => bench.decide(n, hasKeys ? name : undefined));
        expect(decided[0]).toBe(decided[1]);
        const [limited, would] = [n - decided[1]!, n - decided[2]!];
        found.both += Math.min(limited, would);
        found.only_limiter += Math.max(0, limited - would);
        found.only_candidate += Math.max(0, would - limited);
      }
      expect(both.contract.comparison).toMatchObject({ compared: found });
      const isOfContract = ({ kind }: { kind: string }) => kind.startsWith('transition');
      expect(both.rows().filter(isOfContract).length).toBe(one.rows().filter(isOfContract).length);
    });
  },
);

it('a candidate says whom it and the limiter would treat differently', () => {
  const bench = new Bench(rateLimiter({ threshold: 5, within: 10 }), KEYED);
  bench.change({ candidate: windowPlan(2, 10) });
  bench.decide(4, 'ann');
  bench.decide(2, 'bob');
  bench.decide(7, 'cy');
  expect(bench.contract.comparison).toMatchObject({
    requests: 13,
    compared: { both: 2, only_limiter: 0, only_candidate: 5 },
    byKey: new Map([
      ['ann', { both: 0, only_limiter: 0, only_candidate: 2 }],
      ['cy', { both: 2, only_limiter: 0, only_candidate: 3 }],
    ]),
  });
});

it('a candidate goes on after a restart from the counts of the limiter', () => {
  const bench = new Bench(rateLimiter({ threshold: 9, within: 10 }), KEYED);
  bench.change({ candidate: windowPlan(4, 10) });
  bench.decide(4, 'ann');
  bench.restart();
  bench.decide(1, 'ann');
  expect(bench.contract.comparison).toMatchObject({ compared: { only_candidate: 1 } });
});

it('a candidate becomes the limiter with its own counts, by one row, and the limiter the candidate', () => {
  const bench = new Bench(rateLimiter({ threshold: 5, within: 10 }), KEYED);
  bench.change({ candidate: planOf(tokenBucket(3)) });
  bench.decide(4, 'ann');
  expect(bench.change({ promotes: true, by: 'wk_1' }).resets).toBe(true);
  expect(bench.decide(1, 'ann')).toBe(0);
  bench.restart(true);
  expect(bench.decide(1, 'ann')).toBe(0);
  expect(bench.contract.comparison?.plan.thresholds).toEqual([5]);
  const changed = bench.rows().filter(({ kind }) => kind === 'contract_changed');
  const what = changed.map(({ changes }) => changes?.map((one) => one.what));
  expect(what).toEqual([['candidate'], ['rule', 'candidate', 'threshold', 'within']]);
  bench.change({ candidate: null });
  expect([bench.contract.comparison, bench.rows().at(-1)?.changes?.[0]?.what]).toEqual([undefined, 'candidate']);
});

it('a candidate that has decided nothing for a while moves no key in a cycle before it became the limiter', () => {
  const bench = new Bench(rateLimiter({ threshold: 9, within: 100 }), KEYED);
  bench.change({ candidate: windowPlan(1, 100) });
  bench.decide(3, 'bob');
  bench.wait(5);
  bench.change({ promotes: true });
  expect(bench.decide(1, 'bob')).toBe(0);
  expect(bench.rows().at(-1)).toMatchObject({ kind: 'transition', key: 'bob', cycle: START + 5 });
});

it('a contract never stops, and its record holds, whatever of it and its candidate changes', () => {
  const limiters = [windowPlan(1, 4), windowPlan(3, 9), planOf(tokenBucket(2)), planOf(tokenBucket(4, 2))];
  const limiter = fc.constantFrom(...limiters);
  const change: fc.Arbitrary<ContractChange> = fc.oneof(
    limiter.map((plan) => ({ plan })),
    limiter.map((plan) => ({ candidate: plan })),
    fc.constantFrom<ContractChange>({ promotes: true }, { candidate: null }, { name: 'login' }),
  );
  const does = fc.oneof(
    { weight: 4, arbitrary: fc.record({ key, n: fc.integer({ min: 1, max: 5 }), gap: fc.nat(6) }) },
    { weight: 2, arbitrary: change },
    { weight: 2, arbitrary: fc.constantFrom('restart' as const, 'kill' as const, 'wait' as const) },
  );
  forAll([fc.array(does, { maxLength: 40 })], 60, (steps) => {
    const bench = new Bench(rateLimiter({ threshold: 2, within: 6 }), KEYED);
    for (const one of steps) {
      if (one === 'wait') bench.wait(2);
      else if (typeof one === 'string') bench.restart(one === 'kill');
      else if ('gap' in one) {
        bench.wait(one.gap);
        bench.decide(one.n, one.key);
      } else if (!('promotes' in one) || bench.contract.comparison !== undefined) bench.change(one);
    }
    bench.wait(20);
    expect(bench.contract.failure).toBeUndefined();
    bench.rows();
  });
});

it('a contract without a candidate has none to promote', () => {
  const bench = new Bench(rateLimiter());
  expect(codeOf(() => bench.change({ promotes: true }))).toBe('no_candidate');
});
