// `weir worker`: executes runs and shares of loads requested with --workers, until stopped.
import { availableParallelism, hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { needing } from '../../core/schema/optional-package.js';
import { VERSION } from '../../core/version.js';
import { command, several, text, value } from '../../report/command/command.js';
import { stopSignal, untilStopped } from '../../report/command/interrupt.js';
import { jsonOf, threads } from '../../report/command/options.js';
import { Progress } from '../../report/command/progress.js';
import { say, warn } from '../../report/command/say.js';
import { counted } from '../../report/words.js';
import type { LoadJob } from './load-job.js';

const options = {
  store: text('the Redis to take runs from', { place: true, required: true }),
  workers: threads,
  url: several(
    value(
      'scheme, host and port of a service',
      originIn,
      'also send load to this service, for example http://10.0.0.2:7770; repeat for several',
    ),
  ),
  json: jsonOf('worker'),
};

export const worker = command({
  options,
  examples: [
    ['worker redis://127.0.0.1:6379', 'on each machine that should help'],
    ['sweep scenarios/day.yaml --set … --workers redis://127.0.0.1:6379', 'a command that uses workers'],
    ['worker rediss://:secret@queue.example:6379 --workers 4', 'with TLS and a password, on four cores'],
    ['worker redis://10.0.0.1 --url http://10.0.0.2:7770', 'a generator of load for a machine of yours'],
  ],
  more: 'Anyone who reaches that Redis can ask for runs, and for load on a --url. A worker reads no files for them. All must be of one version. Runs of a worker that is killed go to another; a load whose generator is killed is invalid. Ctrl-C ends it after what is under way, a second one at once.',
  run: async (given) => {
    const { store, workers: threads = availableParallelism(), json } = given;
    const targets = given.url ?? [];
    // As in `weir load`, whose requests it may send.
    setFlagsFromString('--no-allocation-site-pretenuring');
    const [{ takeRuns }, { generate }] = await Promise.all([
      needing('workers', import('./take-runs.js')),
      import('./generate.js'),
    ]);
    stopSignal();
    const progress = new Progress('runs made');
    let runs = 0;
    const taking = await takeRuns(store, {
      threads,
      onRun: (made) => {
        runs = made;
        progress.show(undefined, String(made));
      },
      onLoad: targets.length === 0 ? undefined : (job, client) => generate(job as LoadJob, client, targets),
      onAway: (isAway) => warn(`weir: ${isAway ? 'Redis is away; the worker waits for it' : 'Redis is back'}.\n`),
    });
    const facts = { ok: true, version: VERSION, host: hostname(), pid: process.pid, threads, targets };
    const loads = targets.length === 0 ? '' : `, and sends load to ${targets.join(', ')}`;
    const words = `takes runs, ${threads} at once${loads}; Ctrl-C ends it`;
    say(json ? `${JSON.stringify(facts)}\n` : `${words}\n`);
    await untilStopped();
    await taking.close();
    say(json ? `${JSON.stringify({ ok: true, runs })}\n` : `${counted(runs, 'run')} made\n`);
  },
});

function originIn(target: string): string | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const isService = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  return isService && url.pathname === '/' && url.search === '' && url.username === '' ? url.origin : undefined;
}
