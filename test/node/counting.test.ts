import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { temporaryFolder } from '../left-behind.js';
import { hasRedis, RedisServer } from '../store/redis/server.js';
import { describeCounting } from '../suite/counting.js';
import { startNetworkNode } from './network-nodes.js';
import { startRunning } from './running.js';

describeCounting('memory', async (cycleMs) => {
  const node = await startRunning({ cycleMs });
  return { nodes: [node], stop: () => node.close() };
});

describeCounting('SQLite', async (cycleMs) => {
  const ground = openStorage({
    dir: temporaryFolder(),
    cycleMs,
    onError: (error) => {
      throw error;
    },
  });
  const node = await startNode({ ...ground, signer: ground.identity.signer });
  return { nodes: [node], stop: () => node.close() };
});

describeCounting(
  'Redis (needs redis-server)',
  async (cycleMs) => {
    const redis = await RedisServer.start();
    const nodes = [await startNetworkNode(redis.url, cycleMs), await startNetworkNode(redis.url, cycleMs)];
    return {
      nodes,
      async stop() {
        await Promise.all(nodes.map((node) => node.close()));
        await redis.stop();
      },
    };
  },
  !hasRedis,
);
