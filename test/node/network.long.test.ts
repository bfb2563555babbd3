import { describeCounting } from '../suite/counting.js';
import { describeNetwork } from '../suite/network.js';
import { hasRedis, RedisServer } from './network/redis/server.js';
import { startPair } from './network-nodes.js';

describeNetwork('one Redis', () => RedisServer.start());

describeCounting(
  'Redis (needs redis-server)',
  async (cycleMs) => startPair(await RedisServer.start(), cycleMs),
  !hasRedis,
);
