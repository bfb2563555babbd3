// `weir sweep`: a scenario in many variants, and the value at which a condition begins to hold. The runs are in sweep-runs.ts.
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import {
  checkSeed,
  jsonOption,
  outOption,
  reportOption,
  runPlace,
  seedOption,
  watchOption,
  workersOption,
} from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', { type: 'string', demandOption: true, describe: 'scenario file (YAML or JSON)' })
    .option('set', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'a field and its values: limiter.threshold=50..200:10, or a=1,2,3; several times for several fields',
    })
    .option('samples', {
      type: 'number',
      requiresArg: true,
      describe: 'draw this number of cells instead of all combinations; ranges then need no step',
    })
    .option('sampling', {
      choices: ['latin', 'random'] as const,
      requiresArg: true,
      describe: 'how samples are drawn (default: latin, a Latin hypercube)',
    })
    .option('replications', { type: 'number', default: 1, requiresArg: true, describe: 'runs of each cell' })
    .option('threads', { type: 'number', requiresArg: true, describe: 'threads (default: one for each core)' })
    .option('workers', workersOption)
    .option('seed', seedOption)
    .option('figure', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'figure to show, for example limited or clients.retries; several times for several',
    })
    .option('find', {
      type: 'string',
      requiresArg: true,
      describe: "search for the value at which this begins to hold, for example 'limited < 1%'",
    })
    .option('over', { type: 'string', requiresArg: true, describe: 'with --find: field and range that is searched' })
    .option('plan', { type: 'boolean', default: false, describe: 'print the cells, and run nothing' })
    .option('watch', watchOption)
    .option('out', { ...outOption, describe: 'folder for the files (default: reports/<scenario>/sweep-<id>)' })
    .option('report', reportOption)
    .option('json', { ...jsonOption, describe: 'print a line of JSON for each cell' })
    .example('$0 sweep scenarios/burst.yaml --set limiter.threshold=50..200:10', 'one line, 16 cells')
    .example(
      '$0 sweep scenarios/shop.yaml --set limiter.threshold=20..60:10 --set limiter.within=30,60,120 --replications 20',
      'a heat map, with intervals',
    )
    .example("$0 sweep scenarios/day.yaml --find 'limited < 1%' --over limiter.threshold=50..500", 'by bisection')
    .example(
      '$0 sweep scenarios/day.yaml --set limiter.threshold=1..1000:1 --workers redis://10.0.0.1',
      'on every machine where weir worker runs',
    )
    .epilogue('A sweep that was stopped goes on when the same command is given again.');

export const rules: OptionRules = {
  needs: { find: ['over'], over: ['find'], sampling: ['samples'] },
  without: {
    plan: ['find'],
    threads: ['plan', 'workers'],
    workers: ['plan'],
    figure: ['plan', 'find'],
    watch: ['plan', 'find'],
    out: ['plan', 'find', 'no-report'],
    'no-report': ['plan', 'find'],
  },
};

export type GivenToSweep = GivenTo<typeof options>;

export async function run(given: GivenToSweep): Promise<void> {
  checkArguments(given);
  await (await import('./sweep-runs.js')).sweepRuns(given);
}

function checkArguments({ set = [], find, threads, workers, seed }: GivenToSweep): void {
  const refuse = (what: string, fix: string) => {
    throw new Failure('wrong_usage', { what, fix });
  };
  if (find === undefined && set.length === 0)
    refuse('Nothing is varied.', 'Name a field with its values: --set limiter.threshold=50..200:10.');
  runPlace({ threads, workers });
  checkSeed(seed);
}
