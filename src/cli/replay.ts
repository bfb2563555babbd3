// `weir replay`: logs through a limiter: what would have been refused. The runs are in replay-runs.ts.
import type { Argv } from 'yargs';
import { families } from '../limiter/products/families.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import { LIMITERS, limiterGiven, limiterNeeds, limiterOptions, windowOf } from './limiter-options.js';
import { liveOptions } from './live-options.js';
import { checkTop, cycleMsOf, jsonOption, outOption, reportOption, topOption, windowsIn } from './options.js';
import { logOptions, readingOptions } from './replay-log.js';

/** Options that are not those of a product with a parameter of the same name. */
export const OWN = ['key', 'policy'];

export const options = (yargs: Argv) =>
  limiterOptions(readingOptions(yargs), OWN)
    .option('threshold', {
      type: 'number',
      default: 100,
      requiresArg: true,
      describe: 'request events a window may hold',
    })
    .option('within', {
      type: 'string',
      default: '60',
      requiresArg: true,
      describe: 'length of the rolling window in cycles, or as a time: 47s, 5m',
    })
    .option('refused', {
      type: 'string',
      requiresArg: true,
      describe: 'file for the lines that would have been refused, NDJSON',
    })
    .option('compare', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe: `rules side by side, fitted to --threshold in --within: ${Object.keys(families).join(',')}`,
    })
    .option('policy', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe:
        'twice, a file with a limiter each: who is newly refused by the second, with exit code 1 if somebody is',
    })
    .option('live', {
      type: 'boolean',
      default: false,
      describe: 'send the log to a live node at its recorded times, and compare',
    })
    .option('url', { type: 'string', requiresArg: true, describe: 'with --live: the node (default: one is started)' })
    .option('speed', { type: 'number', default: 1, requiresArg: true, describe: 'with --live: speed-up factor' })
    .option('allow-remote', {
      type: 'boolean',
      default: false,
      describe: 'with --live: the target may be another machine',
    })
    .option('credential', {
      type: 'string',
      requiresArg: true,
      describe: 'with --live: a key of the node (default: WEIR_KEY, or one is minted)',
    })
    .option('insecure', { ...liveOptions.insecure, describe: `with --live: ${liveOptions.insecure.describe}` })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 replay access.log', 'an Apache or nginx log through 100 requests in 60 cycles')
    .example('$0 replay access.log.gz --key client --threshold 20', 'one limiter for each client')
    .example('$0 replay access.log --key client --like nginx --rate 10r/s --burst 5', 'what nginx would have refused')
    .example('$0 replay access.log --key client --threshold 20 --compare weir,gcra,fixed', 'rules side by side')
    .example(
      '$0 replay access.log --key client --policy old.yaml --policy new.yaml',
      'which clients would newly be refused',
    )
    .example('$0 replay access.log --live --speed 60', 'send it to a live node, sixty times as fast, and compare')
    .example('$0 replay access.log --where method=POST --key path --refused refused.ndjson', 'which requests it hits')
    .example('$0 replay counts.csv --time-column minute --count-column n --spread 60s', 'counts per minute');

export const rules: OptionRules = {
  needs: {
    ...limiterNeeds(OWN),
    url: ['live'],
    speed: ['live'],
    credential: ['url'],
    'allow-remote': ['url'],
    insecure: ['url'],
  },
  without: {
    // A limiter of its own has no window of the command, and neither have policies.
    threshold: [...LIMITERS, 'policy'],
    within: [...LIMITERS, 'policy'],
    compare: [...LIMITERS, 'policy', 'live', 'refused'],
    policy: [...LIMITERS, 'live', 'refused'],
    top: ['compare'],
    'key-column': ['key'],
    out: ['no-report'],
  },
};

/** With the length of a cycle that the windows want. */
export type GivenToReplay = GivenTo<typeof options> & {
  readonly cycleMs: number;
  readonly askedCycleMs: number | undefined;
};

export async function run(asked: GivenTo<typeof options>): Promise<void> {
  checkTop(asked.top);
  const limiter = await limiterGiven(asked, OWN);
  const given = {
    ...asked,
    askedCycleMs: asked.cycleMs,
    cycleMs: cycleMsOf(asked.cycleMs, [windowOf(limiter) ?? asked.within]),
  };
  const {
    cycles: [within = 1],
    notes,
  } = windowsIn('within', [given.within], given.cycleMs);
  const log = logOptions(given);
  checkRefused(given, limiter !== undefined);
  if (given.compare !== undefined || given.policy !== undefined) {
    await (await import('./replay-compare.js')).replayCompare(given, within, log, notes);
    return;
  }
  if (given.live && !(given.speed > 0 && given.speed <= 1_000_000)) {
    throw new Failure('wrong_usage', {
      what: '--speed takes a number above 0, up to 1000000.',
      fix: 'For example --speed 10.',
    });
  }
  await (await import('./replay-runs.js')).replayRuns(given, within, limiter, log, notes);
}

function checkRefused({ refused, log, live }: GivenToReplay, hasRule: boolean): void {
  if (refused === undefined) return;
  if (hasRule) {
    throw new Failure('wrong_usage', {
      what: '--refused does not go with a rule.',
      why: 'It knows how many were refused in a cycle, and a rule may admit one after another that it refused.',
      fix: 'Leave it out, or decide the requests one by one with `weir decide`.',
    });
  }
  const why = live
    ? 'A live node refuses on its own.'
    : 'The log is read twice for it, and standard input can be read once.';
  if (!live && !log.includes('-')) return;
  throw new Failure('wrong_usage', {
    what: `--refused does not go with ${live ? '--live' : 'standard input'}.`,
    why,
    fix: live ? 'Leave out --live.' : 'Save the log in a file first.',
  });
}
