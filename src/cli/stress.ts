// `weir stress`: saturates a node. The rounds and their figures are in stress-rounds.ts.
import type { Argv } from 'yargs';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import type { GivenTo, OptionRules } from './command.js';
import { liveOptions, liveOptionsOf, severalUrls } from './live-options.js';
import { jsonOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .options({
      ...liveOptions,
      url: severalUrls,
      'cycle-ms': {
        ...liveOptions['cycle-ms'],
        describe: `length of a cycle of that node in ms (default: ${CYCLE_MS})`,
      },
    })
    .option('workers', {
      type: 'number',
      requiresArg: true,
      describe: 'additional threads that send requests (default: 0)',
    })
    .option('seconds', { type: 'number', requiresArg: true, describe: 'length of a round in seconds (default: 3)' })
    .option('rounds', { type: 'number', requiresArg: true, describe: 'rounds of which the median counts (default: 3)' })
    .option('p99', {
      type: 'string',
      requiresArg: true,
      describe: 'also search for the highest rate whose 99th percentile stays below this, for example 20ms',
    })
    .option('json', jsonOption)
    .example('$0 stress', 'how much a node on this machine holds')
    .example('$0 stress --url http://127.0.0.1:7770 --connections 200', 'a node that runs already')
    .example('$0 stress --url http://127.0.0.1:7771 --url http://127.0.0.1:7772', 'nodes of one network')
    .example('$0 stress --p99 20ms', 'and the highest rate that is still quick');

export const rules: OptionRules = {
  needs: { credential: ['url'], key: ['url'], 'allow-remote': ['url'], insecure: ['url'] },
  without: { key: ['credential'] },
};

export async function run(given: GivenTo<typeof options>): Promise<void> {
  const { workers, seconds, rounds, json } = given;
  const asked = {
    ...liveOptionsOf(given),
    ...(workers === undefined ? {} : { workers }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(rounds === undefined ? {} : { rounds }),
    ...(given.p99 === undefined ? {} : { p99Ms: parseTimeMs(given.p99, CYCLE_MS, '--p99', 1) }),
  };
  await (await import('./stress-rounds.js')).stressRounds(asked, json);
}
