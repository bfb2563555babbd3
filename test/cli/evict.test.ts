// `weir node evict`, `weir serve --bound mint` and `--keep deleted=90`, as an operator gives them to a node.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { ask } from '../node/asking.js';
import { refuses, serve, weirHere } from './command-line.js';

it('weir node evict ends an owner by the slug of a machine, and says so; a stopped node cannot be asked', async () => {
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--data', data, '--bound', 'mint=1']);
  const { key, owner } = await ask(node.url, 'POST', '/api/demo-key/mint');
  const second = await ask(node.url, 'POST', '/api/demo-key/mint');
  await ask(node.url, 'POST', '/api/chain/state-machines', key, { slug: 'spam' });
  const evicted = JSON.parse((await weirHere(['node', 'evict', 'spam', '--data', data, '--json'])).out);
  const after = await ask(node.url, 'GET', '/api/limits', key);
  const unknown = await weirHere(['node', 'evict', 'none', '--data', data]);
  await node.stop();
  const stopped = await weirHere(['node', 'evict', 'spam', '--data', data]);
  expect(evicted).toEqual({ ok: true, owner, keys: 1, machines: 1, contracts: 0 });
  expect([second.code, after.code]).toEqual(['too_many_requests', 'credential_invalid']);
  expect([unknown.err, stopped.err]).toEqual([
    expect.stringContaining('owner_not_found'),
    expect.stringContaining('node_unreachable'),
  ]);
});

refuses(
  'serve --store memory',
  ['0', 'x', '-1', '1.5'].map((text) => [[`--bound=mint=${text}`], 'does not set mint']),
);

it('--keep deleted says how long the record of a deleted machine is read', async () => {
  const node = await serve(['--store', 'memory', '--keep', 'deleted=90']);
  const { key } = await ask(node.url, 'POST', '/api/demo-key/mint');
  await ask(node.url, 'POST', '/api/chain/state-machines', key, { slug: 'm', is_public: true });
  const beforeMs = Date.now();
  const { readable_until } = await ask(node.url, 'DELETE', '/api/chain/m', key);
  const days = (Date.parse(readable_until) - beforeMs) / 86_400_000;
  expect([Math.round(days), (await ask(node.url, 'GET', '/api/limits')).node.retention_ms]).toEqual([
    90,
    90 * 86_400_000,
  ]);
});
