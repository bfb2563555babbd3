// Replays a recorded log at a live node, at its recorded times or at a multiple of their speed.
//
//   log       10:00:00 | cycle of 777 ms | 10:00:00.777      an embedded node has the cycles of the log, shortened:
//   node               | cycle of 13 ms  |                   at speed 60 as many cycles as in the log, so the same window
//
// A running node has its own cycles: each holds more of the log, and the window is the number of them nearest to its duration.
import type { Observable } from 'rxjs';
import { type Plan, spanCycles } from '../../core/limiter/plan.js';
import { Failure } from '../../core/schema/failure.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Expectation } from '../outcome/expectation.js';
import { recordedSchedule } from '../simulate/scenario-traffic.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { LogOrder } from '../traffic/log-order.js';
import { type LiveRunOptions, runLive } from './live-run.js';
import { connected, type LiveOptions, type LoadRun, rowsOfLive } from './load.js';
import { pacedSender } from './paced-sender.js';
import { type LoadResult, resultOf } from './result.js';

export interface LiveReplayOptions extends LiveOptions {
  readonly name: string;
  readonly cycleMs: number;
  /** The limiter with a window of `within` cycles of the log. @param within undefined: unchanged */
  readonly planAt: (within: number | undefined) => Plan;
  readonly log: LogOptions;
  /** Multiple of the recorded speed, above 0. Default: 1. */
  readonly speed?: number;
  readonly expectations?: readonly Expectation[];
  /** Interpretations of input that cannot run as written. */
  readonly notes?: readonly string[] | undefined;
  readonly onRead?: (done: number, total: number | undefined) => void;
}

export interface LiveReplay extends LoadResult {
  readonly readings: readonly LogReading[];
}

/** For a node with `heldMs` of the log per cycle. @throws Failure `wrong_usage` if the window would be shorter than a cycle */
function planIn(
  asIs: Plan,
  planAt: LiveReplayOptions['planAt'],
  logMs: number,
  heldMs: number,
): { readonly plan: Plan; readonly notes: string[] } {
  const within = asIs.rule === undefined ? asIs.aggregates[0]?.within : undefined;
  if (within === undefined || heldMs === logMs) return { plan: asIs, notes: [] };
  const windowMs = within * logMs;
  const cycles = Math.round(windowMs / heldMs);
  const words = `a cycle of the node holds ${heldMs / 1000} s of the log`;
  if (cycles < 1)
    throw new Failure('wrong_usage', {
      what: `A window of ${windowMs / 1000} s cannot be replayed on that node at that speed: ${words}.`,
      fix: 'Leave --url out, start the node with a shorter --cycle-ms, or lower --speed.',
    });
  const note = `The window is ${(cycles * heldMs) / 1000} s of the log (${cycles} ${cycles === 1 ? 'cycle' : 'cycles'}), not ${windowMs / 1000} s: ${words}.`;
  return { plan: planAt(cycles), notes: cycles * heldMs === windowMs ? [] : [note] };
}

/** Rows of a replay at a live node; `toResult()` gives its result. Errors: Failure of the log readers, and as `load$`. */
export function liveReplay$(
  paths: readonly string[],
  options: LiveReplayOptions,
): Observable<CycleRow<LoadRun<LiveReplay>>> {
  return rowsOfLive(options.signal, (onRow, signal) => sent(paths, { ...options, signal }, onRow));
}

async function sent(
  paths: readonly string[],
  options: LiveReplayOptions,
  onRow: LiveRunOptions['onRow'],
): Promise<LiveReplay> {
  const { planAt, log, speed = 1, onRead, cycleMs: logMs, ...live } = options;
  const asIs = planAt(undefined);
  if (asIs.rule !== undefined && speed !== 1)
    throw new Failure('wrong_usage', {
      what: '--speed does not go with a rule.',
      why: 'A rule decides by the ms, and would see the requests as much closer together.',
      fix: 'Leave --speed out, or use --threshold and --within.',
    });
  const startedMs = Math.round(logMs / speed);
  if (live.url === undefined && startedMs < 1)
    throw new Failure('wrong_usage', {
      what: `--speed ${speed} is too fast: a cycle of ${logMs} ms of the log would last less than 1 ms.`,
      fix: `Up to --speed ${logMs}.`,
    });
  return connected({ cycleMs: startedMs, target: undefined }, live, async (connection) => {
    const ownMs = connection.time.cycleMs;
    const heldMs = live.url === undefined ? logMs : Math.max(1, Math.round(ownMs * speed));
    const { plan, notes } = planIn(asIs, planAt, logMs, heldMs);
    if (heldMs !== ownMs * speed)
      notes.push(
        `The log runs ${Number((heldMs / ownMs).toPrecision(4))} times as fast: a cycle of the node, ${ownMs} ms, holds ${heldMs} ms of it.`,
      );
    const order = new LogOrder({ cycleMs: heldMs, isOne: log.keyColumn === undefined });
    const readings = await readLogs(paths, log, order, { signal: live.signal, onProgress: onRead });
    const requests = order.end();
    const { names, firstCycle } = order;
    const cycles = order.lastCycle - firstCycle + 1;
    const schedule = recordedSchedule(requests, firstCycle);
    const seen = await runLive(connection, {
      ...options,
      plan,
      names,
      cycles,
      drain: spanCycles(plan, ownMs),
      notes: [...(options.notes ?? []), ...notes],
      skippedLines: readings.reduce((sum, { skippedLines }) => sum + skippedLines, 0),
      onRow,
      sending: (stage) => pacedSender(schedule, stage),
    });
    return { ...(await resultOf(seen)), readings };
  });
}
