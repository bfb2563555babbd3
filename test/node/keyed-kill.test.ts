// A real node with a contract with keys is killed: no acknowledged transition of a key is lost, and with --durability strict no count.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve, temporaryFolder } from '../cli/command-line.js';
import { verifyRows } from '../core/record/verifying.js';
import { Holder } from './caller.js';

it('a node that is killed goes on with every key where it was', async () => {
  const data = join(temporaryFolder(), 'data');
  // Cycles so long that the test sees no end of a window.
  const options = ['--data', data, '--durability', 'strict', '--cycle-ms', '3600000'];
  let node = await serve(options);
  const before = await Holder.minted(node.url);
  const keyed = { max_keys: 100, idle_cycles: 10, overflow: 'refuse', store_keys: 'hashed' };
  const id = await before.contractOn('m', { threshold: 2, within: 10, keyed });
  const names = Array.from({ length: 12 }, (_, index) => `client ${index}`);
  const sent = names.map((name, index) => ({ name, count: 1 + (index % 4) }));
  const answers = await Promise.all(sent.map(({ name, count }) => before.event('m', { key: name, count })));
  const acknowledged = answers.map(({ body }) => {
    const { key, state, count } = body.contracts[0];
    return { key, state, count };
  });
  await node.stop('SIGKILL');
  node = await serve(options);
  const owner = before.at(node);
  const { keys } = (await owner.get(`/api/chain/m/contracts/${id}/keys`)).body;
  const found = keys.map(({ key, state, count }: any) => ({ key, state, count }));
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  expect(found.sort(byKey)).toEqual(acknowledged.sort(byKey));
  const rows = await owner.rows('m');
  expect(verifyRows(rows)).toMatchObject({ valid: true });
  const limited = acknowledged.filter(({ state }) => state === 'limiting').map((one) => one.key);
  const moved = rows.filter(({ kind }) => kind === 'transition').map(({ key }) => key);
  expect(moved.sort()).toEqual(limited.sort());
  expect(moved.length).toBe(6);
});
