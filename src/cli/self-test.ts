// `weir self-test`: measures the published results on all cores.
import { availableParallelism } from 'node:os';
import { packageFile } from '../package-file.js';
import { type Block, right, sentence } from '../report/block.js';
import { blocksText } from '../report/terminal-blocks.js';
import { command, text, whole } from './command.js';
import { stopSignal } from './interrupt.js';
import { json } from './options.js';
import { Progress } from './progress.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

const options = {
  replications: whole(2, 100_000, 'runs of each check (default: 100 or more)'),
  check: text('one check, by its id', { place: true }),
  json,
};

export const selfTest = command({
  options,
  examples: [['self-test', 'all checks, each within 3.3 standard errors']],
  run: async (given) => {
    const { replications, check: only, json } = given;
    const [{ Piscina }, { selfTest }] = await Promise.all([import('piscina'), import('../validation/self-test.js')]);
    const threads = availableParallelism();
    const pool = new Piscina<{ check: string; seed: number; replication: number }, readonly number[]>({
      filename: packageFile('dist/worker/validate.js'),
      minThreads: threads,
      maxThreads: threads,
    });
    const signal = stopSignal();
    const progress = new Progress('self-test');
    try {
      const result = await selfTest({
        replications,
        only: only === undefined ? undefined : [only],
        atATime: threads * 2,
        signal,
        replicate: (check, seed, replication) => pool.run({ check, seed, replication }),
        onProgress: ({ check, done, total }) => progress.show(done / total, check),
      });
      process.exitCode = result.held ? 0 : 1;
      if (json) {
        say(`${JSON.stringify(result)}\n`);
        return;
      }
      const columns = ['', 'figure', ...['expected', 'measured', '+/-'].map(right)];
      const blocks = result.checks.flatMap(({ title, replications: runs, source, tolerance, rows }): Block[] => {
        const cells = rows.map((row) => [
          { text: row.held ? 'held' : 'NOT HELD', hue: row.held ? undefined : ('bad' as const) },
          `${row.name} (${row.unit})`,
          ...[row.expected, row.mean, row.standardError].map(figure),
        ]);
        const table: Block = {
          kind: 'table',
          title: `${title} (${runs} replications; ${source})`,
          columns,
          rows: cells,
        };
        return tolerance === undefined ? [table] : [table, sentence(`Tolerance: ${tolerance}.`)];
      });
      const missing: Block = {
        kind: 'table',
        title: 'Published results without a check',
        columns: ['result', 'source', 'why'],
        rows: result.notReproduced.map(({ title, source, why }) => [title, source, why]),
      };
      const words = result.held
        ? 'All published results are reproduced within 3.3 standard errors.'
        : 'Some results are not reproduced.';
      say(`${blocksText([...blocks, ...(only === undefined ? [missing] : []), sentence(words)], terminalAtHand())}\n`);
    } catch (error) {
      if (!signal.aborted) throw error;
      process.exitCode = 130;
    } finally {
      await pool.destroy();
    }
  },
});

function figure(value: number): string {
  return Number(value.toPrecision(5)).toString();
}
