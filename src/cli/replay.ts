// `weir replay`: logs through a limiter, in virtual time or against a live node; with --compare or several --limit, through several rules.
import { createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Plan } from '../limiter/plan.js';
import { families, familyNamed } from '../limiter/products/families.js';
import type { LiveReplay } from '../live/live-replay.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Reported } from '../report/reported.js';
import { sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import { unwritableFailure } from '../schema/unwritable.js';
import type { Refusals } from '../simulate/refusals.js';
import type { ReplayOptions } from '../simulate/replay.js';
import type { Candidate } from '../sizing/key-effects.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { type CommandLine, command, decimal, type GivenTo, perhaps, several, text, whole } from './command.js';
import { usageFailure } from './exit-codes.js';
import { exitOfStop, stopSignal } from './interrupt.js';
import { type GivenLimiter, LIMIT_WORDS, limiterGiven, limiterNotesOf, ruleGiven } from './limit.js';
import { liveOptionsOf } from './live-options.js';
import {
  logName,
  logOptions,
  readingLines,
  readingOptions,
  readingProgress,
  readingText,
  refuseCosts,
} from './log-reading.js';
import { cycleMsOf, json, NONE, out, top, windowsIn } from './options.js';
import { CycleLines, Progress } from './progress.js';
import { say, warn } from './say.js';

const options = {
  ...readingOptions,
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
  live: perhaps(
    { value: '', fits: /^https?:\/\// },
    'the URL of a node',
    'send the log to a live node at its recorded times, and compare; one is started, or name one of this machine: --live=URL',
  ),
  speed: decimal('with --live: speed-up factor', {
    default: 1,
    needs: ['live'],
    exclusiveMinimum: 0,
    maximum: 1_000_000,
  }),
  out,
  top: { ...top, without: ['compare'] },
  json,
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
    ['replay access.log --key client --threshold 20 --compare weir,gcra,fixed', 'rules side by side'],
    ["replay access.log --key client --limit old.yaml --limit '100 in 60s'", 'which clients would newly be refused'],
    ['replay access.log --live --speed 60', 'send it to a live node, sixty times as fast, and compare'],
    ['replay access.log --where method=POST --key path --refused refused.ndjson', 'which requests it hits'],
    ['replay counts.csv --time minute --count n/60s', 'counts per minute'],
  ],
  run: async (given, line) => {
    const { followsRule, windowsOf } = await import('../limiter/products/limiter-spec.js');
    const { threshold, within: written, limit: texts = [] } = given;
    const isCompared = given.compare !== undefined || texts.length > 1;
    const own = texts.length === 1 ? await limiterGiven(texts[0]!) : undefined;
    const limiter = own ?? { threshold, within: written };
    const windows = windowsOf(limiter);
    const cycleMs = cycleMsOf(given.cycleMs, windows);
    const lengths = windows.map((one) => String(one ?? written));
    const { cycles, notes } = windowsIn(lengths, cycleMs);
    const [within = 1] = cycles;
    const log = { ...logOptions(given, cycleMs), nowMs: wallNowMs() };
    const beside = ['live', 'refused', 'compare'].find((option) => line.has(option));
    refuseCosts(log, beside === undefined ? (isCompared ? 'several --limit' : undefined) : `--${beside}`);
    checkRefused(given, followsRule(limiter) || 'definition' in limiter);
    const said = own === undefined ? notes : [...(await limiterNotesOf(own, cycleMs)), ...notes];
    const asked = { given, line, cycleMs, within, log, notes: said };
    if (!isCompared) return replayOne(asked, limiter);
    for (const option of ['live', 'refused'])
      if (line.has(option))
        throw usageFailure(`--${option} has no effect with several --limit.`, 'Leave one of them out.');
    await replayCompare(asked);
  },
});

function checkRefused({ refused, log, live }: Given, hasRule: boolean): void {
  if (refused === undefined) return;
  const refuse = (with_: string, why: string, fix: string) => {
    throw new Failure('wrong_usage', { what: `--refused has no effect with ${with_}.`, why, fix });
  };
  if (hasRule)
    refuse(
      'a rule',
      'It knows how many were refused in a cycle, and a rule may admit one after another that it refused.',
      'Leave it out, or decide the requests one by one with `weir limiter … -`.',
    );
  if (live !== undefined) refuse('--live', 'A live node refuses on its own.', 'Leave out --live.');
  if (log.includes('-'))
    refuse(
      'standard input',
      'The log is read twice for it, and standard input can be read once.',
      'Save the log in a file first.',
    );
}

