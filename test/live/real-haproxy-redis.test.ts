import { holdsHaproxy, holdsRedis } from './real-limiters.js';

holdsHaproxy();
holdsRedis();
