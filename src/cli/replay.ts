// `weir replay`: logs through a limiter, in virtual time or against a live node; with --compare or several --limit, through several rules.
import { createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Observable } from 'rxjs';
import type { Plan } from '../core/limiter/plan.js';
import { families } from '../core/limiter/products/families.js';
import { sha256Hex } from '../core/schema/canonical.js';
import { toolNamed } from '../core/schema/optional-package.js';
import { unwritableFailure } from '../core/schema/unwritable.js';
import { wallNowMs } from '../core/time/wall.js';
import type { LiveReplay } from '../harness/live/live-replay.js';
import type { CycleRow } from '../harness/outcome/cycle-row.js';
import type { Refusals } from '../harness/simulate/refusals.js';
import type {
  GatewayReplay,
  GatewayTool,
  ReplayOptions,
  ReplaySource,
  UnexplainedAbove,
} from '../harness/simulate/replay.js';
import type { LogOptions, Warning } from '../harness/traffic/log/log-options.js';
import type { LogReading } from '../harness/traffic/log/read-bytes.js';
import {
  type CommandLine,
  command,
  decimal,
  flag,
  type GivenTo,
  perhaps,
  several,
  text,
  value,
  whole,
} from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { stopSignal } from '../report/command/interrupt.js';
import {
  type GivenLimiter,
  gatewayFilesGiven,
  LIMIT_WORDS,
  limiterGiven,
  limiterNotesOf,
} from '../report/command/limit.js';
import { liveOptionsOf } from '../report/command/live-options.js';
import {
  logName,
  logOptions,
  readingLines,
  readingOptions,
  readingProgress,
  readingText,
  refuseCosts,
} from '../report/command/log-reading.js';
import { cycleMsOf, jsonOf, out, readShare, top, windowsIn } from '../report/command/options.js';
import { cycleLines, Progress } from '../report/command/progress.js';
import { say } from '../report/command/say.js';
import type { Reported } from '../report/reported.js';
import { checkRefused, refuseBesideGateway } from './replay-refusals.js';

