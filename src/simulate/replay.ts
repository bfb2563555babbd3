// What a limiter would have done to a log: its requests in order of cycle, in absolute time, through one contract or one for each key.
//
//   log   ──► counts by cycle, a reorder buffer of 262,144 rows ──► world ──► rows ──► fold ──► outcome
//
// The run goes on while the log is read, so memory does not grow with the log. A request that is older than what has run already
// (the lines are out of order by more than the buffer holds) starts the replay over, with all requests collected first.
import { stat } from 'node:fs/promises';
import type { Observable } from 'rxjs';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { assemble } from '../outcome/assemble.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Expectation } from '../outcome/expectation.js';
import { RunFold } from '../outcome/run-fold.js';
import { Failure } from '../schema/failure.js';
import { cycleOf, startOf } from '../time/cycle.js';
import type { RequestSink } from '../traffic/log/intake.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { spreadOverCycles } from '../traffic/spread.js';
import { arriveIn, drive, type Watch } from './drive.js';
import { CycleBuffer } from './feed.js';
import { delaysOf, type Run } from './simulate.js';
import { World } from './world.js';

export interface ReplayOptions extends Watch {
  /** Name of the run, for example that of the file. */
  readonly name: string;
  readonly cycleMs: number;
  readonly plan: Plan;
  readonly log: LogOptions;
  readonly expectations?: readonly Expectation[];
  readonly top?: number;
  /** Called while the files are read: bytes done, and in all where that is known. */
  readonly onRead?: (done: number, total: number | undefined) => void;
  /** Called with the rows of the run before the first of them; again if the replay starts over. */
  readonly onRows?: (rows: Observable<CycleRow>) => void;
}

export interface Replay extends Run {
  /** How each file was understood. */
  readonly readings: readonly LogReading[];
}

/** Rows of the reorder buffer: a contract and a cycle each. */
const BUFFER_ROWS = 1 << 18;

/** @throws Failure of the log readers, `no_requests` */
export async function replay(paths: readonly string[], options: ReplayOptions): Promise<Replay> {
  try {
    return await replayWith(paths, options, (await canReadAgain(paths)) ? BUFFER_ROWS : Number.POSITIVE_INFINITY);
  } catch (error) {
    if (error !== LATE) throw error;
    return await replayWith(paths, options, Number.POSITIVE_INFINITY);
  }
}

/** Thrown by a sink that meets a request of a cycle which has run already. */
const LATE = Symbol('late');

/** Standard input and pipes can be read only once. */
async function canReadAgain(paths: readonly string[]): Promise<boolean> {
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return files.every((file) => file?.isFile() === true);
}

