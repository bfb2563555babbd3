import { RedisCluster } from '../store/redis/server.js';
import { describeNetwork } from '../suite/network.js';

describeNetwork('a cluster of three', () => RedisCluster.start());
