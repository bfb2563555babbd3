// A contract with keys against a map of single limiters, each as naive as can be; over every store, with restarts in between.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import type { Failure } from '../../../src/core/schema/failure.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';
import type { KeyedImage, Store } from '../../../src/node/store/store.js';
import { NaiveLimiter } from '../../core/limiter/naive-limiter.js';
import { verifyRows } from '../../core/record/verifying.js';
import { forAll } from '../../draws.js';
import { valueOrCode } from '../../failures.js';
import { temporaryFolder } from '../../left-behind.js';
import { decideAt } from './decide-at.js';
import { restarted, virtualHost } from './virtual-host.js';

const START = 2_306_790_000;

/** Names that a careless map or table takes for something else, beside plain ones. */
const NAMES = ['__proto__', 'constructor', '0', '北門 ⛩', 'a', 'a\u0000b', ' '];

const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('count' as const),
        key: fc.constantFrom(...NAMES),
        n: fc.integer({ min: 1, max: 5 }),
        age: fc.constantFrom(0, 0, 0, 0, 1, 3),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('pass' as const), cycles: fc.integer({ min: 1, max: 9 }) }),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  ),
  { minLength: 1, maxLength: 60 },
);

const settings = fc.record({
  threshold: fc.integer({ min: 1, max: 6 }),
  within: fc.integer({ min: 1, max: 12 }),
  maxKeys: fc.integer({ min: 1, max: 5 }),
  idleCycles: fc.constantFrom(0, 4, 1_000),
  overflow: fc.constantFrom('refuse' as const, 'share' as const),
  secret: fc.constantFrom(undefined, 'secret'),
});

type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

/** Every key has a limiter; a new one finds a place while fewer than `maxKeys` have counts or are not as at first. */
class Model {
  cycle = START;
  readonly limiters = new Map<string, NaiveLimiter>();
  readonly shared: NaiveLimiter;

  constructor(readonly settings: Settings) {
    this.shared = this.#made();
  }

  #made(): NaiveLimiter {
    return new NaiveLimiter(this.settings.threshold, this.settings.within, this.cycle);
  }

  advance(cycle: number): void {
    this.cycle = cycle;
    for (const one of [...this.limiters.values(), this.shared]) one.advance(cycle);
  }

  isBusy = (one: NaiveLimiter) => one.count > 0 || one.state === 'limiting';

  decide(key: string, n: number, age: number): number | string {
    const known = this.limiters.get(key);
    const busy = [...this.limiters.values()].filter(this.isBusy).length;
    const hasPlace = (known !== undefined && this.isBusy(known)) || busy < this.settings.maxKeys;
    if (!hasPlace && this.settings.overflow === 'refuse') return 'too_many_keys';
    const one = hasPlace ? (known ?? this.#made()) : this.shared;
    if (hasPlace) this.limiters.set(key, one);
    if (age >= this.settings.within) return 'event_too_old';
    return one.decideAt(n, this.cycle - age).admitted;
  }
}

function check(given: Settings, script: Steps, open: () => Store, reopens: boolean): void {
  const { threshold, within, maxKeys, idleCycles, overflow, secret } = given;
  const keyed: KeyedImage = { maxKeys, idleCycles, overflow, secret };
  let store = open();
  const { clock, ...first } = virtualHost(START, store);
  let { host } = first;
  const { id } = host.createContract('m', rateLimiter({ threshold, within }), undefined, keyed);
  const model = new Model(given);
  const contract = () => host.contract(id);
  for (const step of script) {
    switch (step.do) {
      case 'pass':
        clock.run({ untilMs: clock.now() + step.cycles * 777 });
        model.advance(clock.cycle());
        break;
      case 'restart': {
        host.saveWindows();
        host.commit();
        if (reopens) {
          store.close();
          store = open();
        }
        host = restarted(host, { clock, store }, true);
        break;
      }
      case 'count': {
        const { key, n, age } = step;
        const one = contract();
        const name = one.nameOf(key);
        const cycle = clock.cycle();
        const answer = valueOrCode(() =>
          age === 0 ? one.decide(n, cycle, 0, name) : decideAt(host, one, n, cycle - age, 0, name),
        );
        expect(answer).toBe(model.decide(key, n, age));
        const keys = one.keys!;
        expect(keys.size).toBeLessThanOrEqual(maxKeys);
        const limiting = [...model.limiters.values()].filter(({ state }) => state === 'limiting');
        expect(keys.limited).toBe(limiting.length);
      }
    }
  }
  for (const [key, limiter] of model.limiters) {
    if (!model.isBusy(limiter)) continue;
    const { state, count } = contract().gateOf(contract().nameOf(key), clock.cycle());
    const found = { state: contract().plan.states[state]!.name, count };
    expect(found).toEqual({ state: limiter.state, count: limiter.count });
  }
  const rows = store.rows('m', { limit: 10_000 });
  expect(verifyRows(rows)).toMatchObject({ valid: true });
  const moves = (name: string | undefined) =>
    rows
      .filter((row) => row.kind === 'transition' && row.key === name)
      .map(({ cycle, to, inputs }) => ({ cycle, to, count: inputs!['S'] }));
  for (const [key, { transitions }] of model.limiters) expect(moves(contract().nameOf(key))).toEqual(transitions);
  expect(moves(undefined)).toEqual(model.shared.transitions);
  store.close();
}

it('a key without a place is told the first cycle in which there may be one, and finds one then', () => {
  const arrivals = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 3 }), key: fc.integer({ min: 0, max: 6 }) }), {
    maxLength: 30,
  });
  forAll([arrivals, fc.integer({ min: 1, max: 9 })], 200, (script, within) => {
    const { clock, host } = virtualHost(START);
    const keyed = { maxKeys: 3, idleCycles: 1_000, overflow: 'refuse' } as const;
    const contract = host.createContract('m', rateLimiter({ threshold: 100, within }), undefined, keyed);
    const isRefused = (cycle: number) => {
      clock.run({ untilMs: cycle * 777 + 1 });
      try {
        contract.decide(1, cycle, 0, 'another');
        return false;
      } catch (error) {
        return (error as Failure).againCycle ?? Number.NaN;
      }
    };
    let cycle = START;
    for (const { gap, key } of script) {
      cycle += gap;
      clock.run({ untilMs: cycle * 777 + 1 });
      if (contract.keys!.size < 3 || contract.keys!.get(`${key}`) !== undefined) contract.decide(1, cycle, 0, `${key}`);
    }
    const again = isRefused(cycle);
    if (again === false) return;
    expect(again).toBeGreaterThan(cycle);
    for (let before = cycle + 1; before < again; before += 1) expect(isRefused(before)).toBe(again);
    expect(isRefused(again)).toBe(false);
  });
});

it('a contract with keys is a map of limiters in memory', () => {
  forAll([settings, steps], 150, (given, script) => {
    const store = new MemoryStore();
    check(given, script, () => store, false);
  });
});

it('a contract with keys is a map of limiters on disk, opened again at each restart', () => {
  forAll([settings, steps], { numRuns: 10 }, (given, script) => {
    const dir = temporaryFolder();
    check(given, script, () => openSqliteStore({ dir }), true);
  });
});
