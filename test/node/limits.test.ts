import { expect, it } from 'vitest';
import { Caller, inTurn } from './caller.js';
import { startRunning } from './running.js';

it('the limits are listed for anyone, and for an owner with what they use', async () => {
  const node = await startRunning({
    limits: { machines: { perOwner: 3, onNode: 10 }, contracts: { perOwner: 2, onNode: 10 } },
  });
  const owner = node.owner();
  await owner.contractOn('m', { within: 7 });
  const callers = [new Caller(node.url), owner, node.owner('other')];
  const [stranger, own, other] = await inTurn(callers, async (caller) => (await caller.get('/api/limits')).body);
  await node.close();
  const { machines, contracts, window_cycles, definition_bytes, rows } = own;
  expect([stranger.machines, stranger.contracts]).toEqual([
    { per: 'node', most: 3, on_node: 10, free_on_node: 9, refused: 0 },
    { per: 'node', most: 2, on_node: 10, free_on_node: 9, refused: 0 },
  ]);
  expect([machines, contracts]).toEqual([
    { per: 'node', most: 3, used: 1, left: 2, on_node: 10, free_on_node: 9, refused: 0 },
    { per: 'node', most: 2, used: 1, left: 1, on_node: 10, free_on_node: 9, refused: 0 },
  ]);
  expect([window_cycles.used, definition_bytes.used > 500, rows.used]).toEqual([7, true, 2]);
  expect([own.new_machines.left, own.definition_kib.left]).toEqual([999, 2_047]);
  expect([other.machines.used, other.streams.used, other.node.long_body_bytes]).toEqual([0, 0, 128 << 10]);
});

it.each<[string, object]>([
  ['rows', { rows: { perOwner: 4, onNode: 1_000 } }],
  // The rows of both creations and of one move have 1,297 bytes together, and with the other move 1,838.
  ['KiB of rows', { recordKib: { perOwner: 1.5, onNode: 1_000 } }],
])(
  'machines of an owner whose records have as many %s as they may are asked no more, and others go on',
  async (what, limits) => {
    const node = await startRunning({ limits });
    const told: unknown[] = [];
    for (const [slug, moves] of [
      ['owner', ['limiting', 'allowing']],
      ['other', []],
    ] as const) {
      const owner = node.owner(slug);
      const path = `/api/chain/${slug}/contracts/${await owner.contractOn(slug, {}, true)}`;
      for (const to of moves) told.push((await owner.post(`${path}/transition`, { to, hold_cycles: 1_000 })).status);
      const { status, body } = await owner.get(`${path}/gate`);
      told.push([status, body.code, body.detail?.includes(`have as many ${what} as they may`)]);
      told.push((await node.ask('GET', `/api/chain/${slug}/state`)).status);
    }
    await node.close();
    expect(told).toEqual([200, 200, [422, 'limit_reached', true], 200, [200, undefined, undefined], 200]);
  },
);
