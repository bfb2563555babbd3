// `weir evict` and `weir serve --mint`, as an operator gives them to a running node.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { hasRedis, RedisServer } from '../store/redis/server.js';
import { serve, weir } from './command-line.js';

it('ends an owner by the slug of a machine, and says so; a stopped node cannot be asked', async () => {
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--data', data, '--mint', '1']);
  const ask = (method: string, path: string, key?: string, body?: object) =>
    fetch(`${node.url}${path}`, {
      method,
      headers: { ...(key && { authorization: `Bearer ${key}` }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { key, owner } = (await (await ask('POST', '/api/demo-key/mint')).json()) as { key: string; owner: string };
  const second = await ask('POST', '/api/demo-key/mint');
  await ask('POST', '/api/chain/state-machines', key, { slug: 'spam' });
  const evicted = JSON.parse((await weir(['evict', 'spam', '--data', data, '--json'])).out);
  const after = await ask('GET', '/api/limits', key);
  const unknown = await weir(['evict', 'none', '--data', data]);
  await node.stop();
  const stopped = await weir(['evict', 'spam', '--data', data]);
  expect([second.status, evicted, after.status]).toEqual([
    429,
    { ok: true, owner, keys: 1, machines: 1, contracts: 0 },
    401,
  ]);
  expect([unknown.err, stopped.err]).toEqual([
    expect.stringContaining('owner_not_found'),
    expect.stringContaining('node_unreachable'),
  ]);
});

it.skipIf(!hasRedis)('asks a node of a network that has a data folder (needs redis-server)', async () => {
  const redis = await RedisServer.start();
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--store', redis.url, '--data', data]);
  try {
    const { owner } = (await (await fetch(`${node.url}/api/demo-key/mint`, { method: 'POST' })).json()) as {
      owner: string;
    };
    const evicted = JSON.parse((await weir(['evict', owner, '--data', data, '--json'])).out);
    expect(evicted).toEqual({ ok: true, owner, keys: 1, machines: 0, contracts: 0 });
  } finally {
    await node.stop();
    await redis.stop();
  }
});

it.each(['0', 'x', '-1', '1.5'])('--mint %s is refused', async (text) => {
  const { err } = await weir(['serve', '--memory', `--mint=${text}`]);
  expect(err).toContain('neither off nor a number of keys');
});
