import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { drawPoisson } from '../../../src/core/math/random-law.js';
import { standardOperators } from '../../../src/core/operator/registry.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { Rank } from '../../../src/core/time/rank.js';
import { whyNotAt } from '../../../src/node/counting/listeners.js';
import { defined, move } from '../../core/limiter/defined.js';
import { verifyRows } from '../../core/record/verifying.js';
import { codeOf, failureOf } from '../../failures.js';
import { SlowStore } from '../slow-store.js';
import { decideAt } from './decide-at.js';
import { CYCLE_MS, virtualHost } from './virtual-host.js';

const kindsOf = (seen: readonly AuditRow[]) =>
  seen.flatMap(({ seq, kind, to, cycle, emitted, inputs }) => [
    `${seq} ${kind} ${to ?? ''}@${cycle}`,
    ...emitted.map((event) => `${seq} ${event}@${cycle} count ${inputs?.S}`),
  ]);

it('a burst trips the gate; the agenda restores it in the cycle in which the burst leaves the window', () => {
  const start = 2_306_790_000;
  const { clock, host, store, seen } = virtualHost(start);
  const contract = host.createContract('m', rateLimiter({ threshold: 5, within: 10 }), 'rate-limiter');
  clock.agenda.at(clock.now() + 3 * CYCLE_MS, Rank.arrival, () => contract.decide(8, clock.cycle()));
  clock.run();
  expect(kindsOf(seen)).toEqual([
    `1 machine_created @${start}`,
    `2 contract_created allowing@${start}`,
    `3 transition limiting@${start + 3}`,
    `3 rate_limited@${start + 3} count 6`,
    `4 transition allowing@${start + 13}`,
    `4 rate_restored@${start + 13} count 0`,
  ]);
  expect([contract.tally.requests, contract.tally.limited, contract.tally.restores]).toEqual([8, 3, 1]);
  const rows = store.rows('m');
  expect(verifyRows(rows)).toMatchObject({ valid: true, rows: 4 });
  expect(rows[2]).toMatchObject({
    from: 'allowing',
    operator: 'KO42',
    inputs: { S: 6, cycle: start + 3 },
    cause: 'trigger',
    emitted: ['rate_limited'],
    at: new Date((start + 3) * CYCLE_MS).toISOString(),
  });
  expect(rows[2]!.master_equation_block).toContain('R(t)');
  expect(rows[2]!.proof_digest).toBeUndefined();
});

it('a seed gives the same record in every process, and another seed another one', () => {
  const headOf = (seed: number) => {
    const { clock, host, machine } = virtualHost();
    const { id } = host.createContract('m', rateLimiter({ threshold: 20, within: 10 }));
    const stream = new RandomStream(seed, 'requests');
    const send = (cycle: number) => host.contract(id).decide(drawPoisson(2, stream), cycle);
    for (let k = 1; k < 400; k += 1) clock.agenda.at(k * CYCLE_MS, Rank.arrival, () => send(k));
    clock.run();
    return machine.head;
  };
  const hash = '5358a538111278004863c902251cfc5587dfc493370a861aaa07818a611f8c09';
  expect(headOf(7)).toEqual({ seq: 138, hash });
  expect(headOf(8).hash).not.toBe(hash);
});

it('a refused request that brings the next admission forward wakes the contract then, not when it was due before', () => {
  const { host, seen, runTo } = virtualHost();
  const of = [
    { primitive: 'fixed_window', params: { limit: 3, window_ms: 2 * CYCLE_MS } },
    {
      primitive: 'fixed_window',
      params: { limit: 4, window_ms: 100 * CYCLE_MS, count_refused: true, block_ms: 777 },
    },
  ];
  const { id } = host.createContract('m', ruleLimiter({ primitive: 'and_all_charged', params: { of } }));
  // The fourth fills the second window, the fifth begins its block.
  expect([host.contract(id).decide(4, 0), host.contract(id).decide(1, 0)]).toEqual([3, 0]);
  runTo(5);
  const moves = kindsOf(seen).filter((line) => line.includes('transition'));
  expect(moves).toEqual(['3 transition limiting@0', '4 transition allowing@2']);
});

it('idle contracts are never woken; a limiting one wakes when its window can let it go', () => {
  const { clock, host } = virtualHost();
  const [idle, busy] = [0, 1].map(() => host.createContract('m', rateLimiter({ threshold: 2, within: 10 })));
  expect(clock.agenda.size).toBe(0);
  host.contract(busy!.id).decide(5, 0);
  expect(clock.agenda.size).toBe(1);
  expect(clock.agenda.nextDue()).toBe(10 * CYCLE_MS);
  clock.run();
  expect([idle!.state, busy!.state, clock.cycle()]).toEqual(['allowing', 'allowing', 10]);
});

