import { describeCounting } from '../suite/counting.js';
import { describeNetwork } from '../suite/network.js';
import { hasRedis, RedisCluster } from './network/redis/server.js';
import { startPair } from './network-nodes.js';

describeNetwork('a cluster of three', () => RedisCluster.start());

describeCounting(
  'a cluster of three (needs redis-server)',
  async (cycleMs) => startPair(await RedisCluster.start(), cycleMs),
  !hasRedis,
);
