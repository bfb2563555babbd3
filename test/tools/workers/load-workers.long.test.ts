// `weir load --workers`: real generators, a real Redis, real nodes, and what becomes of the run when one of them is killed, stopped or wrong.
import { Worker } from 'bullmq';
import { lastValueFrom, tap } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../../src/core/time/wall.js';
import { VERSION } from '../../../src/core/version.js';
import { load$, toResult } from '../../../src/harness/live/load.js';
import type { Outcome } from '../../../src/harness/outcome/outcome-schema.js';
import { loadScenario } from '../../../src/harness/scenario/load-scenario.js';
import { keysOf, type LoadJob } from '../../../src/tools/workers/load-job.js';
import { LOAD_QUEUE, openQueueClient, RUN_QUEUE } from '../../../src/tools/workers/run-queue.js';
import { begin, type Running, type Serving, serve, weirHere } from '../../cli/command-line.js';
import { startApp } from '../../harness/live/gateway-servers.js';
import { startSmallNode } from '../../harness/live/wrong-node.js';
import { temporaryFiles } from '../../left-behind.js';
import { hasRedis, RedisServer } from '../../node/network/redis/server.js';

interface Worked extends Running {
  /** Its host and process, as the results name it. */
  readonly name: string;
}

const { file } = temporaryFiles();
const CYCLE_MS = 200;

function scenario(name: string, cycles: number, more = ''): string {
  const arrivals = 'arrivals: [{ model: poisson, rate: 12 }]';
  const limiter = 'limiter: { threshold: 40, within: 5 }';
  return file(`${name}.yaml`, `question: Q?\nduration: ${cycles}\n${limiter}\n${arrivals}\n${more}`);
}

