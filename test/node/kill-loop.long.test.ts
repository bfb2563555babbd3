// A node is killed under load, again and again, and each time the next one must know all that was acknowledged.
// WEIR_KILLS=100 kills each of the two so often; the suite does it a few times.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve, temporaryFolder } from '../cli/command-line.js';
import { after, compare, type Findings, firstAnswer, type Kept, prepare, startLoad } from './under-load.js';

const KILLS = Number(process.env['WEIR_KILLS'] ?? 3);
/** How often it is killed at most, for each time that it should be. */
const MOST = 5;
const TIMEOUT_MS = 60_000 + MOST * KILLS * 15_000;

it.each([
  ['cycle', []],
  ['strict', []],
  ['cycle', ['--keep', 'rows=5']],
] as const)(
  `no acknowledged row is lost by ${KILLS} kills under load, no chain broken, counts as promised: %s %j`,
  async (durability, more) => {
    const data = join(temporaryFolder(), 'data');
    const restartMs: number[] = [];
    let kept: Kept | undefined;
    const found: Findings[] = [];
    let rows = 0;
    // A busy machine makes few rows between two kills: then more are needed to have something to lose, and to cut.
    const isShort = () => rows <= KILLS || (more.length > 0 && !found.some(({ removed }) => removed > 0));
    for (let kill = 0; kill < KILLS || (isShort() && kill < MOST * KILLS); kill += 1) {
      const startMs = performance.now();
      const node = await serve(['--data', data, '--durability', durability, ...more]);
      restartMs.push(performance.now() - startMs);
      kept ??= await prepare(node);
      const known = kept;
      found.push(await compare(node, known));
      const load = startLoad(node, known);
      await firstAnswer(known);
      // At another place of the cycle each time, some cycles later.
      await after((kill * 137) % 450);
      await node.stop('SIGKILL');
      await load;
      rows = Math.max(rows, ...known.hashes.keys());
    }
    const last = await serve(['--data', data, '--durability', durability, ...more]);
    if (kept !== undefined) found.push(await compare(last, kept));

    const lostCounts = found.map(({ forgottenCycles }) => forgottenCycles);
    process.stdout.write(
      `kill loop, ${durability}: ${KILLS} kills, ${rows} rows acknowledged; ` +
        `restarts ${Math.round(Math.max(...restartMs))} ms at most, ${Math.round(medianOf(restartMs))} ms in the middle; ` +
        `cycles of counts forgotten: ${Math.max(...lostCounts)} at most\n`,
    );
    expect({
      broken: found.filter(({ valid }) => !valid).length,
      lostRows: found.reduce((sum, { lostRows }) => sum + lostRows, 0),
      inventedCounts: found.filter(({ invented }) => invented).length,
      // Of the running cycle at most, and with strict durability of none.
      forgotAsPromised: Math.max(...lostCounts) <= (durability === 'strict' ? 0 : 1),
      hasRows: rows > KILLS,
      hasCuts: found.some(({ removed }) => removed > 0),
    }).toEqual({
      broken: 0,
      lostRows: 0,
      inventedCounts: 0,
      forgotAsPromised: true,
      hasRows: true,
      hasCuts: more.length > 0,
    });
  },
  TIMEOUT_MS,
);

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
