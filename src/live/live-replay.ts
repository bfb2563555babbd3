// A recorded log sent to a live node at its recorded times, or at a multiple of their speed.
//
//   log       10:00:00 ──────── 10:00:07.77 ─────────►     one cycle of the node stands for `speed` cycles of the log
//   node      | cycle c         | c + 1                     at speed 10: 7.77 s of the log in 777 ms
import { type Plan, spanCycles } from '../limiter/plan.js';
import type { Expectation } from '../outcome/expectation.js';
import { recordedFeed } from '../simulate/feed.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { CycleTally } from '../traffic/tally.js';
import { runLive } from './live-run.js';
import { connected, type LiveOptions, TOP } from './load.js';
import { pacedSending } from './paced-sender.js';
import { type LoadResult, resultOf } from './result.js';
import { FeedSchedule } from './schedule.js';

export interface LiveReplayOptions extends LiveOptions {
  /** Name of the run, for example that of the file. */
  readonly name: string;
  readonly cycleMs: number;
  readonly plan: Plan;
  readonly log: LogOptions;
  /** How many times as fast as recorded, above 0. Default: 1. */
  readonly speed?: number;
  readonly expectations?: readonly Expectation[];
  /** Told while the files are read: bytes done, and in all where that is known. */
  readonly onRead?: (done: number, total: number | undefined) => void;
}

export interface LiveReplay extends LoadResult {
  /** How each file was understood. */
  readonly readings: readonly LogReading[];
}

/** @throws Failure of the log readers, and as `load` */
export async function liveReplay(paths: readonly string[], options: LiveReplayOptions): Promise<LiveReplay> {
  const { name, plan, log, speed = 1, signal, onRead } = options;
  return connected({ cycleMs: options.cycleMs, target: undefined }, options, async (connection) => {
    const tally = new CycleTally(Math.max(1, Math.round(connection.time.cycleMs * speed)));
    const readings = await readLogs(paths, log, tally, {
      ...(signal === undefined ? {} : { signal }),
      ...(onRead === undefined ? {} : { onProgress: onRead }),
    });
    const keys = [...tally.keys()];
    const recorded = keys.map((key) => tally.inOrder(key));
    const first = recorded.reduce((least, { cycles }) => Math.min(least, cycles[0]!), Number.POSITIVE_INFINITY);
    const last = recorded.reduce((most, { cycles }) => Math.max(most, cycles.at(-1)!), Number.NEGATIVE_INFINITY);
    const names = log.keyColumn === undefined ? ['all'] : keys;
    const cycles = last - first + 1;
    const schedule = new FeedSchedule(recordedFeed(recorded), cycles, first);
    const seen = await runLive(connection, {
      plan,
      names,
      phases: {},
      cycles,
      drain: spanCycles(plan, connection.time.cycleMs),
      foreign: undefined,
      key: options.key,
      signal,
      onCycle: options.onCycle,
      sending: (stage) => pacedSending(schedule, stage, options.pacing ?? 'spaced'),
    });
    const result = await resultOf(seen, {
      scenario: name,
      seed: 0,
      skippedLines: readings.reduce((sum, { skippedLines }) => sum + skippedLines, 0),
      names,
      plan,
      expectations: options.expectations ?? [],
      top: options.top ?? TOP,
    });
    return { ...result, readings };
  });
}