describe.skipIf(!hasRedis)('weir load --workers', () => {
  let redis: RedisServer;
  let node: Serving;
  let wrongNode: Awaited<ReturnType<typeof startSmallNode>>;
  /** Those that a test leaves well serve the next one too: each starts and warms up for two seconds of processor time. */
  let workers: Worked[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
    node = await serve(['--store', 'memory', '--cycle-ms', String(CYCLE_MS)]);
    wrongNode = await startSmallNode(CYCLE_MS, { windowBy: 1 });
  });
  afterAll(() => kill(...workers));
  afterEach(async () => {
    await redis.restartIfGone();
    await redis.ask('FLUSHALL');
  });

  async function work(env: NodeJS.ProcessEnv = {}): Promise<Worked> {
    const targets = ['--url', node.url, '--url', wrongNode.url];
    const running = begin(['worker', redis.url, '--json', '--workers', '1', ...targets], env);
    const { host, pid } = JSON.parse(await running.line((line) => line.includes('"threads"')));
    const worker = { ...running, name: `${host}/${pid}` };
    workers.push(worker);
    return worker;
  }

  /** So many workers, all of them free; the others are ended. */
  async function works(count: number): Promise<readonly Worked[]> {
    const others = workers.splice(count);
    for (const { child } of others) child.kill('SIGINT');
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual(others.map(() => 0));
    await Promise.all(Array.from({ length: count - workers.length }, () => work()));
    return workers;
  }

  async function kill(...lost: readonly Worked[]): Promise<void> {
    workers = workers.filter((one) => !lost.includes(one));
    for (const { child } of lost) child.kill('SIGKILL');
    await Promise.all(lost.map(({ ended }) => ended));
  }

  const args = (path: string, ...more: string[]) => [
    ...['load', path, '--url', node.url, '--workers', redis.url, '--out', 'none', ...more],
  ];
  const outcomeOf = (out: string): Outcome => JSON.parse(out);
  const beginLoad = (name: string, cycles: number) => begin(args(scenario(name, cycles), '--json'));
  const outcomeOfLoad = (running: Running) => outcomeOf(running.lines.join('\n'));

  /** Resolves once something of a load that is under way has been counted. */
  async function counted(): Promise<void> {
    const total = async () =>
      [
        ...(await (await fetch(`${node.url}/metrics`)).text()).matchAll(/^weir_decisions_total\{[^}]*\} (\d+)/gm),
      ].reduce((sum, [, n]) => sum + Number(n), 0);
    const before = await total();
    while ((await total()) === before) await pause(20);
  }

  it('generators send the very schedule of one, and find what that finds; a clock an hour off is no matter', async () => {
    const hourOff = `data:text/javascript,${encodeURIComponent('const now = Date.now; Date.now = () => now() + 3_600_000;')}`;
    const [one, two] = await works(2);
    const names = [one, two, await work({ NODE_OPTIONS: `--import=${hourOff}` })].map((worker) => worker!.name);
    const path = scenario('plain', 20);
    const ran = await weirHere(args(path, '--json'));
    const alone = await weirHere(['load', path, '--url', node.url, '--out', 'none', '--json']);
    const [shared, single] = [ran, alone].map(({ out }) => outcomeOf(out)) as [Outcome, Outcome];
    const planned = ({ live, first_cycle }: Outcome) =>
      live!.by_cycle.flatMap(({ cycle, planned: n }) => (n === 0 ? [] : [[cycle - first_cycle!, n]]));
    expect(planned(shared)).toEqual(planned(single));
    expect([shared.live!.sent, shared.live!.answered, shared.comparison!.differences_total]).toEqual([
      single.live!.planned,
      single.live!.planned,
      0,
    ]);
    for (const name of names) expect(shared.live!.target).toContain(name);
    // A machine too busy to send in time makes a run invalid, and then by name.
    const { verdict, reason } = shared.comparison!;
    expect([ran.code, verdict, reason]).toEqual(
      verdict === 'agrees'
        ? [0, 'agrees', expect.stringContaining(`All ${single.live!.planned} decisions`)]
        : [4, 'run invalid', expect.stringMatching(/fell behind|requests were sent in a later cycle|saturated/)],
    );
    expect(alone.code).not.toBe(3);
    expect((await redis.ask<string[]>('KEYS', 'weir:load:*')).filter((key) => !key.endsWith(':said'))).toEqual([]);
  });

  it('generators share out the keys of one contract as contracts, and rows have what all of them send', async () => {
    await works(2);
    const keyed = 'keyed: { max_keys: 20 }\ncontracts: 12\n';
    const sent: number[] = [];
    const rows = load$(await loadScenario(scenario('keyed', 12, keyed)), {
      url: node.url,
      workers: { redis: redis.url },
    });
    const { observed } = await lastValueFrom(
      rows.pipe(
        tap(({ totals }) => sent.push(totals.requests)),
        toResult(),
      ),
    );
    const { live, comparison, contracts } = observed.outcome;
    expect([live!.answered, comparison!.differences_total, contracts]).toEqual([live!.planned, 0, 12]);
    // An answer that comes after its cycle has closed is in no row.
    expect(sent.reduce((sum, n) => sum + n)).toBeLessThanOrEqual(live!.planned);
    expect(sent.filter((n) => n > 0).length).toBeGreaterThan(2);
  });

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'a generator that is lost (%s) makes the run invalid by name, at once',
    async (signal) => {
      const [lost] = await works(2);
      const { name, child } = lost!;
      const running = beginLoad('lost', 100_000);
      await counted();
      child.kill(signal);
      expect(await running.ended).toBe(4);
      await kill(lost!);
      const { comparison, partial } = outcomeOfLoad(running);
      expect([comparison!.verdict, comparison!.reason, partial]).toEqual([
        'run invalid',
        expect.stringContaining(`Generator ${name} was lost`),
        true,
      ]);
      if (signal === 'SIGSTOP') return;
      // The other one is free again.
      const { code, out } = await weirHere(args(scenario('again', 3), '--json'));
      expect([0, 4]).toContain(code);
      expect(outcomeOf(out).live!.target).not.toContain(name);
    },
  );

  it('a generator that fell behind makes the run invalid by name', async () => {
    const [slow] = await works(2);
    const { name, child } = slow!;
    const running = beginLoad('behind', 20);
    await counted();
    child.kill('SIGSTOP');
    await pause(1_500);
    child.kill('SIGCONT');
    expect(await running.ended).toBe(4);
    const { reason } = outcomeOfLoad(running).comparison!;
    expect(reason).toContain(`Generator ${name} fell behind`);
  });

  it('Ctrl-C stops all, and the result is partial', async () => {
    await works(2);
    const running = beginLoad('stopped', 100_000);
    await counted();
    await pause(500);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    const { live, partial, comparison } = outcomeOfLoad(running);
    expect([partial, live!.answered + live!.failed + live!.timed_out, comparison!.differences_total]).toEqual([
      true,
      live!.sent,
      0,
    ]);
    expect(live!.sent).toBeGreaterThan(0);
    const before = await (await fetch(`${node.url}/metrics`)).text();
    await pause(600);
    const of = (text: string) => text.split('\n').filter((line) => line.startsWith('weir_decisions_total'));
    expect(of(await (await fetch(`${node.url}/metrics`)).text())).toEqual(of(before));
  });

  it('generators stop when who asked is killed, and take the next load', async () => {
    await works(2);
    const running = beginLoad('orphan', 100_000);
    await counted();
    running.child.kill('SIGKILL');
    await running.ended;
    const { code, out } = await weirHere(args(scenario('next', 3), '--json'));
    expect([0, 4]).toContain(code);
    const { answered, planned } = outcomeOf(out).live!;
    expect(answered).toBe(planned);
  });

  it('a node that limits otherwise is accused, as by one generator', async () => {
    await works(2);
    const place = ['--url', wrongNode.url, '--workers', redis.url, '--out', 'none', '--json'];
    const { code, out } = await weirHere(['load', scenario('wrong', 12), ...place]);
    expect([code, JSON.parse(out).comparison.verdict]).toEqual([3, 'node differs']);
  });

  it('a worker asks nothing of a service that it was not started for, reads no file, and takes no share of another version, from any queue', async () => {
    const other = await startApp();
    const [{ name: worker }] = (await works(1)) as [Worked];
    const connection = await openQueueClient(redis.url);
    const { Queue } = await import('bullmq');
    const queue = new Queue<object>(LOAD_QUEUE, { connection, prefix: RUN_QUEUE.prefix });
    const plain = { question: 'Q?', duration: 3, arrivals: [{ model: 'constant', rate: 1 }], target: { path: '/' } };
    const job = {
      ...{ weir: VERSION, path: 'x.yaml', seed: 1, cycleMs: CYCLE_MS, index: 0, of: 1, url: node.url },
      ...{ scenario: plain, connect: { allowRemote: true, insecure: true } },
    };
    const log = { model: 'log', file: '/etc/passwd', time_column: 'root' };
    const forged: Record<string, [more: object, words: RegExp]> = {
      'another port': [{ url: other.url }, /^Nothing was sent to .*sends load only to/],
      'another name': [{ url: node.url.replace('127.0.0.1', 'localhost') }, /sends load only to/],
      'another port beside it': [{ connect: { alsoUrls: [other.url] } }, /sends load only to/],
      'no URL': [{ url: 7 }, /^Nothing was sent to 7\./],
      'a text': [{ scenario: `question: Q?\nlimiter: { definition: /etc/passwd }\narrivals: []\n` }, /not an object/],
      'a definition': [{ scenario: { ...plain, limiter: { definition: '/etc/passwd' } } }, /does not read/],
      'a log': [{ scenario: { ...plain, arrivals: [log] } }, /does not read/],
      'another version': [{ weir: '0.0.0' }, /^The worker on .+ is version .+, and 0\.0\.0 asks\.$/],
    };
    const said: Record<string, { readonly words: string }> = {};
    for (const [name, [more]] of Object.entries(forged)) {
      await connection.set(keysOf(name).state, JSON.stringify({ state: 'stop' }));
      await queue.add('load', { ...job, run: name, ...more });
      let text = await connection.lPop(keysOf(name).messages);
      for (; text === null; text = await connection.lPop(keysOf(name).messages)) await pause(20);
      said[name] = JSON.parse(text);
    }
    expect(said).toEqual(
      Object.fromEntries(
        Object.entries(forged).map(([name, [, words]]) => {
          const message = { from: 0, name: worker, type: 'failed', words: expect.stringMatching(words) };
          return [name, expect.objectContaining(message)];
        }),
      ),
    );
    expect(said['another version']).toHaveProperty('fix', 'Let all workers be of version 0.0.0.');
    expect(JSON.stringify(said)).not.toContain('root:');
    expect(other.asked).toEqual([]);
    await Promise.all([queue.close(), other.close()]);
    connection.destroy();
  });

  it.each(['http://127.0.0.1:1/path', 'file:///etc/passwd', 'x', 'http://me@127.0.0.1:1'])(
    'a target is a service: %s is refused',
    async (target) => {
      const { code, err } = await weirHere(['worker', redis.url, '--url', target]);
      expect([code, err]).toEqual([2, expect.stringContaining('--url takes scheme, host and port')]);
    },
  );

  it('without Redis, or when it goes away, who asked is told', async () => {
    await works(1);
    const running = begin(args(scenario('away', 100_000)));
    await counted();
    await redis.kill();
    expect([await running.ended, running.errors()]).toEqual([5, expect.stringContaining('[store_away]')]);
    await kill(...workers);
  });

  it('what cannot be is refused in words: other versions, other machines, clients, no worker', async () => {
    const path = scenario('refused', 5);
    // A worker without a target takes no loads.
    await works(0);
    const runsOnly = begin(['worker', redis.url, '--json', '--workers', '1']);
    await runsOnly.line((line) => line.includes('"threads"'));
    const none = await weirHere(args(path));
    expect([none.code, none.err]).toEqual([
      5,
      expect.stringMatching(/There is no worker that sends load\.\n.*weir worker --url http:\/\/127\.0\.0\.1:\d+\./),
    ]);

    const [sends] = await works(1);
    const remote = ['--url', 'http://192.0.2.1:1', '--allow', 'remote,plain-http', '--timeout', '300ms'];
    const target = scenario('remote', 5, 'target: { path: / }\n');
    const far = await weirHere(['load', target, ...remote, '--workers', redis.url, '--out', 'none']);
    expect([far.code, far.err]).toEqual([
      5,
      expect.stringMatching(/cannot send.*\n.*sends load only to http.*\n.*--url http:\/\/192\.0\.2\.1:1/),
    ]);

    const clients = scenario(
      'clients',
      5,
      'clients: [{ kind: retrying, timeout: 500ms, max_attempts: 3, backoff: { policy: none } }]\n',
    );
    const own = await weirHere(args(clients));
    expect([own.code, own.err]).toEqual([2, expect.stringContaining('cannot be cut into shares')]);
    const nowhere = await weirHere(['load', path, '--workers', redis.url, '--out', 'none']);
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('Give its address with --url')]);

    file('log.csv', 'time\n1000000000\n1000000001\n');
    const byLog = 'question: Q?\narrivals: [{ model: log, file: log.csv, time_column: time }]\n';
    const logged = file('logged.yaml', byLog);
    const log = await weirHere(args(logged));
    expect([log.code, log.err]).toEqual([2, expect.stringContaining('reads a log, which workers do not have')]);

    runsOnly.child.kill('SIGKILL');
    await Promise.all([runsOnly.ended, kill(sends!)]);
    const connection = await openQueueClient(redis.url);
    const old = new Worker<LoadJob>(
      LOAD_QUEUE,
      async ({ data: { run, index } }) => {
        const said = { from: index, name: 'old/1', type: 'failed', words: 'It is older.' };
        await connection.rPush(keysOf(run).messages, JSON.stringify(said));
      },
      { connection, prefix: RUN_QUEUE.prefix },
    );
    await old.waitUntilReady();
    const { code, err } = await weirHere(args(path));
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('Generator old/1 cannot send. [worker_failed]\n  why  It is older.'),
    ]);
    await old.close();
    connection.destroy();
  });
});
