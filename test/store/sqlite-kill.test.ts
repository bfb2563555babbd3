import { describe, expect, it } from 'vitest';
import { verifyRecord } from '../../src/record/verify-record.js';
import { openSqliteStore } from '../../src/store/sqlite.js';
import { temporaryFolder } from '../left-behind.js';
import { startProcess } from './process.js';

describe('a store whose process is killed while it writes', () => {
  it('has every row that was settled, without holes, and the state that went with the last one', async () => {
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
      const { first_broken, rows: whole } = verifyRecord(rows);
      expect({ first_broken, whole, counted, lost: Math.max(0, settled - head) }).toEqual({
        first_broken: null,
        whole: head,
        counted: head,
        lost: 0,
      });
    }
    expect(settled).toBeGreaterThan(60);
  });
});
