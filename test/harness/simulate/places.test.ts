// Keys that do not all have a place: the model of a scenario beside the keyed contract of a node, and what a run says of it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { Failure } from '../../../src/core/schema/failure.js';
import { lastInstantOf, startOf } from '../../../src/core/time/cycle.js';
import { RunFold } from '../../../src/harness/outcome/run-fold.js';
import { keyPlaces } from '../../../src/harness/simulate/key-places.js';
import { World } from '../../../src/harness/simulate/world.js';
import { forAll } from '../../draws.js';
import { virtualHost } from '../../node/host/virtual-host.js';
import { run } from './running.js';

const KEYS = ['a', 'b', 'c', 'd', 'e'];
const FIRST = 1_000;

const settings = fc.record({
  threshold: fc.integer({ min: 1, max: 5 }),
  within: fc.integer({ min: 1, max: 9 }),
  maxKeys: fc.integer({ min: 1, max: 4 }),
  idleCycles: fc.constantFrom(0, 4, 1_000),
  overflow: fc.constantFrom('refuse' as const, 'share' as const),
  byContract: fc.boolean(),
});
const requests = fc.array(
  fc.record({ gap: fc.nat(4), key: fc.nat(KEYS.length - 1), n: fc.integer({ min: 1, max: 4 }) }),
  { minLength: 1, maxLength: 60 },
);

it('the places of keys decide, move and say when to come again as the keyed contract of a node', () => {
  forAll([settings, requests], (given, script) => {
    const { threshold, within, maxKeys, idleCycles, overflow, byContract } = given;
    const definition = rateLimiter({ threshold, within });
    const { clock, store, host } = virtualHost(FIRST, undefined, 10);
    const keyed = { maxKeys, idleCycles, overflow };
    const contract = host.createContract('m', definition, undefined, keyed);
    const world = new World({
      ...{ cycleMs: 10, firstCycle: FIRST, names: KEYS, plan: planContract(definition), byContract },
      onRow: (row) => fold.next(row),
    });
    const places = keyPlaces({ max_keys: maxKeys, idle_cycles: idleCycles, overflow }, world);
    const fold = new RunFold(world.run, byContract);

    let cycle = FIRST;
    let toldIn: number | undefined;
    const missed = { requests: 0, limited: 0 };
    for (const { gap, key, n } of script) {
      cycle += gap;
      clock.run({ untilMs: startOf(cycle, 10) });
      world.clock.run({ untilMs: startOf(cycle, 10) });
      const admitted = places.request(key, n);
      let found: number;
      let refused: Failure | undefined;
      try {
        found = contract.decide(n, cycle, 0, KEYS[key]!);
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'too_many_keys') throw error;
        found = 0;
        refused = error;
      }
      expect(admitted).toBe(found);
      const hasPlace = contract.keys!.get(KEYS[key]!) !== undefined;
      const decider = hasPlace ? key : KEYS.length;
      expect(places.decider(key)).toBe(refused === undefined ? world.contracts[decider] : undefined);
      // A node says the same for as long as a cycle lasts.
      if (refused !== undefined && toldIn !== cycle) {
        expect(places.againCycle(cycle)).toBe(refused.againCycle);
        toldIn = cycle;
      }
      if (!hasPlace) missed.requests += n;
      if (!hasPlace) missed.limited += n - admitted;
    }
    const last = cycle + 2 * within;
    clock.run({ untilMs: lastInstantOf(last, 10) });
    world.clock.run({ untilMs: lastInstantOf(last, 10) });
    world.rows.close(last);
    expect(places.figures).toEqual(missed);
    const moves = (key: string | undefined) =>
      store
        .rows('m', { limit: 10_000 })
        .filter((row) => row.kind === 'transition' && row.key === key)
        .map(({ cycle: at, to, inputs }) => ({ cycle: at, to, count: inputs!['S'] }));
    const names = [...KEYS, undefined];
    expect(fold.transitions.map((list) => list.map(({ cycle: at, to, count }) => ({ cycle: at, to, count })))).toEqual(
      names.map((name) => moves(name)),
    );
    // Every request is in the totals, and what is refused without a place is in no window.
    const totals = [...fold.totals.rows()];
    expect(totals.reduce((sum, row) => sum + row.requests, 0)).toBe(script.reduce((sum, { n }) => sum + n, 0));
    if (byContract && overflow === 'refuse') {
      const rows = [...fold.timeline!.rows()].filter((row) => row.contract === '(no place)');
      expect(rows.every(({ count, admitted }) => count === 0 && admitted === 0)).toBe(true);
      expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(missed.requests);
    }
  });
});

const scenario = (overflow: string, more = '') => `
question: Which keys find a place?
duration: 10
drain: 4
limiter: { threshold: 2, within: 4 }
contracts: 3
keyed: { max_keys: 2, overflow: ${overflow} }
arrivals: [{ model: constant, rate: 3 }]
${more}`;

// Three keys with one request a cycle each; the third finds no place as long as the others come.
it.each([
  ['refuse', { requests: 10, limited: 10 }],
  ['share', { requests: 10, limited: 8 }],
])('an outcome says what was requested and limited without a place: overflow %s', async (overflow, without_place) => {
  const { outcome } = await run(scenario(overflow));
  expect(outcome.without_place).toEqual(without_place);
  expect(outcome.requests).toBe(30);
  const none = outcome.by_contract.find(({ id }) => id === '(no place)');
  expect(none).toMatchObject(without_place);
  expect(none?.peak_count).toBe(overflow === 'refuse' ? 0 : 4);
  expect(outcome.by_contract.find(({ id }) => id === '3')).toMatchObject({ requests: 0 });
});

it('an expectation can name what was limited without a place, and every attempt of a client is counted', async () => {
  const { outcome } = await run(
    scenario(
      'refuse',
      `clients: [{ kind: obedient, max_attempts: 2 }]
expect: [without_place.limited > 0]`,
    ),
  );
  expect(outcome.without_place!.limited).toBeGreaterThan(0);
  expect(outcome.verdict).toBe('held');
  expect(outcome.clients![0]!.attempts).toBe(outcome.requests);
});

it('an outcome says nothing of places where each key has one', async () => {
  const { outcome } = await run(scenario('refuse').replace('max_keys: 2', 'max_keys: 3'));
  expect(outcome.without_place).toBeUndefined();
  expect(outcome.contracts).toBe(3);
});
