import { expect, it } from 'vitest';
import { startRunning } from './running.js';

it('the limits are listed for anyone, and for an owner with what they use', async () => {
  const node = await startRunning({
    limits: { machines: { perOwner: 3, onNode: 10 }, contracts: { perOwner: 2, onNode: 10 } },
  });
  const key = node.keyOf('owner');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'm' } });
  await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body: { slug: 'm', within: 7 } });
  const [stranger, owner, other] = await Promise.all([
    node.ask('GET', '/api/limits'),
    node.ask('GET', '/api/limits', { key }),
    node.ask('GET', '/api/limits', { key: node.keyOf('other') }),
  ]);
  await node.close();
  const { machines, contracts, window_cycles, definition_bytes, rows } = owner.body;
  expect([stranger.body.machines, stranger.body.contracts]).toEqual([
    { per: 'node', most: 3, on_node: 10, free_on_node: 9 },
    { per: 'node', most: 2, on_node: 10, free_on_node: 9 },
  ]);
  expect([machines, contracts]).toEqual([
    { per: 'node', most: 3, used: 1, left: 2, on_node: 10, free_on_node: 9 },
    { per: 'node', most: 2, used: 1, left: 1, on_node: 10, free_on_node: 9 },
  ]);
  expect([window_cycles.used, definition_bytes.used > 500, rows.used]).toEqual([7, true, 2]);
  expect([owner.body.new_machines.left, owner.body.definition_kib.left]).toEqual([999, 2_047]);
  expect([other.body.machines.used, other.body.streams.used, other.body.node.body_bytes]).toEqual([0, 0, 1 << 20]);
});

it.each<[string, object]>([
  ['rows', { rows: { perOwner: 4, onNode: 1_000 } }],
  // The rows of both creations and of one move have 1,297 bytes together, and with the other move 1,838.
  ['KiB of rows', { recordKib: { perOwner: 1.5, onNode: 1_000 } }],
])(
  'once its records have as many %s as they may, nothing more is asked of the machines of an owner, and others go on',
  async (what, limits) => {
    const node = await startRunning({ limits });
    const told: unknown[] = [];
    for (const [owner, moves] of [
      ['owner', ['limiting', 'allowing']],
      ['other', []],
    ] as const) {
      const key = node.keyOf(owner);
      await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: owner, is_public: true } });
      const path = '/api/contracts/templates/rate-limiter/deploy';
      const { contract } = (await node.ask('POST', path, { key, body: { slug: owner } })).body;
      const about = `/api/chain/${owner}/contracts/${contract.id}`;
      for (const to of moves) {
        const body = { to, hold_cycles: 1_000 };
        told.push((await node.ask('POST', `${about}/transition`, { key, body })).status);
      }
      const { status, body } = await node.ask('GET', `${about}/gate`, { key });
      told.push(
        [status, body.code, body.detail?.includes(`have as many ${what} as they may`)],
        (await node.ask('GET', `/api/chain/${owner}/state`)).status,
      );
    }
    await node.close();
    expect(told).toEqual([200, 200, [422, 'limit_reached', true], 200, [200, undefined, undefined], 200]);
  },
);
