// `weir worker`: makes runs and sends shares of loads that are asked for with --workers, until it is stopped.
import { availableParallelism, hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Argv } from 'yargs';
import type { LoadJob } from '../live/load-job.js';
import { counted } from '../report/words.js';
import { VERSION } from '../version.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { aborted, interruptible } from './interrupt.js';
import { checkThreads, jsonOption } from './options.js';
import { Progress } from './progress.js';
import { say, warn } from './say.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('redis', { type: 'string', demandOption: true, describe: 'the Redis to take runs from' })
    .option('threads', {
      type: 'number',
      requiresArg: true,
      describe: 'how many runs at once (default: one for each core)',
    })
    .option('target', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'also send load, to this service, for example http://10.0.0.2:7770; once for each',
    })
    .option('json', jsonOption)
    .example('$0 worker redis://127.0.0.1:6379', 'on each machine that should help')
    .example('$0 sweep scenarios/day.yaml --set … --workers redis://127.0.0.1:6379', 'who asks for runs')
    .example('$0 worker rediss://:secret@queue.example:6379 --threads 4', 'with TLS and a password, on four cores')
    .example('$0 worker redis://10.0.0.1 --target http://10.0.0.2:7770', 'a generator of load for a machine of yours')
    .epilogue(
      'Anyone who reaches that Redis can ask for runs, and for load on a --target. A worker reads no files for them. All must be of one version. Runs of a worker that is killed go to another; a load whose generator is killed is invalid. Ctrl-C ends it after what is under way, a second one at once.',
    );

export async function run(given: GivenTo<typeof options>): Promise<void> {
  const { redis, threads = availableParallelism(), json } = given;
  checkThreads(threads);
  const targets = (given.target ?? []).map(originIn);
  // As `weir load` does, whose requests it may send.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const [{ takeRuns }, { generate }] = await Promise.all([
    import('../simulate/take-runs.js'),
    import('../live/generate.js'),
  ]);
  const { signal, release } = interruptible();
  const progress = new Progress('runs made');
  const note = (words: string) => {
    progress.clear();
    warn(`weir: ${words}\n`);
  };
  let runs = 0;
  const taking = await takeRuns(redis, {
    threads,
    onRun: (made) => {
      runs = made;
      progress.show(undefined, String(made));
    },
    onLoad: targets.length === 0 ? undefined : (job, client) => generate(job as LoadJob, client, targets),
    onAway: (isAway) => note(isAway ? 'Redis is away; the worker waits for it.' : 'Redis is back.'),
  });
  const facts = { ok: true, version: VERSION, host: hostname(), pid: process.pid, threads, targets };
  const loads = targets.length === 0 ? '' : `, and sends load to ${targets.join(', ')}`;
  const words = `takes runs, ${threads} at once${loads}; Ctrl-C ends it`;
  say(json ? `${JSON.stringify(facts)}\n` : `${words}\n`);
  await aborted(signal);
  progress.clear();
  await taking.close();
  release();
  say(json ? `${JSON.stringify({ ok: true, runs })}\n` : `${counted(runs, 'run')} made\n`);
}

/** @throws Failure `wrong_usage` */
function originIn(target: string): string {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const isService = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  if (isService && url.pathname === '/' && url.search === '' && url.username === '') return url.origin;
  throw usageFailure(
    `--target takes scheme, host and port of a service, not "${target}".`,
    'For example http://127.0.0.1:7770: every path there may be asked.',
  );
}
