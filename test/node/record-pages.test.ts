import { expect, it } from 'vitest';
import { nodeOfFile } from './node-of-file.js';

const node = await nodeOfFile();

it('the record is read in pages, by kind and by cycle', async () => {
  const owner = node.owner('reader');
  const id = await owner.contractOn('paged');
  for (const to of ['limiting', 'allowing', 'limiting'])
    await owner.post(`/api/chain/paged/contracts/${id}/transition`, { to, hold_cycles: 1_000 });
  const read = async (query: string) => {
    const { rows, next_after_seq } = (await owner.get(`/api/chain/paged/state?${query}`)).body;
    return [rows.map(({ seq }: { seq: number }) => seq), next_after_seq];
  };
  const cycle = node.host.machines.get('paged')?.image.createdCycle ?? 0;
  for (const [query, seqs, next] of [
    ['', [1, 2, 3, 4, 5]],
    ['limit=2', [1, 2], 2],
    ['limit=2&after_seq=2', [3, 4], 4],
    ['limit=2&after_seq=4', [5]],
    ['kind=transition&limit=3', [3, 4, 5]],
    [`contract_id=${id}`, [2, 3, 4, 5]],
    ['contract_id=none', []],
    [`to_cycle=${cycle - 1}`, []],
    [`from_cycle=${cycle}&kind=machine_created`, [1]],
  ] as const)
    expect(await read(query), query).toEqual([seqs, next]);
});