it('contracts of equal definitions share one plan, also after a restart', () => {
  const { host, store } = virtualHost();
  const made = [5, 5, 6].map((threshold) => host.createContract('m', rateLimiter({ threshold })));
  const revived = [...virtualHost(0, store).host.contracts.values()];
  for (const contracts of [made, revived])
    expect(contracts.map(({ plan }) => plan === contracts[0]!.plan)).toEqual([true, true, false]);
});

it('a definition that fires on silence is first evaluated in the cycle after its creation', () => {
  const { clock, host, seen } = virtualHost(7);
  const says = (emit: string) => ({ event: 'beat', within: 3, post_actions: [{ emit }] });
  const beat = [
    move('alive', 'silent', 'count < 1', says('lost')),
    move('silent', 'alive', 'count >= 1', says('found')),
  ];
  const contract = host.createContract('m', defined('heartbeat', { alive: { initial: true }, silent: {} }, beat));
  expect(contract.image.firstFireCycle).toBe(8);
  clock.agenda.at(10 * CYCLE_MS, Rank.arrival, () => contract.decide(1, 10, contract.listensTo('beat')));
  clock.run();
  expect(kindsOf(seen).filter((line) => line.includes('lost') || line.includes('found'))).toEqual([
    '3 lost@8 count 0',
    '4 found@10 count 1',
    '5 lost@13 count 0',
  ]);
});

it.each([
  [20, 20, 'admitted 2, 0 left at 30'],
  [15, 20, 'admitted 2, 0 left at 25'],
  [11, 20, 'admitted 2, 0 left at 21'],
  [10, 20, 'event_too_old: The window of contract ID reaches back to cycle 11.'],
  [21, 20, 'event_in_future: It is now cycle 20.'],
])('an event of cycle %i that comes in cycle %i has the outcome: %s', (happened, now, expected) => {
  const { host, runTo } = virtualHost();
  const contract = host.createContract('m', rateLimiter({ threshold: 5, within: 10 }));
  runTo(now);
  const refused = whyNotAt([{ contract, kind: 0 }], happened, now);
  if (refused !== undefined) {
    const { code, why = '' } = refused;
    if (code === 'event_too_old') expect(failureOf(() => contract.decideLate(2, happened, now))).toEqual(refused);
    return expect(`${code}: ${why.replace(contract.id, 'ID')}`).toBe(expected);
  }
  const admitted = decideAt(host, contract, 2, happened);
  contract.advance(happened + 10);
  expect(`admitted ${admitted}, ${contract.gate.count} left at ${happened + 10}`).toBe(expected);
});

const made = () => {
  const parts = virtualHost(100);
  return { ...parts, contract: parts.host.createContract('m', rateLimiter({ threshold: 5, within: 10 })) };
};

it('a manual transition without a hold lasts until the next advance applies the rules again', () => {
  const { clock, host, contract } = made();
  const moved = { from: 'allowing', to: 'limiting', cause: 'manual', emitted: ['rate_limited'] };
  expect(host.transition(contract, { to: 'limiting' })).toMatchObject({ seq: 3, cycle: 100, ...moved });
  clock.run();
  expect([contract.state, contract.gate.cycle]).toEqual(['allowing', 101]);
});

it('a hold keeps the state for its cycles; then the rules apply', () => {
  const { clock, host, contract, seen } = made();
  host.transition(contract, { to: 'limiting', holdCycles: 20 });
  expect(contract.decide(1, 110)).toBe(0);
  clock.run();
  expect(kindsOf(seen).slice(-2)).toEqual(['4 transition allowing@120', '4 rate_restored@120 count 0']);
});

it.each([
  ['allowing', 'no_transition', 'There is no transition from "allowing" to "allowing".'],
  ['limitng', 'no_transition', 'Did you mean "limiting"?'],
])('a manual transition to %s is refused: %s', (to, code, words) => {
  const { host, contract, store } = made();
  const refused = failureOf(() => host.transition(contract, { to }));
  expect(refused).toMatchObject({ code, message: expect.stringContaining(words) });
  expect(store.rows('m')).toHaveLength(2);
});

const newton = [...standardOperators().values()].find(({ name, kind }) => kind === 'physics' && /newton/i.test(name))!;
const [mass, acceleration] = Object.keys(newton.inputs) as [string, string];
const definition = {
  name: 'press',
  version: '1.0',
  states: { idle: { initial: true }, pressing: {} },
  transitions: [
    {
      ...{ from: 'idle', to: 'pressing', operator: newton.id, proof_required: true },
      ...{ fires_when: 'input.level >= 3', inputs: { [mass]: 2 } },
    },
    { from: 'pressing', to: 'idle', operator: 'KO42' },
  ],
};
const physical = () => {
  const parts = virtualHost();
  return { ...parts, contract: parts.host.createContract('m', definition) };
};

