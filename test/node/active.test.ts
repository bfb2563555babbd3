import { expect, it } from 'vitest';
import { LONGEST_WINDOW } from '../../src/api/windows.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { ActiveMachines } from '../../src/node/active-machines.js';
import { virtualHost } from './host/virtual-host.js';
import { startRunning } from './running.js';

const CYCLE_MS = 100;
const FIRST = 1_000;

/** A host in virtual time, and the index that listens to it. */
function watched() {
  const { clock, store, host, runTo: to } = virtualHost(FIRST, undefined, CYCLE_MS);
  const active = new ActiveMachines(host);
  host.durableRows.subscribe((row) => active.take(row));
  const machine = (slug: string, isPublic = true) => {
    host.createMachine({ slug, isPublic });
    return host.createContract(slug, rateLimiter());
  };
  const move = (contract: ReturnType<typeof machine>, times: number) => {
    for (let moved = 0; moved < times; moved += 1) {
      host.transition(contract, { to: contract.state === 'allowing' ? 'limiting' : 'allowing', holdCycles: 100_000 });
    }
  };
  const top = (cycles: number, limit = 10, of = active) =>
    of.top(clock.cycle(), cycles, limit).map(({ slug, transitions }) => `${slug} ${transitions}`);
  return { clock, store, host, active, machine, move, to, top };
}

it('the most active machines are ranked by transitions, then by slug; private and idle ones are left out', () => {
  const { machine, move, top } = watched();
  const [a, b, c, hidden] = [machine('a'), machine('b'), machine('c'), machine('hidden', false)];
  machine('idle');
  move(b, 2);
  move(c, 2);
  move(a, 1);
  move(hidden, 9);
  expect([top(60), top(60, 2)]).toEqual([
    ['b 2', 'c 2', 'a 1'],
    ['b 2', 'c 2'],
  ]);
});

it('machines that limit without a transition within the window follow the active ones, by a key too', () => {
  const { host, machine, move, to, top, active } = watched();
  const [a, b, c, hidden] = [machine('a'), machine('b'), machine('c'), machine('hidden', false)];
  for (const one of [b, hidden]) move(one, 1);
  const keyed = host.createContract('a', rateLimiter({ threshold: 1, within: 1_000 }), undefined, {
    maxKeys: 8,
    idleCycles: 2_000,
    overflow: 'refuse',
  });
  keyed.decide(2, FIRST, 0, 'one');
  to(FIRST + 200);
  move(c, 2);
  expect(top(60)).toEqual(['c 2', 'a 0', 'b 0']);
  expect(active.top(FIRST + 200, 60, 10).map(({ limiting }) => limiting)).toEqual([0, 1, 1]);
  expect(a.limiting).toBe(0);
});

it('the most active machines are those of the last N cycles, the running one included', () => {
  const { machine, move, to, top } = watched();
  const a = machine('a');
  move(a, 1);
  to(FIRST + 1);
  move(a, 2);
  to(FIRST + 10);
  move(a, 4);
  expect([1, 9, 10, 11, 60].map((cycles) => top(cycles))).toEqual([['a 4'], ['a 4'], ['a 6'], ['a 7'], ['a 7']]);
  to(FIRST + 11);
  expect([top(1), top(2)]).toEqual([['a 0'], ['a 4']]);
});

it('the most active machines are the same after a restart, and old transitions are forgotten', () => {
  const { host, store, clock, machine, move, to, top } = watched();
  const [a, b] = [machine('a'), machine('b')];
  move(b, 5);
  for (let cycle = 1; cycle <= 3 * LONGEST_WINDOW; cycle += 7) {
    to(FIRST + cycle);
    move(a, 1);
  }
  const again = new ActiveMachines(host);
  again.load(store, clock.cycle());
  const windows = [1, 7, 8, 60, LONGEST_WINDOW];
  expect(windows.map((cycles) => top(cycles, 10, again))).toEqual(windows.map((cycles) => top(cycles)));
  // What is forgotten of b is that it moved, not that it is limiting.
  expect(top(LONGEST_WINDOW)).toEqual([`a ${Math.ceil(LONGEST_WINDOW / 7)}`, 'b 0']);
});

const node = await startRunning({ cycleMs: 3_600_000 });

it('GET /api/chain/active tells transitions by window and stretch, the last one, and how many contracts limit now', async () => {
  const owner = node.owner();
  await owner.createMachine('busy', true);
  await owner.createMachine('hidden');
  const ids: string[] = [];
  for (const slug of ['busy', 'busy', 'hidden'])
    ids.push(await owner.deploy(slug, { threshold: 1, ...(ids.length > 0 && { keyed: { max_keys: 9 } }) }));
  for (const slug of ['busy', 'hidden']) await owner.event(slug, { count: 2, key: 'one' });
  const cycle = node.clock.cycle();
  const { body } = await node.ask('GET', '/api/chain/active');
  expect(body).toEqual({
    ok: true,
    window_cycles: 60,
    cycle,
    machines: [
      {
        slug: 'busy',
        transitions: 2,
        last_transition_cycle: cycle,
        contracts: 2,
        limiting: 2,
        display_name: 'busy',
        last: [2, 2, 2],
        stretches: [...Array(29).fill(0), 2],
      },
    ],
  });
  for (const id of ids.slice(0, 2)) await owner.patch(`/api/chain/busy/contracts/${id}`, { limit: 'gcra 1/s burst=1' });
  expect((await node.ask('GET', '/api/chain/active')).body.machines[0].limiting).toBe(0);
});
