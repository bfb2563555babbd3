// The runs of `weir replay`: in virtual time, or against a live node.
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Observable } from 'rxjs';
import type { Plan } from '../limiter/plan.js';
import { checkLimiter, limiterDefinition } from '../limiter/products/limiter-spec.js';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Reported } from '../report/reported.js';
import { Failure } from '../schema/failure.js';
import { Refusals } from '../simulate/refusals.js';
import { type ReplayOptions, replay } from '../simulate/replay.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { limiterFlags } from './limiter-options.js';
import { liveOptionsOf } from './live-options.js';
import { topFlag } from './options.js';
import { CycleLines, Progress } from './progress.js';
import { type GivenToReplay as Given, OWN } from './replay.js';
import { checkWarnings, nameOf, readingFlags, readingText, readText, runName } from './replay-log.js';
import { rerunCommand } from './rerun-command.js';
import { say } from './say.js';

/**
 * @param within length of the window in cycles
 * @param limiter the limiter that follows a rule, as a scenario has it; undefined: a window
 * @param notes what is to be said of the window
 */
export async function replayRuns(
  given: Given,
  within: number,
  limiter: unknown,
  options: LogOptions,
  notes: readonly string[],
): Promise<void> {
  const planAt = (cycles: number | undefined) => {
    if (limiter === undefined)
      return planContract(rateLimiter({ threshold: given.threshold, within: cycles ?? within }));
    const other = cycles === undefined ? {} : { within: cycles };
    return planContract(limiterDefinition({ ...checkLimiter(limiter), ...other }, given.cycleMs));
  };
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = nameOf(given.log);
  const { signal, release } = interruptible();
  const id = runName(given, within, limiter);
  const folder = await folderFor(given, { scenario: given.live ? `${name}-live` : name, id });
  const reading = new Progress(`reading ${name}`);
  const refusals = new Refusals();
  const common = {
    name,
    cycleMs: given.cycleMs,
    planAt,
    log,
    notes: limiter === undefined ? notes : [],
    signal,
    top: given.top,
    onRead: (done: number, total: number | undefined) =>
      reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`),
    ...(given.refused !== undefined && {
      onRows: (rows: Observable<CycleRow>) => {
        refusals.restart();
        rows.subscribe((row) => refusals.see(row));
      },
    }),
  };
  try {
    const { readings, warnings, ...found } = given.live
      ? await runLive(given, common, reading)
      : await runVirtual(given, common, reading);
    release();
    const read = summaryOf(
      readings,
      log.keyColumn === undefined ? undefined : found.outcome.contracts,
      nowMs,
      warnings,
    );
    if (given.strict) checkWarnings(read.warnings);
    const told = { ...found, outcome: { ...found.outcome, read }, command: commandFor(given) };
    const report = await folder?.write(told);
    if (given.refused !== undefined) await writeRefused(given.refused, refusals, given, log);
    if (!given.json) say(`${[...readings.map(readingText), ...readText(read)].join('\n')}\n\n`);
    printFindings([told], [report], given);
  } catch (error) {
    reading.clear();
    await folder?.discard();
    throw error;
  }
}

/** Reads the log again and writes the lines that would have been refused. */
async function writeRefused(
  path: string,
  refusals: Refusals,
  { log: paths, cycleMs }: Given,
  log: LogOptions,
): Promise<void> {
  const file = createWriteStream(path);
  const closed = finished(file);
  const sink = refusals.sink(cycleMs, log.keyColumn !== undefined, (line) => file.write(`${JSON.stringify(line)}\n`));
  try {
    await Promise.race([readLogs(paths, log, sink), closed]);
    file.end();
    await closed;
  } catch (error) {
    file.destroy();
    closed.catch(() => undefined);
    if (error instanceof Failure) throw error;
    throw new Failure('unwritable_folder', {
      what: `${path} cannot be written.`,
      why: (error as Error).message,
      fix: 'Name another file with --refused.',
      cause: error,
    });
  }
}

function commandFor(given: Given): string {
  const { log, threshold, within, top, live, url, speed, allowRemote, insecure } = given;
  const { rule, like, primitive, paste } = given;
  const hasRule = [rule, like, primitive, paste].some((one) => one !== undefined);
  return rerunCommand('replay', log, {
    ...(hasRule ? limiterFlags(given, OWN) : { threshold, within }),
    ...readingFlags(given, [given.within]),
    live,
    ...(live ? { url, speed: speed === 1 ? undefined : speed, 'allow-remote': allowRemote, insecure } : {}),
    ...topFlag(top),
  });
}

type Common = Pick<ReplayOptions, 'name' | 'cycleMs' | 'log' | 'notes' | 'onRows'> & {
  readonly planAt: (within: number | undefined) => Plan;
  readonly signal: AbortSignal;
  readonly top: number;
  readonly onRead: (done: number, total: number | undefined) => void;
};

type ReadAndRun = Reported & { readonly readings: readonly LogReading[]; readonly warnings?: readonly Warning[] };

async function runVirtual({ log }: Given, common: Common, reading: Progress): Promise<ReadAndRun> {
  const running = new Progress('replaying');
  const run = await replay(log, {
    ...common,
    plan: common.planAt(undefined),
    onProgress: (cycle, last) => {
      reading.clear();
      running.show(undefined, `to cycle ${cycle} of ${last}`);
    },
  });
  reading.clear();
  running.clear();
  return run;
}

async function runLive(given: Given, common: Common, reading: Progress): Promise<ReadAndRun> {
  const lines = new CycleLines(common.name);
  // Most replays send nothing, and need nothing of what sends.
  const { liveReplay } = await import('../live/live-replay.js');
  const { cycleMs: _, ...live } = liveOptionsOf({
    ...given,
    key: undefined,
    timeout: undefined,
    connections: undefined,
  });
  const { observed, predicted, series, readings } = await liveReplay(given.log, {
    ...common,
    ...live,
    cycleMs: given.cycleMs,
    speed: given.speed,
    onCycle: (line) => {
      reading.clear();
      lines.show(line);
    },
  });
  lines.clear();
  const { timeline } = predicted;
  return { ...observed, ...(timeline === undefined ? {} : { predicted: timeline }), series, readings };
}
