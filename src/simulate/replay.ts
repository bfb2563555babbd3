// Owns what a limiter would have done to a log: its requests in order of cycle, in absolute time, through one contract or one for
// each key.
import type { Plan } from '../limiter/plan.js';
import { assemble } from '../outcome/assemble.js';
import type { Expectation } from '../outcome/expectation.js';
import { Failure } from '../schema/failure.js';
import type { LogOptions } from '../traffic/log/options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { CycleTally } from '../traffic/tally.js';
import { connect, drive, type Watch } from './drive.js';
import { RecordedFeed } from './feed.js';
import { figuresOf } from './figures.js';
import { pastOf, type Run } from './simulate.js';
import { World } from './world.js';

export interface ReplayOptions extends Watch {
  /** Name of the run, for example that of the file. */
  readonly name: string;
  readonly cycleMs: number;
  readonly plan: Plan;
  readonly log: LogOptions;
  readonly expectations?: readonly Expectation[];
  readonly top?: number;
  /** Told while the files are read: bytes done, and in all where that is known. */
  readonly onRead?: (done: number, total: number | undefined) => void;
}

export interface Replay extends Run {
  /** How each file was understood. */
  readonly readings: readonly LogReading[];
}

/** @throws Failure of the log readers, `no_requests` */
export async function replay(paths: readonly string[], options: ReplayOptions): Promise<Replay> {
  const { cycleMs, plan, signal, onRead } = options;
  const tally = new CycleTally(cycleMs);
  const readings = await readLogs(paths, options.log, tally, {
    ...(signal === undefined ? {} : { signal }),
    ...(onRead === undefined ? {} : { onProgress: onRead }),
  });
  const names = options.log.keyColumn === undefined ? ['all'] : [...tally.keys()];
  const keys = [...tally.keys()];
  if (keys.length === 0)
    throw new Failure('no_requests', {
      what: 'Nothing was read.',
      why: 'The run was stopped before the first request.',
    });
  const recorded = keys.map((key) => tally.inOrder(key));
  const firstCycle = recorded.reduce((first, { cycles }) => Math.min(first, cycles[0]!), Number.POSITIVE_INFINITY);
  const lastRequest = recorded.reduce((last, { cycles }) => Math.max(last, cycles.at(-1)!), Number.NEGATIVE_INFINITY);
  const within = plan.aggregates.reduce((longest, aggregate) => Math.max(longest, aggregate.within), 1);
  const lastCycle = lastRequest + within;
  const active = recorded.reduce((sum, { cycles }) => sum + cycles.length, 0);
  const world = new World({
    cycleMs,
    firstCycle,
    names,
    plan,
    // A row is taken where a request came or left: twice for each cycle with requests, whatever lies between.
    cycles: Math.ceil((2 * active) / names.length),
  });
  connect(world, new RecordedFeed(recorded), firstCycle);
  // Who stops the reading of a log wants to know what it held so far: a second stop ends that, too.
  const isCut = readings.some((reading) => reading.interrupted);
  const ended = await drive(world, lastCycle, isCut ? {} : options);
  const reached = ended ? lastCycle : world.clock.cycle();
  const outcome = assemble(
    {
      kind: 'replay',
      arm: 'predicted',
      scenario: options.name,
      seed: 0,
      partial: !ended || isCut || readings.length < paths.length,
      cycle_ms: cycleMs,
      first_cycle: firstCycle,
      last_cycle: reached,
      skipped_lines: readings.reduce((sum, { skippedLines }) => sum + skippedLines, 0),
    },
    figuresOf(world, reached, options.top ?? 100),
    pastOf(world, firstCycle, reached),
    options.expectations ?? [],
  );
  return { outcome, timeline: world.timeline?.sorted(), totals: world.totals, readings };
}