it.each(['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty'])(
  'the inputs of a condition are those that are given, and not %s, which every object has',
  (name) => {
    const { host } = virtualHost();
    const [first, ...others] = definition.transitions;
    const asks = (condition: string) => {
      const move = { ...first, operator: 'KO42', inputs: {}, proof_required: false, fires_when: condition };
      const contract = host.createContract('m', { ...definition, transitions: [move, ...others] });
      return codeOf(() => host.transition(contract, { to: 'pressing' }));
    };
    const conditions = [`input.${name} != 5`, `input.${name} + 1 != 5`, `input.${name} == input.${name}`];
    expect(conditions.map(asks)).toEqual(conditions.map(() => 'condition_failed'));
  },
);

it('physics operators are computed, proved and verified at each fire; the proof digest is on the row', () => {
  const { host, contract, store } = physical();
  const row = host.transition(contract, { to: 'pressing', input: { level: 3, [acceleration]: 4 } });
  expect(row).toMatchObject({
    operator: newton.id,
    result: 8,
    substrate: { operator: 'KO42', inputs: { S: 1, cycle: 0 } },
  });
  expect(row.proof_digest).toMatch(/^[0-9a-f]{64}$/);
  expect(verifyRows(store.rows('m'))).toMatchObject({ valid: true });
});

it('an actor that throws is reported with its contract, and the others go on', () => {
  const { host, failed } = virtualHost();
  const [broken, whole] = [10, 11].map((within) => host.createContract('m', rateLimiter({ threshold: 1, within })));
  Object.defineProperty(broken!.plan, 'transitions', {
    get: () => {
      throw new Error('broken guard');
    },
  });
  for (const cycle of [0, 1]) expect(codeOf(() => host.contract(broken!.id).decide(5, cycle))).toBe('contract_failed');
  expect(failed).toMatchObject([{ cause: { message: 'broken guard' } }]);
  expect(host.contract(whole!.id).decide(5, 0)).toBe(1);
});

it('nothing is published that was not stored, and a store that fails takes nothing more', () => {
  const store = new SlowStore();
  const { host, seen } = virtualHost(0, store);
  const contract = host.createContract('m', rateLimiter({ threshold: 1, within: 10 }));
  const published = seen.length;
  store.isFull = true;
  contract.decide(5, 0);
  expect(seen).toHaveLength(published);
  expect(codeOf(() => host.createMachine({ slug: 'n' }))).toBe('store_failed');
});

it('contracts continue after a restart with window and state; cycles that passed are advanced one by one', () => {
  const { host, store, runTo } = virtualHost();
  const { id } = host.createContract('m', rateLimiter({ threshold: 5, within: 10 }));
  runTo(3);
  host.contract(id).decide(8, 3);
  host.saveWindows();
  host.commit();

  const soon = virtualHost(7, store);
  expect([soon.host.contract(id).state, soon.host.contract(id).gate.count]).toEqual(['limiting', 8]);
  const later = virtualHost(500, store);
  // It is ready before what became due has fired: that is 1 s of work for 50,000 contracts.
  expect(store.rows('m').at(-1)).toMatchObject({ to: 'limiting' });
  later.runTo(500);
  expect([later.host.contract(id).state, later.host.contract(id).gate.count]).toEqual(['allowing', 0]);
  expect(store.rows('m').at(-1)).toMatchObject({ to: 'allowing', cycle: 13 });
  expect(verifyRows(store.rows('m'))).toMatchObject({ valid: true });
});

it('a record never goes back in time, however many contracts were asleep, and whoever is asked first', () => {
  const { host, store } = virtualHost();
  const contracts = [12, 7, 9].map((within) => host.createContract('m', rateLimiter({ threshold: 1, within })));
  for (const { id } of contracts) host.contract(id).decide(3, 0);
  host.saveWindows();
  host.commit();

  // The clock has gone on unseen: the agenda of a blocked loop has not run when the next event comes.
  host.contract(contracts[0]!.id).decide(1, 100);
  const last = store.rows('m').slice(-3);
  expect(last.map(({ cycle, to }) => `${to}@${cycle}`)).toEqual(['allowing@7', 'allowing@9', 'allowing@12']);

  const revived = virtualHost(100, store);
  expect(verifyRows(store.rows('m'))).toMatchObject({ valid: true });
  expect(new Set([...revived.host.contracts.values()].map(({ state }) => state))).toEqual(new Set(['allowing']));
});
