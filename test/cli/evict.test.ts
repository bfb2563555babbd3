// `weir node evict`, `weir serve --bound mint` and `--keep deleted=90`, as an operator gives them to a node.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { Caller, Holder, statusAndCode } from '../node/caller.js';
import { refuses, serve, weirHere } from './command-line.js';

const data = join(temporaryFolder(), 'data');
const node = await serve(['--data', data, '--host=0.0.0.0', '--drain=0', '--bound', 'mint=1', '--keep', 'deleted=90']);
const closed = await serve(['--store', 'memory', '--host=0.0.0.0', '--bound', 'rows=5']);
const owner = await Holder.minted(node.url);
const second = await new Caller(node.url).post('/api/demo-key/mint');
const unasked = await new Caller(closed.url).post('/api/demo-key/mint');

refuses(
  'serve --store memory',
  ['0', 'x', '-1', '1.5'].map((text) => [[`--bound=mint=${text}`], 'does not set mint']),
);

it('--keep deleted says how long the record of a deleted machine is read', async () => {
  await owner.createMachine('m', true);
  const beforeMs = Date.now();
  const { readable_until } = (await owner.delete('/api/chain/m')).body;
  const days = (Date.parse(readable_until) - beforeMs) / 86_400_000;
  const { retention_ms } = (await owner.get('/api/limits')).body.node;
  expect([Math.round(days), retention_ms]).toEqual([90, 90 * 86_400_000]);
});

it('weir node evict ends an owner by the slug of a machine, and says so; a stopped node cannot be asked', async () => {
  await owner.createMachine('spam');
  const [socket, isRoot] = [join(data, 'weir.sock'), process.getuid?.() === 0];
  chmodSync(socket, 0);
  // Root may open it for all that.
  if (isRoot) process.seteuid?.(65_534);
  const denied = await weirHere(['node', 'evict', 'spam', '--data', data]);
  if (isRoot) process.seteuid?.(0);
  chmodSync(socket, 0o600);
  const evicted = JSON.parse((await weirHere(['node', 'evict', 'spam', '--data', data, '--json'])).out);
  const after = await owner.get('/api/limits');
  const unknown = await weirHere(['node', 'evict', 'none', '--data', data]);
  await node.stop();
  const stopped = await weirHere(['node', 'evict', 'spam', '--data', data]);
  expect(evicted).toEqual({ ok: true, owner: owner.made.owner, keys: 1, machines: 1, contracts: 0 });
  expect([second, unasked, after].map(statusAndCode)).toEqual([
    [429, 'too_many_requests'],
    [403, 'mint_off'],
    [401, 'credential_invalid'],
  ]);
  expect([unknown, denied, stopped]).toMatchObject([
    { code: 2, err: expect.stringContaining('owner_not_found') },
    { code: 5, err: expect.stringContaining('is of another user') },
    { code: 5, err: expect.stringContaining('No node runs on') },
  ]);
});
