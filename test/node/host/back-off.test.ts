import { expect, it } from 'vitest';
import { Rank } from '../../../src/core/time/rank.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';
import type { Store } from '../../../src/node/store/store.js';
import { defined, move } from '../../core/limiter/defined.js';
import { stubborn } from '../../core/operator/registered.js';
import { temporaryFolder } from '../../left-behind.js';
import { CYCLE_MS, virtualHost } from './virtual-host.js';

/** A machine whose trigger asks an operator that refuses until a cycle. */
const definition = defined('stubborn', { open: { initial: true }, shut: {} }, [
  move('open', 'shut', 'count > 0', { operator: 'STUBBORN', within: 100_000 }),
]);

let refusesUntil = 0;
stubborn((cycle) => cycle < refusesUntil);

function running(startCycle: number, untilCycle: number, store?: Store) {
  refusesUntil = untilCycle;
  return virtualHost(startCycle, store);
}

const refusalsOf = (store: Store) =>
  store.rows('m', { kind: 'transition_failed', limit: 1_000 }).map(({ cycle }) => cycle);
const gaps = (cycles: readonly number[]) => cycles.slice(1).map((cycle, index) => cycle - cycles[index]!);

it('a trigger that its operator refuses is tried again after 1, 2, 4 ... 1024 cycles, each time a row', () => {
  const { clock, host, store, runTo } = running(0, Number.POSITIVE_INFINITY);
  const { id } = host.createContract('m', definition);
  clock.agenda.at(5 * CYCLE_MS, Rank.arrival, () => host.contract(id).decide(1, 5));
  runTo(5_000);
  expect(refusalsOf(store)[0]).toBe(5);
  expect(gaps(refusalsOf(store))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
});

it('a transition that is taken ends the back-off of its trigger', () => {
  const { host, runTo } = running(0, 100);
  const contract = host.createContract('m', definition);
  contract.decide(1, 0);
  runTo(200);
  expect([contract.state, contract.gate.image().refusals, contract.saved()]).toMatchObject([
    'shut',
    undefined,
    { state: 'shut' },
  ]);
});

it.each(['memory', 'sqlite'])('a refused trigger goes on waiting after a restart as before: %s', (kind) => {
  const dir = temporaryFolder();
  const open = (before?: Store) => (kind === 'memory' ? (before ?? new MemoryStore()) : openSqliteStore({ dir }));
  const first = running(0, Number.POSITIVE_INFINITY, open());
  const { id } = first.host.createContract('m', definition);
  first.host.contract(id).decide(1, 0);
  first.runTo(40);
  first.host.commit();
  if (kind === 'sqlite') first.store.close();
  const second = running(41, Number.POSITIVE_INFINITY, open(first.store));
  second.runTo(1_100);
  expect(gaps(refusalsOf(second.store))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
  second.store.close();
});
