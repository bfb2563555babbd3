import { describeNetwork } from '../suite/network.js';
import { RedisServer } from './store/redis/server.js';

describeNetwork('one Redis', () => RedisServer.start());
