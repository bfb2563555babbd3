// `weir self-test`: measures the published results on all cores, and prints expected and measured figures.
import { availableParallelism } from 'node:os';
import type { Argv } from 'yargs';
import { alignedTable } from '../report/terminal-text.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo } from './command.js';
import { interruptible } from './interrupt.js';
import { jsonOption } from './options.js';
import { Progress } from './progress.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .option('replications', {
      type: 'number',
      requiresArg: true,
      describe: 'runs of each check (default: 100 or more)',
    })
    .option('only', { type: 'string', requiresArg: true, describe: 'one check, by its id' })
    .option('json', jsonOption)
    .example('$0 self-test', 'all checks, each within 3.3 standard errors');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
  const { replications, only, json } = given;
  if (replications !== undefined && !(Number.isInteger(replications) && replications >= 2)) {
    throw new Failure('wrong_usage', {
      what: '--replications takes a whole number from 2 on.',
      fix: 'Leave it out for the published check.',
    });
  }
  const [{ Piscina }, { selfTest }] = await Promise.all([import('piscina'), import('../validation/self-test.js')]);
  const threads = availableParallelism();
  const pool = new Piscina<{ check: string; seed: number; replication: number }, readonly number[]>({
    filename: new URL('../validation/worker.js', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
  });
  const { signal, release } = interruptible();
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
    progress.clear();
    process.exitCode = result.held ? 0 : 1;
    if (json) {
      say(`${JSON.stringify(result)}\n`);
      return;
    }
    const terminal = terminalAtHand();
    const columns = [
      { title: '' },
      { title: 'figure' },
      { title: 'expected', right: true },
      { title: 'measured', right: true },
      { title: '+/-', right: true },
    ];
    for (const check of result.checks) {
      say(`${check.title} (${check.replications} replications; ${check.source})\n`);
      const rows = check.rows.map((row) => [
        row.held ? 'held' : 'NOT HELD',
        `${row.name} (${row.unit})`,
        figure(row.expected),
        figure(row.mean),
        figure(row.standardError),
      ]);
      say(`${alignedTable(columns, rows, terminal.columns).join('\n')}\n\n`);
    }
    say(
      result.held
        ? 'All published results are reproduced within 3.3 standard errors.\n'
        : 'Some results are not reproduced.\n',
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    progress.clear();
    process.exitCode = 130;
  } finally {
    release();
    await pool.destroy();
  }
}

function figure(value: number): string {
  return Number(value.toPrecision(5)).toString();
}
