// A real node with a contract with keys is killed: no acknowledged transition of a key is lost, and with --durability strict no count.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve, temporaryFolder } from '../cli/command-line.js';
import { verifyRows } from '../record/verifying.js';
import { ask } from './asking.js';

it('a node that is killed goes on with every key where it was', { timeout: 120_000 }, async () => {
  const data = join(temporaryFolder(), 'data');
  // Cycles so long that the test sees no end of a window.
  const options = ['--data', data, '--durability', 'strict', '--cycle-ms', '3600000'];
  let node = await serve(options);
  const { key } = await ask(node.url, 'POST', '/api/demo-key/mint');
  await ask(node.url, 'POST', '/api/chain/state-machines', key, { slug: 'm' });
  const { contract } = await ask(node.url, 'POST', '/api/contracts/templates/rate-limiter/deploy', key, {
    slug: 'm',
    threshold: 2,
    within: 10,
    keyed: { max_keys: 100, idle_cycles: 10, overflow: 'refuse', store_keys: 'hashed' },
  });
  const names = Array.from({ length: 12 }, (_, index) => `client ${index}`);
  const sent = names.map((name, index) => ({ name, count: 1 + (index % 4) }));
  const answers = await Promise.all(
    sent.map(({ name, count }) =>
      ask(node.url, 'POST', '/api/chain/m/event', key, { type: 'request', key: name, count }),
    ),
  );
  const acknowledged = answers.map(({ contracts: [{ key: of, state, count }] }) => ({ key: of, state, count }));
  await node.stop('SIGKILL');
  node = await serve(options);
  try {
    const { keys } = await ask(node.url, 'GET', `/api/chain/m/contracts/${contract.id}/keys`, key);
    const found = keys.map(({ key: of, state, count }: any) => ({ key: of, state, count }));
    const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
    expect(found.sort(byKey)).toEqual(acknowledged.sort(byKey));
    const { rows } = await ask(node.url, 'GET', '/api/chain/m/state', key);
    expect(verifyRows(rows)).toMatchObject({ valid: true });
    const limited = acknowledged.filter(({ state }) => state === 'limiting').map((one) => one.key);
    const moved = rows.filter(({ kind }: any) => kind === 'transition').map((row: { key: string }) => row.key);
    expect(moved.sort()).toEqual(limited.sort());
    expect(moved.length).toBe(6);
  } finally {
    await node.stop();
  }
});
