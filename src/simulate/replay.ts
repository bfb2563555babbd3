// What a limiter would have done to a log: its requests in order of cycle, in absolute time, through one contract or one for each key.
//
//   log   ──► counts by cycle, a reorder buffer of 262,144 rows ──► world ──► rows ──► fold ──► outcome
//
// The run goes on while the log is read, so memory does not grow with the log. A request that is older than what has run already
// (the lines are out of order by more than the buffer holds) starts the replay over, with all requests collected first.
import type { Observable } from 'rxjs';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { assemble } from '../outcome/assemble.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Expectation } from '../outcome/expectation.js';
import { RunFold } from '../outcome/run-fold.js';
import { cycleOf } from '../time/cycle.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { arriveIn, drive, type Watch } from './drive.js';
import type { Feed } from './feed.js';
import { LogOrder, readInOrder } from './log-order.js';
import { delaysOf, type Run } from './simulate.js';
import { BunchedCount } from './spread-seconds.js';
import { World } from './world.js';

export interface ReplayOptions extends Watch {
  /** Name of the run, for example that of the file. */
  readonly name: string;
  readonly cycleMs: number;
  readonly plan: Plan;
  readonly log: LogOptions;
  readonly expectations?: readonly Expectation[];
  /** How something was understood that cannot be run as it is written. */
  readonly notes?: readonly string[];
  readonly top?: number;
  /** Called while the files are read: bytes done, and in all where that is known. */
  readonly onRead?: (done: number, total: number | undefined) => void;
  /** Called with the rows of the run before the first of them; again if the replay starts over. */
  readonly onRows?: (rows: Observable<CycleRow>) => void;
}

export interface Replay extends Run {
  /** How each file was understood. */
  readonly readings: readonly LogReading[];
  /** What was assumed beside how the files were read. */
  readonly warnings: readonly Warning[];
}

/** @throws Failure of the log readers, `no_requests` */
export function replay(paths: readonly string[], options: ReplayOptions): Promise<Replay> {
  return readInOrder(paths, (mostRows) => replayWith(paths, options, mostRows));
}

async function replayWith(paths: readonly string[], options: ReplayOptions, rows: number): Promise<Replay> {
  const { cycleMs, plan, signal, onRead, log } = options;
  const running = new LogRun(cycleMs, plan, rows, log.keyColumn === undefined, options.onRows);
  const readings = await readLogs(paths, log, running.order, {
    ...(signal === undefined ? {} : { signal }),
    ...(onRead === undefined ? {} : { onProgress: onRead }),
  });
  // Who stops the reading of a log wants to know what it held so far: a second stop ends that, too.
  const isCut = readings.some((reading) => reading.interrupted);
  const { world, fold, firstCycle, lastCycle, buffer } = running.end();
  const ended = await drive(world, lastCycle, isCut ? {} : options, buffer);
  const reached = ended ? lastCycle : world.clock.cycle();
  const outcome = assemble(
    {
      kind: 'replay',
      arm: 'predicted',
      scenario: options.name,
      notes: [...(options.notes ?? [])],
      seed: 0,
      partial: !ended || isCut || readings.length < paths.length,
      cycle_ms: cycleMs,
      first_cycle: firstCycle,
      last_cycle: reached,
      skipped_lines: readings.reduce((sum, { skippedLines }) => sum + skippedLines, 0),
      ...delaysOf(world),
    },
    fold.figures(reached, options.top ?? 100),
    fold.past(firstCycle, reached),
    options.expectations ?? [],
  );
  return {
    outcome,
    timeline: fold.timeline,
    totals: fold.totals,
    readings,
    warnings: running.warnings(outcome.limited),
  };
}

/** A world that is made when the first requests are ready for it. */
interface Begun {
  readonly world: World;
  readonly fold: RunFold;
  readonly firstCycle: number;
}

/** Runs the requests of a log as they are read. */
class LogRun {
  readonly order: LogOrder;
  readonly #cycleMs: number;
  readonly #plan: Plan;
  readonly #onRows: ReplayOptions['onRows'];
  /** Requests are counted by cycle, for a rule by ms. */
  readonly #unitMs: number;
  /** For a rule: what it does with whole seconds as they are read. */
  readonly #bunched: BunchedCount | undefined;
  #begun: Begun | undefined;

  /**
   * @param mostRows what the buffer holds before half of it is run
   * @param isOne whether all requests go through one contract
   */
  constructor(cycleMs: number, plan: Plan, mostRows: number, isOne: boolean, onRows: ReplayOptions['onRows']) {
    this.#onRows = onRows;
    this.#cycleMs = cycleMs;
    this.#plan = plan;
    const isTimed = plan.rule !== undefined;
    this.#bunched = plan.rule && new BunchedCount(plan.rule);
    this.#unitMs = isTimed ? 1 : cycleMs;
    this.order = new LogOrder({
      cycleMs: this.#unitMs,
      mostRows,
      isOne,
      isTimed,
      // That one counts by cycles.
      decidesByMs: isTimed && plan.definition.rule?.primitive !== 'rolling_count',
      asRead: (contract, n, ms) => this.#bunched?.add(contract, n, ms),
      run: (released) => this.#run(released),
    });
  }

  /** What is left to run, once all is read. @throws Failure `no_requests` */
  end(): Begun & { readonly lastCycle: number; readonly buffer: Feed } {
    const buffer = this.order.end();
    const lastCycle = this.#cycleOfUnit(this.order.lastCycle) + spanCycles(this.#plan, this.#cycleMs);
    return { ...this.#ready(buffer), lastCycle, buffer };
  }

  /** @param limited requests, as they were spread */
  warnings(limited: number): Warning[] {
    return this.order.warnings(this.#bunched && { spread: limited, bunched: this.#bunched.limited });
  }

  #cycleOfUnit(unit: number): number {
    return this.#unitMs === this.#cycleMs ? unit : cycleOf(unit, this.#cycleMs);
  }

  #run(released: Feed): void {
    const { world } = this.#ready(released);
    for (let unit = released.next(); unit !== undefined; unit = released.next()) arriveIn(world, released, unit);
  }

  /** The world, with a contract for each key so far. */
  #ready(released: Feed): Begun {
    this.#begun ??= this.#begin(released);
    const { world } = this.#begun;
    const { names } = this.order;
    for (let index = world.names.length; index < names.length; index += 1) world.add(names[index]!);
    return this.#begun;
  }

  #begin(released: Feed): Begun {
    const first = released.next() ?? cycleOf(this.order.latestMs, this.#unitMs);
    const firstCycle = this.#cycleOfUnit(first);
    const world = new World({ cycleMs: this.#cycleMs, firstCycle, names: [], plan: this.#plan });
    const fold = new RunFold(world.run);
    world.rows.subscribe(fold);
    this.#onRows?.(world.rows);
    return { world, fold, firstCycle };
  }
}