const options = {
  ...readingOptions,
  cycleMs: { ...readingOptions.cycleMs, without: ['explain'] },
  limit: several(
    text(
      `the limiter: ${LIMIT_WORDS}. Several: rules side by side; of two, which keys the second newly refuses, with exit code 1 if there are any`,
    ),
  ),
  threshold: whole(1, Number.MAX_SAFE_INTEGER, 'request events a window may hold', {
    default: 100,
    without: ['limit'],
  }),
  within: text('length of the rolling window as a time: 47s, 5m; a bare number counts cycles', {
    default: '60s',
    without: ['limit'],
  }),
  refused: text('file for the lines that would have been refused, NDJSON', { local: true, writes: true }),
  compare: several(
    text(`rules side by side, fitted to --threshold in --within: ${Object.keys(families).join(',')}`, {
      without: ['limit', 'live', 'refused'],
    }),
  ),
  explain: flag('was it us: which refusals in the log are those of --limit, and which are not (weir help on-call)', {
    needs: 'limit',
    without: ['live', 'refused'],
  }),
  unexplainedAbove: value(
    'a number, or a share as 0.1%',
    (text): UnexplainedAbove | undefined => {
      if (/^\d+$/.test(text)) return { text, n: Number(text) };
      const share = text.endsWith('%') ? readShare(text) : undefined;
      return share === undefined ? undefined : { text, share };
    },
    'with --explain: exit with 1 if more refusals than this, or this share of them, are not of the limit; with 4 if that is open',
    { needs: 'explain' },
  ),
  live: perhaps(
    { value: '', fits: /^https?:\/\// },
    'the URL of a node',
    'send the log to a live node at its recorded times, and compare; one is started, or name one of this machine: --live=URL',
  ),
  speed: decimal('with --live: speed-up factor', {
    default: 1,
    needs: 'live',
    exclusiveMinimum: 0,
    maximum: 1_000_000,
  }),
  out,
  top: { ...top, without: ['compare'] },
  json: jsonOf('replay'),
};

type Given = GivenTo<typeof options>;

interface Asked {
  readonly given: Given;
  readonly line: CommandLine;
  readonly cycleMs: number;
  readonly within: number;
  readonly log: LogOptions;
  readonly notes: readonly string[];
}

export const replay = command({
  options,
  examples: [
    ['replay access.log', 'an Apache or nginx log through 100 requests in 60 s'],
    ['replay access.log.gz --key client --threshold 20', 'one limiter for each client'],
    [
      'replay llm.csv --count tokens --threshold 500000 --within 60s',
      'a limit of tokens; their columns are found by name',
    ],
    ["replay access.log --key client --limit 'nginx 10r/s burst=5'", 'what nginx would have refused'],
    ['replay access.log --limit nginx.conf', 'each request through the limits of the file that it would meet'],
    ['replay access.log --limit nginx.conf --explain', 'was it us: which answers of 429 are those of this limit'],
    ['replay access.log --key client --threshold 20 --compare weir,gcra,fixed', 'rules side by side'],
    ["replay access.log --key client --limit old.yaml --limit '100 in 60s'", 'which clients would newly be refused'],
    ['replay access.log --live --speed 60', 'send it to a live node, sixty times as fast, and compare'],
    ['replay access.log --where method=POST --key path --refused refused.ndjson', 'which requests it hits'],
    ['replay counts.csv --time minute --count n/60s', 'counts per minute'],
  ],
  run: async (given, line) => {
    const { followsRule, windowsOf } = await import('../core/limiter/products/limiter-spec.js');
    const { threshold, within: written, limit: texts = [] } = given;
    if (given.explain) return explain(given, line);
    const isCompared = given.compare !== undefined || texts.length > 1;
    const gateways = await Promise.all(texts.map(gatewayIn));
    const [gateway] = gateways;
    if (gateways.some(Boolean)) refuseBesideGateway(texts, line);
    const own = texts.length === 1 && gateway === undefined ? await limiterGiven(texts[0]!) : undefined;
    const limiter = own ?? { threshold, within: written };
    const windows = windowsOf(limiter);
    const cycleMs = cycleMsOf(given.cycleMs, windows);
    const lengths = windows.map((one) => String(one ?? written));
    const { cycles, notes } = windowsIn(lengths, cycleMs);
    const [within = 1] = cycles;
    const log = { ...logOptions(given, cycleMs), nowMs: wallNowMs() };
    const beside = ['live', 'refused', 'compare'].find((option) => line.has(option));
    refuseCosts(log, beside === undefined ? (isCompared ? 'several --limit' : undefined) : `--${beside}`);
    if (gateway !== undefined) refuseCosts(log, 'files of gateways');
    checkRefused(given, gateway !== undefined, !followsRule(limiter) || log.spreadMs === undefined);
    const said = own === undefined ? notes : [...(await limiterNotesOf(own, cycleMs)), ...notes];
    const asked = { given, line, cycleMs, within, log, notes: said };
    if (gateway !== undefined) return replayOne({ ...asked, notes: gateway.notes }, ofGateway(gateway));
    if (!isCompared) return replayOne(asked, await ofLimiter(asked, limiter));
    for (const option of ['live', 'refused'])
      if (line.has(option))
        throw usageFailure(`--${option} has no effect with several --limit.`, 'Leave one of them out.');
    await (await import('./replay-compare.js')).replayCompare(asked);
  },
});

/** What a log is replayed through. */
interface Replayer {
  /** In the name of the folder of the report. */
  readonly name: string;
  readonly run: (common: Common) => Promise<ReadAndRun>;
  /** What a contract of the run is, if that is not the key of the log. */
  readonly contract?: string;
}

async function ofLimiter(asked: Asked, limiter: GivenLimiter): Promise<Replayer> {
  const { given, within } = asked;
  const planAt = await planOf(asked, limiter);
  const { like, primitive, threshold } = limiter;
  return {
    name: threshold === undefined ? String(like ?? primitive ?? 'limiter') : `${threshold}-within-${within}`,
    run: (common) =>
      given.live !== undefined ? runLive(given, { ...common, planAt }) : runVirtual({ ...common, planAt }),
  };
}

async function gatewayIn(limit: string): Promise<GatewayReplay | undefined> {
  const files = await gatewayFilesGiven(limit);
  return files && (await toolNamed<GatewayTool>('gateway')).replay(files);
}

async function explain(given: Given, line: CommandLine): Promise<void> {
  const { log: paths, limit: [limit = '', ...others] = [], unexplainedAbove, top, out, json } = given;
  if (others.length > 0) throw usageFailure('--explain takes one --limit.', 'Give a file with all limits in force.');
  const log = { ...logOptions(given, cycleMsOf(given.cycleMs, [])), nowMs: wallNowMs() };
  refuseCosts(log, '--explain');
  const tool = await toolNamed<GatewayTool>('gateway');
  const asked = { limit, files: await gatewayFilesGiven(limit), paths, log, unexplainedAbove, top, out, json };
  return tool.explain({ ...asked, command: line.repeat() });
}

function ofGateway(gateway: GatewayReplay): Replayer {
  const run = (common: Common) => {
    const replayed = gateway.begin(common.paths, common);
    return followReplay(replayed.rows(common.cycleMs), replayed, common);
  };
  return { name: 'limits', run, contract: 'the client' };
}

async function replayOne(asked: Asked, replayer: Replayer): Promise<void> {
  const [{ folderFor, printRuns }, { summaryOf }, { Refusals }] = await Promise.all([
    import('./runs.js'),
    import('../harness/outcome/read-summary.js'),
    import('../harness/simulate/refusals.js'),
  ]);
  const { given, line, cycleMs, log } = asked;
  const name = logName(given.log);
  const place = { scenario: given.live !== undefined ? `${name}-live` : name, id: runName(asked, replayer) };
  const folder = await folderFor(given, place);
  const refusals = new Refusals();
  const common = {
    name,
    paths: given.log,
    cycleMs,
    log,
    notes: asked.notes,
    signal: stopSignal(),
    top: given.top,
    onRead: readingProgress(name),
    ...(given.refused !== undefined && { refusals }),
  };
  try {
    const { readings, warnings, ...found } = await replayer.run(common);
    const { contract } = replayer;
    const { contracts } = found.outcome;
    const isKeyed = contract === undefined && log.keyColumn !== undefined;
    const summary = summaryOf(readings, isKeyed ? contracts : undefined, log.nowMs, warnings);
    const read = contract === undefined ? summary : { ...summary, key: contract, keys: contracts };
    const run = { ...found, outcome: { ...found.outcome, read }, command: line.repeat() };
    const report = await folder?.write(run);
    if (given.refused !== undefined) await writeRefused(given.refused, refusals, asked);
    if (!given.json) say(`${[...readings.map(readingText), ...readingLines(read)].join('\n')}\n\n`);
    printRuns([run], [report], given);
  } catch (error) {
    await folder?.discard();
    throw error;
  }
}

/** The plan of the limiter by window length in cycles; undefined: the window asked for. */
async function planOf({ cycleMs }: Asked, limiter: GivenLimiter): Promise<(within?: number) => Plan> {
  const [{ checkLimiter, followsRule, limiterDefinition }, { planContract }] = await Promise.all([
    import('../core/limiter/products/limiter-spec.js'),
    import('../core/limiter/validate.js'),
  ]);
  const { definition } = limiter;
  if (definition !== undefined) return () => planContract(definition);
  const checked = checkLimiter(limiter);
  return (within) => {
    const isOther = within !== undefined && !followsRule(limiter);
    return planContract(limiterDefinition(isOther ? { ...checked, within } : checked, cycleMs));
  };
}

/** Distinguishes the reports of one log: the limiter, and a hash of all other words that change the outcome. */
function runName({ given, line }: Asked, { name }: Replayer): string {
  const folders = given.log.map((path) => dirname(path)).filter((folder) => folder !== '.');
  const words = line.repeat(folders).replaceAll(/ --(threshold|within|top) \S+/g, '');
  const suffix = words === 'weir replay' ? '' : `-${sha256Hex(words).slice(0, 8)}`;
  return `${name.replace(/\W+/g, '-')}${suffix}`;
}

async function writeRefused(path: string, refusals: Refusals, { given, cycleMs, log }: Asked): Promise<void> {
  const { readLogs } = await import('../harness/traffic/log/read.js');
  const file = createWriteStream(path);
  const closed = finished(file);
  const sink = refusals.sink(cycleMs, log.keyColumn !== undefined, (line) => file.write(`${JSON.stringify(line)}\n`));
  try {
    await Promise.race([readLogs(given.log, log, sink), closed]);
    file.end();
    await closed;
  } catch (error) {
    file.destroy();
    closed.catch(() => undefined);
    throw unwritableFailure(path, error, 'Name another file with --refused.');
  }
}

type Common = Pick<ReplayOptions, 'name' | 'cycleMs' | 'log' | 'notes'> & {
  readonly paths: readonly string[];
  readonly refusals?: Refusals;
  readonly signal: AbortSignal;
  readonly top: number;
  readonly onRead: (done: number, total: number | undefined) => void;
};

type ReadAndRun = Reported & { readonly readings: readonly LogReading[]; readonly warnings?: readonly Warning[] };

interface Planned extends Common {
  readonly planAt: (within: number | undefined) => Plan;
}

async function runVirtual(common: Planned): Promise<ReadAndRun> {
  const [{ LogRequests }, { replay$ }] = await Promise.all([
    import('../harness/simulate/log-requests.js'),
    import('../harness/simulate/stream.js'),
  ]);
  const { paths, cycleMs, planAt } = common;
  const requests = new LogRequests(paths, common);
  return followReplay(
    replay$(requests, planAt(undefined), { cycleMs, withDecisions: common.refusals !== undefined }),
    requests,
    common,
  );
}

async function followReplay(rows: Observable<CycleRow>, replayed: ReplaySource, common: Common): Promise<ReadAndRun> {
  const [{ followRows }, { toReplay }] = await Promise.all([
    import('./runs.js'),
    import('../harness/simulate/replay.js'),
  ]);
  const running = new Progress('replaying');
  const show = (row: CycleRow) => {
    common.refusals?.see(row);
    if (replayed.readings.length === 0) return;
    running.show(undefined, () => `to cycle ${row.cycle}`);
  };
  return followRows(rows, show, toReplay(replayed, common));
}

async function runLive(given: Given, common: Planned): Promise<ReadAndRun> {
  const [{ followRows }, { liveReplay$ }, { toResult }] = await Promise.all([
    import('./runs.js'),
    import('../harness/live/live-replay.js'),
    import('../harness/live/load.js'),
  ]);
  const { log: paths, live: url, speed } = given;
  const live = liveOptionsOf(url ? { url: [url] } : {});
  const rows = liveReplay$(paths, { ...live, ...common, speed });
  const show = cycleLines(common.name);
  const { observed, predicted, series, readings } = await followRows(rows, show, toResult<LiveReplay>());
  const { timeline } = predicted;
  return { ...observed, ...(timeline === undefined ? {} : { predicted: timeline }), series, readings };
}
