// Runs by workers: real workers, a real Redis, and the same answers as by threads of one machine. One suite for both places where runs are made.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../../src/core/time/wall.js';
import { VERSION } from '../../../src/core/version.js';
import { openQueueClient, RUN_QUEUE, type RunAnswer, type RunJob } from '../../../src/tools/workers/run-queue.js';
import { begin, type Running, refuses, smallScenario, weir } from '../../cli/command-line.js';
import { expectAnswer } from '../../cli/json-answer.js';
import { temporaryFiles } from '../../left-behind.js';
import { hasRedis, RedisServer } from '../../node/network/redis/server.js';

const { folder, file } = temporaryFiles();
const scenario = file('small.yaml', smallScenario);
const files = ['sweep.ndjson', 'sweep.csv', 'runs.ndjson', 'runs.csv', 'sweep.json'];
const filesIn = (out: string) => files.map((name) => readFileSync(join(folder, out, name), 'utf8'));
const runsIn = (out: string) => {
  const runs = join(folder, out, 'runs.ndjson');
  return existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').length - 1 : 0;
};
const RUNS = 160;
const many = ['--set', 'limiter.threshold=2..21:1', '--replications', '8'];

describe.skipIf(!hasRedis)('weir worker', () => {
  let redis: RedisServer;
  let workers: Running[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    for (const { child } of workers) child.kill('SIGKILL');
    await Promise.all(workers.map(({ ended }) => ended));
    workers = [];
    await redis.restartIfGone();
    await redis.ask('FLUSHALL');
  });

  async function work(...more: string[]): Promise<Running> {
    const worker = begin(['worker', redis.url, '--json', ...more]);
    workers.push(worker);
    await expectAnswer(['worker'], await worker.line((line) => line.includes('"threads"')));
    return worker;
  }

  /** A sweep, with the folder for its files. */
  const sweep = (out: string, ...place: string[]) => ['sweep', scenario, ...many, '--out', join(folder, out), ...place];

  /** The files of the same sweep by threads. */
  async function filesOfThreads(): Promise<string[]> {
    if (runsIn('threads') < RUNS) expect((await weir(sweep('threads'))).code).toBe(0);
    return filesIn('threads');
  }

  async function until(holds: () => boolean, { child }: Running): Promise<void> {
    while (!holds() && child.exitCode === null) await pause(5);
    expect(child.exitCode).toBe(null);
  }

  it('simulate, a search and a map say the same by threads and by two workers', async () => {
    await Promise.all([work('--workers', '1'), work('--workers', '1')]);
    const map = '--map --set arrivals.0.rate=1..3:1 --set limiter.threshold=2..4:1 --find limited>100';
    for (const line of [
      `simulate ${scenario} --replications 12 --out none`,
      `sweep ${scenario} --find limited<1% --set limiter.threshold=1..40`,
      `sweep ${scenario} ${map} --replications 4 --out none`,
    ]) {
      const threads = await weir(`${line} --json --workers 2`);
      const asked = await weir(`${line} --json --workers ${redis.url}`);
      expect([asked.code, asked.out]).toEqual([threads.code, threads.out]);
      expect(threads.out.length).toBeGreaterThan(100);
    }
  });

  it('the runs of a worker that is killed in a sweep go to another, none counts twice, the files are the same', async () => {
    const [first] = await Promise.all([work('--workers', '1'), work('--workers', '1')]);
    const running = begin(sweep('killed', '--workers', redis.url));
    await until(() => runsIn('killed') > 10, running);
    first!.child.kill('SIGKILL');
    expect(runsIn('killed')).toBeLessThan(RUNS);
    expect(await running.ended).toBe(0);
    expect(filesIn('killed')).toEqual(await filesOfThreads());
    const lines = filesIn('killed')[2]!.trim().split('\n');
    expect([lines.length, new Set(lines).size]).toEqual([RUNS, RUNS]);
  });

  it('what Redis forgot is asked for again', async () => {
    await work('--workers', '1');
    const running = begin(sweep('forgotten', '--workers', redis.url));
    await until(() => runsIn('forgotten') > 10, running);
    await redis.kill();
    await redis.restart();
    expect(await running.ended).toBe(0);
    expect(filesIn('forgotten')).toEqual(await filesOfThreads());
  });

  it('Ctrl-C on either side ends it, and leaves nothing in Redis; the sweep goes on later', async () => {
    const worker = await work('--workers', '1');
    const running = begin(sweep('stopped', '--workers', redis.url));
    await until(() => runsIn('stopped') > 10, running);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    const jobs = async () =>
      (await redis.ask<string[]>('KEYS', '*')).filter((key) => !/:(meta|stalled-check)$/.test(key));
    expect(await jobs()).toEqual([]);
    const again = await weir(sweep('stopped', '--workers', redis.url));
    expect([again.code, again.err]).toEqual([0, expect.stringMatching(/of 160 runs are known/)]);
    worker.child.kill('SIGINT');
    expect([await worker.ended, worker.lines.at(-1)]).toEqual([0, expect.stringMatching(/^\{"ok":true,"runs":\d+\}$/)]);
    await pause(1_100);
    expect(await redis.ask('KEYS', '*')).toEqual([]);
  });

  it('a worker refuses runs of another version, and who asked says so', async () => {
    await work();
    const client = await openQueueClient(redis.url);
    const options = { connection: client, prefix: RUN_QUEUE.prefix };
    const queue = new Queue<RunJob, RunAnswer>(RUN_QUEUE.name, options);
    const events = new QueueEvents(RUN_QUEUE.name, options);
    await events.waitUntilReady();
    const task = { path: 'x.yaml', scenario: {}, seed: 1, withPeaks: false };
    const job = await queue.add('run', { weir: '0.0.0', tasks: [task] });
    expect(await job.waitUntilFinished(events)).toEqual({
      refused: expect.stringMatching(/^The worker on .+ is version .+, and 0\.0\.0 asks\.$/),
    });
    const files = [{ arrivals: [{ model: 'log', file: '/etc/passwd' }] }, { limiter: { definition: '/etc/passwd' } }];
    for (const named of files) {
      const forged = await queue.add('run', { weir: VERSION, tasks: [{ ...task, scenario: named }] });
      expect(await forged.waitUntilFinished(events)).toEqual({ refused: expect.stringContaining('names files') });
    }
    const secret = file('secret', 'a secret\n');
    const text = `question: Q?\narrivals: [{ model: log, file: ${secret} }]\nlimiter: { definition: ${secret} }\n`;
    const odd: unknown[] = [
      { tasks: [{ ...task, scenario: text }] },
      { tasks: [{ ...task, scenario: [text] }] },
      { tasks: [{ ...task, path: 7 }] },
      { tasks: [task, null] },
      { tasks: 'x' },
      { tasks: Array(17).fill(task) },
      {},
    ];
    for (const one of odd) {
      const forged = await queue.add('run', { weir: VERSION, ...(one as object) } as RunJob);
      expect(await forged.waitUntilFinished(events)).toEqual({ refused: expect.stringContaining('are objects') });
    }
    workers[0]!.child.kill('SIGKILL');
    const old = new Worker<RunJob, RunAnswer>(RUN_QUEUE.name, async () => ({ refused: 'It is older.' }), options);
    const { code, err } = await weir(['simulate', scenario, '--replications', '4', '--workers', redis.url]);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('A worker refused a run. [worker_failed]\n  why  It is older.'),
    ]);
    await Promise.all([old.close(), events.close(), queue.close()]);
    client.destroy();
  });

  it('without Redis nobody waits for long, and without a worker it is said', async () => {
    const away = /The workers cannot be asked\. \[store_away\]/;
    const running = begin(sweep('away', '--workers', redis.url));
    await until(() => running.errors().includes('No worker takes runs now.'), running);
    await redis.kill();
    expect([await running.ended, running.errors()]).toEqual([5, expect.stringMatching(away)]);
    const [asks, works] = await Promise.all([weir(sweep('away', '--workers', redis.url)), weir(['worker', redis.url])]);
    expect([asks.code, asks.err, works.code, works.err]).toEqual([
      5,
      expect.stringMatching(away),
      5,
      expect.stringMatching(away),
    ]);
  });

  refuses(
    ['sweep', scenario, '--set', 'limiter.threshold=2,3', '--out', 'none'],
    [
      [['--workers', 'redis://127.0.0.1:1', '--workers', '2'], '--workers was given more than once'],
      [['--workers', 'redis+cluster://127.0.0.1:1'], 'one server of Redis'],
      [['--workers', 'http://127.0.0.1:1'], 'cannot be read'],
    ],
  );

  it('a scenario that reads a log is not sent to workers', async () => {
    file('log.csv', 'time\n1000000000\n1000000001\n');
    const byLog = 'question: Q?\narrivals: [{ model: log, file: log.csv, time_column: time }]\n';
    const logged = file('logged.yaml', byLog);
    const { code, err } = await weir(`simulate ${logged} --replications 2 --workers ${redis.url} --out none`);
    expect([code, err]).toEqual([2, expect.stringContaining('reads a log, which workers do not have')]);
  });
});
