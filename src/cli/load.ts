// `weir load`: runs scenarios against a live target. The runs are in load-runs.ts.
import type { Argv } from 'yargs';
import type { GivenTo, OptionRules } from './command.js';
import { liveOptions, liveOptionsOf, severalUrls } from './live-options.js';
import {
  checkSeed,
  checkTop,
  jsonOption,
  outOption,
  reportOption,
  scenariosArgument,
  seedOption,
  topOption,
  watchOption,
} from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', scenariosArgument)
    .options({ ...liveOptions, url: severalUrls })
    .option('seed', seedOption)
    .option('pacing', {
      choices: ['arrival', 'spaced', 'at once'] as const,
      requiresArg: true,
      describe: 'where in its cycle a request is sent (default: as its arrival says)',
    })
    .option('workers', {
      type: 'string',
      requiresArg: true,
      describe: 'send from remote workers instead of this machine, each a share, through this Redis: redis://host:6379',
    })
    .option('watch', watchOption)
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 load scenarios/burst.yaml', 'against a node started for the run, at full cycles')
    .example('$0 load scenarios/burst.yaml --cycle-ms 50', 'the same in seconds')
    .example('$0 load scenarios/*.yaml --url http://127.0.0.1:7770', 'against a node that runs already')
    .example(
      '$0 load scenarios/burst.yaml --url http://127.0.0.1:7771 --url http://127.0.0.1:7772',
      'nodes of one network',
    )
    .example(
      '$0 load scenarios/burst.yaml --url http://10.0.0.2:7770 --allow-remote --insecure --workers redis://10.0.0.1',
      'from many machines',
    );

export const rules: OptionRules = { without: { key: ['credential'], out: ['no-report'] } };

export type GivenToLoad = GivenTo<typeof options>;

export async function run(given: GivenToLoad): Promise<void> {
  checkSeed(given.seed);
  checkTop(given.top);
  const live = liveOptionsOf(given);
  await (await import('./load-runs.js')).loadRuns(given, live);
}
