import { describe, expect, it } from 'vitest';
import { Host } from '../../src/host/host.js';
import { ko42 } from '../../src/operator/ko42.js';
import { MemoryStore } from '../../src/store/memory.js';
import { openSqliteStore } from '../../src/store/sqlite.js';
import type { Store } from '../../src/store/store.js';
import { Rank } from '../../src/time/rank.js';
import { VirtualClock } from '../../src/time/virtual.js';
import { temporaryFolder } from '../left-behind.js';
import { registered } from '../operator/registered.js';

/** A machine whose trigger asks an operator that refuses until a cycle. */
const definition = {
  name: 'stubborn',
  version: '1.0',
  states: { open: { initial: true }, shut: {} },
  transitions: [
    {
      from: 'open',
      to: 'shut',
      operator: 'STUBBORN',
      trigger: { kind: 'on_aggregate', event: 'request', aggregate: 'count', within: 100_000, condition: 'count > 0' },
    },
  ],
};

let refusesUntil = 0;
registered({
  ...{ ...ko42, id: 'STUBBORN', kind: 'physics' },
  compute: ({ cycle = 0 }) => (cycle < refusesUntil ? Number.NaN : 1),
  prove: () => ({ method: '', witness: {}, residual: 0, tolerance: 0 }),
  verify: () => true,
});

function running(startCycle: number, untilCycle: number, store: Store = new MemoryStore()) {
  const clock = new VirtualClock(startCycle, 1);
  refusesUntil = untilCycle;
  const host = new Host({ clock, store });
  return { clock, host, store };
}

const refusalsOf = (store: Store) =>
  store.rows('m', { kind: 'transition_failed', limit: 1_000 }).map(({ cycle }) => cycle);
const gaps = (cycles: readonly number[]) => cycles.slice(1).map((cycle, index) => cycle - cycles[index]!);

describe('a trigger that its operator refuses', () => {
  it('is tried again after 1, 2, 4 ... 1024 cycles, each time a row', () => {
    const { clock, host, store } = running(0, Number.POSITIVE_INFINITY);
    host.createMachine({ slug: 'm' });
    const { id } = host.createContract('m', definition);
    clock.agenda.at(5, Rank.arrival, () => host.contract(id).decide(1, 5));
    clock.run({ untilMs: 5_000 });
    expect(refusalsOf(store)[0]).toBe(5);
    expect(gaps(refusalsOf(store))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
  });

  it('begins again with 1 once a transition was taken', () => {
    const { clock, host } = running(0, 100);
    host.createMachine({ slug: 'm' });
    const contract = host.createContract('m', definition);
    contract.decide(1, 0);
    clock.run({ untilMs: 200 });
    expect([contract.state, contract.gate.refusals, contract.saved()]).toMatchObject(['shut', 0, { state: 'shut' }]);
  });

  it.each(['memory', 'sqlite'])('goes on waiting after a restart as before: %s', (kind) => {
    const dir = temporaryFolder();
    const open = (before?: Store) => (kind === 'memory' ? (before ?? new MemoryStore()) : openSqliteStore({ dir }));
    const first = running(0, Number.POSITIVE_INFINITY, open());
    first.host.createMachine({ slug: 'm' });
    const { id } = first.host.createContract('m', definition);
    first.host.contract(id).decide(1, 0);
    first.clock.run({ untilMs: 40 });
    first.host.commit();
    if (kind === 'sqlite') first.store.close();
    const second = running(41, Number.POSITIVE_INFINITY, open(first.store));
    second.clock.run({ untilMs: 1_100 });
    expect(gaps(refusalsOf(second.store))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    second.store.close();
  });
});
