// `weir evict` and `weir serve --mint`, as an operator gives them to a running node.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
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

it.each(['0', 'x', '-1', '1.5'])('--mint %s is refused', async (text) => {
  const { err } = await weir(['serve', '--memory', `--mint=${text}`]);
  expect(err).toContain('neither off nor a number of keys');
});
