import { expect, it } from 'vitest';
import { startRunning } from './running.js';

it('the limits are listed for anyone, and for an owner with what they use', async () => {
  const node = await startRunning({ limits: { machinesPerOwner: 3, contractsPerOwner: 2 } });
  const key = node.keyOf('owner');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'm' } });
  await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body: { slug: 'm', within: 7 } });
  const [stranger, owner, other] = await Promise.all([
    node.ask('GET', '/api/limits'),
    node.ask('GET', '/api/limits', { key }),
    node.ask('GET', '/api/limits', { key: node.keyOf('other') }),
  ]);
  await node.close();
  expect([stranger.body.machines, stranger.body.contracts]).toEqual([{ most: 3 }, { most: 2 }]);
  expect([owner.body.machines, owner.body.contracts, owner.body.window_cycles.used]).toEqual([
    { most: 3, used: 1 },
    { most: 2, used: 1 },
    7,
  ]);
  expect([other.body.machines.used, other.body.streams.used, other.body.node.body_bytes]).toEqual([0, 0, 1 << 20]);
});