async function replayOne(asked: Asked, limiter: GivenLimiter): Promise<void> {
  const [{ folderFor, printRuns }, { summaryOf }, { Refusals }, planAt] = await Promise.all([
    import('./runs.js'),
    import('../traffic/log/read-summary.js'),
    import('../simulate/refusals.js'),
    planOf(asked, limiter),
  ]);
  const { given, line, cycleMs, log } = asked;
  const name = logName(given.log);
  const place = { scenario: given.live !== undefined ? `${name}-live` : name, id: runName(asked, limiter) };
  const folder = await folderFor(given, place);
  const refusals = new Refusals();
  const common = {
    name,
    cycleMs,
    planAt,
    log,
    notes: asked.notes,
    signal: stopSignal(),
    top: given.top,
    onRead: readingProgress(name),
    ...(given.refused !== undefined && { refusals }),
  };
  try {
    const { readings, warnings, ...found } =
      given.live !== undefined ? await runLive(given, common) : await runVirtual(given, common);
    const keys = log.keyColumn === undefined ? undefined : found.outcome.contracts;
    const read = summaryOf(readings, keys, log.nowMs, warnings);
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
    import('../limiter/products/limiter-spec.js'),
    import('../limiter/validate.js'),
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
function runName({ given, line, within }: Asked, limiter: GivenLimiter): string {
  const folders = given.log.map((path) => dirname(path)).filter((folder) => folder !== '.');
  const words = line.repeat(folders).replaceAll(/ --(threshold|within|top) \S+/g, '');
  const suffix = words === 'weir replay' ? '' : `-${sha256Hex(words).slice(0, 8)}`;
  const { like, primitive, threshold } = limiter;
  const name = threshold === undefined ? String(like ?? primitive ?? 'limiter') : `${threshold}-within-${within}`;
  return `${name.replace(/\W+/g, '-')}${suffix}`;
}

async function writeRefused(path: string, refusals: Refusals, { given, cycleMs, log }: Asked): Promise<void> {
  const { readLogs } = await import('../traffic/log/read.js');
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
  readonly refusals?: Refusals;
  readonly planAt: (within: number | undefined) => Plan;
  readonly signal: AbortSignal;
  readonly top: number;
  readonly onRead: (done: number, total: number | undefined) => void;
};

type ReadAndRun = Reported & { readonly readings: readonly LogReading[]; readonly warnings?: readonly Warning[] };

async function runVirtual({ log }: Given, common: Common): Promise<ReadAndRun> {
  const [{ followRows }, { LogRequests }, { toReplay }, { replay$ }] = await Promise.all([
    import('./runs.js'),
    import('../simulate/log-requests.js'),
    import('../simulate/replay.js'),
    import('../simulate/stream.js'),
  ]);
  const { cycleMs, planAt, refusals } = common;
  const running = new Progress('replaying');
  const requests = new LogRequests(log, common);
  const rows = replay$(requests, planAt(undefined), { cycleMs });
  const show = (row: CycleRow) => {
    refusals?.see(row);
    if (requests.readings.length === 0) return;
    running.show(undefined, () => `to cycle ${row.cycle}`);
  };
  return followRows(rows, show, toReplay(requests, common));
}

async function runLive(given: Given, common: Common): Promise<ReadAndRun> {
  const [{ followRows }, { liveReplay$ }, { toResult }] = await Promise.all([
    import('./runs.js'),
    import('../live/live-replay.js'),
    import('../live/live-rows.js'),
  ]);
  const lines = new CycleLines(common.name);
  const { log: paths, live: url, speed } = given;
  const live = liveOptionsOf(url ? { url: [url] } : {});
  const rows = liveReplay$(paths, { ...live, ...common, speed });
  const { observed, predicted, series, readings } = await followRows(rows, lines.show, toResult<LiveReplay>());
  const { timeline } = predicted;
  return { ...observed, ...(timeline === undefined ? {} : { predicted: timeline }), series, readings };
}

async function replayCompare({ given, line, cycleMs, within, log, notes }: Asked): Promise<void> {
  const [rules, { openAnswerFolder, writeAnswer }, { printDocument }, { compareLogs }, { summaryOf }] =
    await Promise.all([
      import('../report/rules-document.js'),
      import('../report/answer-folder.js'),
      import('./print.js'),
      import('../sizing/compare-logs.js'),
      import('../traffic/log/read-summary.js'),
    ]);
  const { compare = [], limit, threshold, log: files } = given;
  const isChange = limit?.length === 2;
  const named = compare.flatMap((text) => text.split(',')).map((text) => familyNamed(text.trim()));
  const candidates: Candidate[] = limit
    ? await Promise.all(limit.map((text) => candidateOf(text, given.cycleMs)))
    : named.map((name) => ({ name, definition: families[name]({ limit: threshold, within, cycleMs }) }));
  const name = logName(files);
  const signal = stopSignal();
  const folder = given.out === NONE ? undefined : await openAnswerFolder('compare', name, given.out);
  const found = await compareLogs(files, candidates, log, { signal, onProgress: readingProgress(name) });
  if (limit === undefined) for (const note of notes) warn(`weir: ${note}\n`);
  const { changed, keys, readings, warnings } = found;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : keys, log.nowMs, warnings);
  const changes = isChange ? rules.changesOf(changed, given.top) : undefined;
  process.exitCode = exitOfStop() ?? (changes !== undefined && changes.newly_refused > 0 ? 1 : 0);
  const compared = rules.comparedAnswer({ log: name }, found, cycleMs, signal.aborted);
  const answer = { ...compared, ...(changes && { changes }), read };
  const document = rules.comparedDocument({ ...found, name, changes, command: line.repeat() });
  const page = folder && (await writeAnswer(folder, answer, document));
  const lines = [...readings.map(readingText), ...readingLines(read)];
  printDocument(answer, document, given.json, { lines, page });
}

async function candidateOf(text: string, askedCycleMs: number | undefined): Promise<Candidate> {
  const [{ checkLimiter, windowsOf }, { fileIn }] = await Promise.all([
    import('../limiter/products/limiter-spec.js'),
    import('../scenario/limit-file.js'),
  ]);
  const limiter = await limiterGiven(text);
  const cycleMs = cycleMsOf(askedCycleMs, windowsOf(limiter));
  const definition = await ruleGiven('definition' in limiter ? limiter : checkLimiter(limiter), cycleMs);
  for (const note of await limiterNotesOf(limiter, cycleMs)) warn(`weir: ${note}\n`);
  return { name: fileIn(text) === undefined ? text : logName([text]), definition };
}