async function replayWith(paths: readonly string[], options: ReplayOptions, rows: number): Promise<Replay> {
  const { cycleMs, plan, signal, onRead, log } = options;
  const running = new LogRun(cycleMs, plan, rows, log.keyColumn === undefined, options.onRows);
  const readings = await readLogs(paths, log, running, {
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
  return { outcome, timeline: fold.timeline, totals: fold.totals, readings };
}

/** A world that is made when the first requests are ready for it. */
interface Begun {
  readonly world: World;
  readonly fold: RunFold;
  readonly firstCycle: number;
}

/** Takes the requests of a log as they are read, and runs what is in order already. */
class LogRun implements RequestSink {
  readonly #cycleMs: number;
  readonly #plan: Plan;
  readonly #isOne: boolean;
  readonly #onRows: ReplayOptions['onRows'];
  readonly #buffer: CycleBuffer;
  /** Requests are counted by cycle, for a rule by ms. */
  readonly #unitMs: number;
  readonly #ids = new Map<string, number>();
  readonly #names: string[] = [];
  #mostRows: number;
  #begun: Begun | undefined;
  /** Cycles before have run. */
  #released = Number.NEGATIVE_INFINITY;
  #latestMs = Number.NEGATIVE_INFINITY;
  /** The last cycle, or the last ms, with a request. */
  #last = Number.NEGATIVE_INFINITY;
  #key: string | undefined;
  #id = 0;
  // The cycle of the request before, and where it begins and ends; of a rule the ms.
  #unit = 0;
  #fromMs = 0;
  #toMs = 0;

  /**
   * @param mostRows what the buffer holds before half of it is run
   * @param isOne whether all requests go through one contract
   */
  constructor(cycleMs: number, plan: Plan, mostRows: number, isOne: boolean, onRows: ReplayOptions['onRows']) {
    this.#onRows = onRows;
    this.#cycleMs = cycleMs;
    this.#plan = plan;
    this.#unitMs = plan.rule === undefined ? cycleMs : 1;
    this.#buffer = new CycleBuffer(plan.rule !== undefined);
    this.#mostRows = mostRows;
    this.#isOne = isOne;
  }

  request(unixMs: number, n: number, key: string, spreadMs: number): void {
    if (key !== this.#key) this.#meet(key);
    if (unixMs > this.#latestMs) this.#latestMs = unixMs;
    if (spreadMs === 0 || n === 1) this.#add(this.#unitAt(unixMs), n);
    else spreadOverCycles(unixMs, n, spreadMs, this.#unitMs, (unit, part) => this.#add(unit, part));
    if (this.#buffer.size >= this.#mostRows) this.#runHalf();
  }

  /** What is left to run, once all is read. @throws Failure `no_requests` */
  end(): Begun & { readonly lastCycle: number; readonly buffer: CycleBuffer } {
    if (this.#names.length === 0)
      throw new Failure('no_requests', {
        what: 'Nothing was read.',
        why: 'The run was stopped before the first request.',
      });
    this.#buffer.release();
    const lastCycle = this.#cycleOfUnit(this.#last) + spanCycles(this.#plan, this.#cycleMs);
    return { ...this.#ready(), lastCycle, buffer: this.#buffer };
  }

  #add(unit: number, n: number): void {
    if (unit < this.#released) throw LATE;
    if (unit > this.#last) this.#last = unit;
    this.#buffer.add(this.#id, unit, n);
  }

  #cycleOfUnit(unit: number): number {
    return this.#unitMs === this.#cycleMs ? unit : cycleOf(unit, this.#cycleMs);
  }

  /** Runs the older half of the buffer, but nothing after the newest request: a count that is spread reaches into the future. */
  #runHalf(): void {
    const end = Math.min(this.#buffer.middle(), cycleOf(this.#latestMs, this.#unitMs));
    this.#buffer.release(end);
    const { world } = this.#ready();
    for (let unit = this.#buffer.next(); unit !== undefined; unit = this.#buffer.next())
      arriveIn(world, this.#buffer, unit);
    world.check();
    this.#released = Math.max(this.#released, end);
    if (this.#buffer.size > 0.75 * this.#mostRows) this.#mostRows *= 2;
  }

  /** The world, with a contract for each key so far. */
  #ready(): Begun {
    this.#begun ??= this.#begin();
    const { world } = this.#begun;
    for (let index = world.names.length; index < this.#names.length; index += 1) world.add(this.#names[index]!);
    return this.#begun;
  }

  #begin(): Begun {
    const first = this.#buffer.next() ?? cycleOf(this.#latestMs, this.#unitMs);
    const firstCycle = this.#cycleOfUnit(first);
    const world = new World({ cycleMs: this.#cycleMs, firstCycle, names: [], plan: this.#plan });
    const fold = new RunFold(world.run);
    world.rows.subscribe(fold);
    this.#onRows?.(world.rows);
    return { world, fold, firstCycle };
  }

  #meet(key: string): void {
    this.#key = key;
    const known = this.#ids.get(key);
    this.#id = known ?? this.#names.push(this.#isOne ? 'all' : key) - 1;
    if (known === undefined) this.#ids.set(key, this.#id);
  }

  /** `cycleOf`, without its division while the cycle stays the same. */
  #unitAt(unixMs: number): number {
    if (unixMs < this.#fromMs || unixMs >= this.#toMs) {
      this.#unit = cycleOf(unixMs, this.#unitMs);
      this.#fromMs = startOf(this.#unit, this.#unitMs);
      this.#toMs = this.#fromMs + this.#unitMs;
    }
    return this.#unit;
  }
}
