// `weir simulate`: runs scenarios in virtual time. The runs are in simulate-runs.ts.
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import {
  checkSeed,
  checkTop,
  jsonOption,
  outOption,
  reportOption,
  runPlace,
  scenariosArgument,
  seedOption,
  topOption,
  watchOption,
  workersOption,
} from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', scenariosArgument)
    .option('seed', seedOption)
    .option('replications', {
      type: 'number',
      requiresArg: true,
      describe: 'number of runs on all cores: with the seed, then with seed/1, seed/2, …',
    })
    .option('threads', {
      type: 'number',
      requiresArg: true,
      describe: 'threads for replications (default: one for each core)',
    })
    .option('workers', workersOption)
    .option('inspect', {
      type: 'string',
      describe:
        'write every message between actors, and a sequence diagram: trace.ndjson and trace.mmd in the report folder, or the .ndjson file named',
    })
    // The former name of --inspect FILE.
    .option('trace', { type: 'string', requiresArg: true, hidden: true })
    .option('until', {
      type: 'string',
      requiresArg: true,
      describe: 'stop at the end of this cycle (120, or 93s from the start), and show what every actor is doing',
    })
    .option('watch', watchOption)
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 simulate scenarios/burst.yaml', 'one scenario, with its report')
    .example('$0 simulate scenarios/*.yaml', 'all of them, in one table')
    .example('$0 simulate scenarios/day.yaml --replications 20', 'with 95 % intervals')
    .example('$0 simulate scenarios/day.yaml --replications 2000 --workers redis://10.0.0.1', 'on many machines')
    .example('$0 simulate scenarios/herd.yaml --until 160 --inspect', 'what the actors send each other');

export const rules: OptionRules = {
  needs: { threads: ['replications'], workers: ['replications'] },
  without: { threads: ['workers'], until: ['replications'], trace: ['inspect'], out: ['no-report'] },
};

export type GivenToSimulate = GivenTo<typeof options>;

export async function run(given: GivenToSimulate): Promise<void> {
  checkArguments(given);
  await (await import('./simulate-runs.js')).simulateRuns(given);
}

function checkArguments(given: GivenToSimulate): void {
  const { scenario, inspect, trace = inspect, report, replications, seed, top } = given;
  const refuse = (what: string, fix: string) => {
    throw new Failure('wrong_usage', { what, fix });
  };
  if (trace && scenario.length > 1)
    refuse('A trace in a file of its own takes one scenario at a time.', 'Name one scenario, or no file.');
  // `--inspect day.yaml` would otherwise write the trace over a scenario.
  if (inspect && !/\.(ndjson|jsonl)$/.test(inspect))
    refuse(`--inspect takes a file whose name ends with .ndjson, and not "${inspect}".`, 'Put --inspect at the end.');
  if (trace === '' && !report)
    refuse('--inspect writes into the report folder, and --no-report leaves it out.', 'Say --inspect trace.ndjson.');
  if (replications !== undefined && !(Number.isInteger(replications) && replications >= 2 && replications <= 100_000)) {
    refuse('--replications takes a whole number from 2 to 100000.', 'For example --replications 20.');
  }
  runPlace(given);
  checkSeed(seed);
  checkTop(top);
}
