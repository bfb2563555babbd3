// A call and its deadline, where this process is what is late.
import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { nextTurn } from '../../../../src/core/time/next-turn.js';
import { pause } from '../../../../src/core/time/wall.js';
import { RedisConnection } from '../../../../src/node/network/redis/connection.js';
import { afterFile } from '../../../left-behind.js';
import { hasRedis, RedisServer, until } from './server.js';

const DEADLINE_MS = 100;

it.skipIf(!hasRedis)('an answer is heard, however long this process stood still (needs redis-server)', async () => {
  const server = await RedisServer.start();
  afterFile(() => server.stop());
  const connection = await RedisConnection.open({ url: server.url, deadlineMs: DEADLINE_MS });
  afterFile(async () => connection.close());
  // A node that starts waits longer for an answer.
  expect(await connection.command('BLPOP', 'nothing', '0.3')).toBe(null);
  connection.started();
  // Redis answers after 40 ms that the list is empty.
  const answer = connection.command('BLPOP', 'nothing', '0.04');
  await pause(5);
  // Of a turn of the loop the timers come next, and the sockets after them.
  await nextTurn();
  const beganMs = performance.now();
  while (performance.now() - beganMs < 4 * DEADLINE_MS);
  expect(await answer).toBe(null);
  // One that does not come in time is said to be late.
  await expect(connection.command('BLPOP', 'nothing', '60')).rejects.toThrow(/no answer within 100 ms/);
});

it.skipIf(!hasRedis)(
  'while Redis is away no timer stays behind a probe, or the process would not end with its node (needs redis-server)',
  async () => {
    const server = await RedisServer.start();
    afterFile(() => server.stop());
    const connection = await RedisConnection.open({ url: server.url, deadlineMs: DEADLINE_MS });
    afterFile(async () => connection.close());
    connection.started();
    await server.stop();
    await until(() => connection.failure !== undefined);
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await pause(1_500);
    expect(timers() - before).toBeLessThan(5);
  },
);
