import type { Limits } from '../../src/node/limits.js';
import { openNetworkStorage } from '../../src/node/network/network-storage.js';
import { createNodeContext } from '../../src/node/node-context.js';
import { openStorage } from '../../src/node/node-storage.js';
import { temporaryFolder } from '../left-behind.js';
import { describeRegistry, type RegistryUnderTest } from '../suite/registry.js';
import { hasRedis, RedisServer } from './network/redis/server.js';

/** Windows of 50 cycles last while a busy machine asks a dozen times. */
const CYCLE_MS = 1_000;

/** Nothing is asked over HTTP. */
const surface = { routes: [], openApi: () => Buffer.from(''), isDraining: () => false };

const onError = (error: unknown) => {
  throw error;
};

async function local(limits: Partial<Limits>, dir?: string): Promise<RegistryUnderTest> {
  const ground = openStorage({ dir, cycleMs: CYCLE_MS, onError });
  ground.clock.start();
  const context = createNodeContext({ ...ground, signer: ground.identity.signer, limits }, surface);
  return {
    context,
    async close() {
      ground.clock.stop();
      context.registry.close();
    },
  };
}

async function over(url: string, limits: Partial<Limits>): Promise<RegistryUnderTest> {
  const ground = await openNetworkStorage({ url, cycleMs: CYCLE_MS, deadlineMs: 10_000, onError });
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

describeRegistry('in memory', (limits) => local(limits));
describeRegistry('on SQLite', (limits) => local(limits, temporaryFolder()));

if (hasRedis) {
  let server: RedisServer | undefined;
  describeRegistry(
    'over Redis',
    async (limits) => {
      const started = await RedisServer.start();
      server = started;
      const node = await over(started.url, limits);
      return { ...node, close: () => node.close().then(() => started.stop()) };
    },
    (limits) => over(server!.url, limits),
  );
}
