import { RedisServer } from '../store/redis/server.js';
import { describeNetwork } from '../suite/network.js';

describeNetwork('one Redis', () => RedisServer.start());
