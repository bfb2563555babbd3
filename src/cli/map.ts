// `weir map`: where a service stays stuck after a trigger has gone. The runs are in map-runs.ts.
import type { Argv } from 'yargs';
import type { GivenTo, OptionRules } from './command.js';
import { checkSeed, jsonOption, outOption, reportOption, runPlace, seedOption, workersOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', { type: 'string', demandOption: true, describe: 'scenario file (YAML or JSON)' })
    .option('across', {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'field and values of the load, for example arrivals.0.rate=2/s..9/s:1/s',
    })
    .option('up', {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'field and values of the trigger, for example arrivals.1.rate=0/s..40/s:5/s',
    })
    .option('set', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'policies to compare, for example clients.0.max_attempts=1,3; a map for each',
    })
    .option('stuck', {
      type: 'string',
      default: 'clients.succeeded < clients.jobs / 2',
      requiresArg: true,
      describe: 'when a run counts as stuck; set warm_up in the scenario to measure after the trigger',
    })
    .option('cure', {
      type: 'string',
      array: true,
      nargs: 1,
      describe:
        'a change that may cure the scenario as written, its values from weak to strong: limiter.threshold=400,300,200',
    })
    .option('replications', {
      type: 'number',
      default: 20,
      requiresArg: true,
      describe: 'runs per border cell; other cells get 4, or 0 where all neighbours agree',
    })
    .option('threads', { type: 'number', requiresArg: true, describe: 'threads (default: one for each core)' })
    .option('workers', workersOption)
    .option('seed', seedOption)
    .option('out', { ...outOption, describe: 'folder for the files (default: reports/<scenario>/map-<id>)' })
    .option('report', reportOption)
    .option('json', jsonOption)
    .example(
      '$0 map scenarios/metastable.yaml --across arrivals.0.rate=1/s..9/s:1/s --up arrivals.1.rate=0/s..40/s:5/s --set clients.0.max_attempts=1,3',
      'one attempt, or three',
    )
    .example(
      '$0 map scenarios/metastable.yaml --across … --up … --cure limiter.threshold=500,400,300 --cure clients.0.max_attempts=2,1',
      'what brings it back, and what that costs',
    )
    .example(
      '$0 map scenarios/outage.yaml --across arrivals.0.rate=100/s..300/s:50/s --up faults.0.to=6s..16s:5s --replications 4',
      'a published example: stable below 150/s, vulnerable above',
    );

export const rules: OptionRules = { without: { threads: ['workers'], out: ['no-report'] } };

export type GivenToMap = GivenTo<typeof options>;

export async function run(given: GivenToMap): Promise<void> {
  checkSeed(given.seed);
  runPlace(given);
  await (await import('./map-runs.js')).mapRuns(given);
}
