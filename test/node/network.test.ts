import { describeNetwork } from '../suite/network.js';
import { RedisServer } from './network/redis/server.js';

describeNetwork('one Redis', () => RedisServer.start());
