// The registry of nodes over one Redis (needs redis-server).
import type { Limits } from '../../src/node/limits.js';
import { openNetworkStorage } from '../../src/node/network/network-storage.js';
import { createNodeContext } from '../../src/node/node-context.js';
import { CYCLE_MS, describeRegistry, onError, type RegistryUnderTest, surface } from '../suite/registry.js';
import { hasRedis, RedisServer } from './network/redis/server.js';

async function over(limits: Partial<Limits>): Promise<RegistryUnderTest> {
  const ground = await openNetworkStorage({ url: server!.url, cycleMs: CYCLE_MS, deadlineMs: 10_000, onError });
  ground.clock.start();
  const { signer } = ground.identity;
  const patient = { linkedWithinMs: 300_000, ...limits };
  const context = createNodeContext({ ...ground, signer, limits: patient, onError }, surface);
  await context.registry.start([]);
  return {
    context,
    async close() {
      ground.clock.stop();
      context.registry.close();
    },
  };
}

const server = hasRedis ? await RedisServer.start() : undefined;

if (hasRedis)
  describeRegistry(
    'over Redis',
    async (limits) => {
      await server!.ask('FLUSHALL');
      return over(limits);
    },
    over,
  );
