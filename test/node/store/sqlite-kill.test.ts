import { expect, it } from 'vitest';
import { hashOf } from '../../../src/core/record/chain.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';
import { verifyRows } from '../../core/record/verifying.js';
import { temporaryFolder } from '../../left-behind.js';
import { startProcess } from './process.js';

it('a store killed while it writes has every settled row, without holes, and the state that went with the last', async () => {
  const dir = temporaryFolder();
  let settled = 0;
  // At different places between two commits: the first when nothing was settled, the last amid many.
  for (const lines of [1, 2, 5, 20, 60]) {
    const writer = startProcess('write', dir);
    await writer.printed(lines);
    await writer.kill();
    expect(writer.lines[0]).toBe('open');
    settled = Math.max(settled, ...writer.lines.slice(1).map(Number));

    const store = openSqliteStore({ dir });
    const [found] = [...store.machines()];
    const rows = store.rows('m', { limit: Number.POSITIVE_INFINITY });
    const head = found?.head.seq ?? 0;
    const counted = found?.contracts[0]?.state.windows[0]?.counts[1] ?? 0;
    store.close();
    const { first_broken, rows: whole } = verifyRows(rows);
    expect({ first_broken, whole, counted, lost: Math.max(0, settled - head) }).toEqual({
      first_broken: null,
      whole: head,
      counted: head,
      lost: 0,
    });
  }
  expect(settled).toBeGreaterThan(60);
});

it('a store killed while it writes begins with its cut, whether the removed rows were freed or not', async () => {
  const dir = temporaryFolder();
  for (const lines of [5, 9, 20, 60]) {
    const writer = startProcess('cut', dir);
    await writer.printed(lines);
    await writer.kill();
    const settled = Number(writer.lines.at(-1));

    const store = openSqliteStore({ dir });
    const [found] = [...store.machines()];
    const cut = store.cut('m')!;
    const rows = store.rows('m', { limit: Number.POSITIVE_INFINITY });
    const links = [cut.removed_hash, ...rows.map(({ hash }) => hash)];
    let freed = 0;
    for (let swept = -1; swept !== 0; freed += swept) swept = store.sweep('m', 7);
    const still = store.rows('m', { limit: Number.POSITIVE_INFINITY });
    store.close();
    expect({
      seqs: rows.map(({ seq }) => seq),
      linked: rows.every((row, index) => row.previous_hash === links[index] && row.hash === hashOf(row)),
      lost: Math.max(0, settled - found!.head.seq),
      leftToFree: freed > 0,
    }).toEqual({
      seqs: rows.map((_, index) => cut.removed_to_seq + 1 + index),
      linked: true,
      lost: 0,
      leftToFree: true,
    });
    expect(still).toEqual(rows);
  }
});
