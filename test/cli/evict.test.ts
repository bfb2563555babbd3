// `weir node evict`, `weir serve --bound mint` and `--keep deleted=90`, as an operator gives them to a node.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { hasRedis, RedisServer } from '../store/redis/server.js';
import { serve, weir } from './command-line.js';

it('ends an owner by the slug of a machine, and says so; a stopped node cannot be asked', async () => {
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--data', data, '--bound', 'mint=1']);
  const ask = (method: string, path: string, key?: string, body?: object) =>
    fetch(`${node.url}${path}`, {
      method,
      headers: { ...(key && { authorization: `Bearer ${key}` }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { key, owner } = (await (await ask('POST', '/api/demo-key/mint')).json()) as { key: string; owner: string };
  const second = await ask('POST', '/api/demo-key/mint');
  await ask('POST', '/api/chain/state-machines', key, { slug: 'spam' });
  const evicted = JSON.parse((await weir(['node', 'evict', 'spam', '--data', data, '--json'])).out);
  const after = await ask('GET', '/api/limits', key);
  const unknown = await weir(['node', 'evict', 'none', '--data', data]);
  await node.stop();
  const stopped = await weir(['node', 'evict', 'spam', '--data', data]);
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
    const evicted = JSON.parse((await weir(['node', 'evict', owner, '--data', data, '--json'])).out);
    expect(evicted).toEqual({ ok: true, owner, keys: 1, machines: 0, contracts: 0 });
  } finally {
    await node.stop();
    await redis.stop();
  }
});

it.each(['0', 'x', '-1', '1.5'])('--bound mint=%s is refused', async (text) => {
  const { err } = await weir(['serve', '--store', 'memory', `--bound=mint=${text}`]);
  expect(err).toContain('does not set mint');
});

it('--keep deleted says how long the record of a deleted machine is read', async () => {
  const node = await serve(['--store', 'memory', '--keep', 'deleted=90']);
  const ask = async (method: string, path: string, key?: string, body?: object) => {
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${node.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as any;
  };
  try {
    const { key } = await ask('POST', '/api/demo-key/mint');
    await ask('POST', '/api/chain/state-machines', key, { slug: 'm', is_public: true });
    const beforeMs = Date.now();
    const { readable_until } = await ask('DELETE', '/api/chain/m', key);
    const days = (Date.parse(readable_until) - beforeMs) / 86_400_000;
    expect([Math.round(days), (await ask('GET', '/api/limits')).node.retention_ms]).toEqual([90, 90 * 86_400_000]);
  } finally {
    await node.stop();
  }
});
