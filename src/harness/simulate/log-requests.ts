// The requests of logs as counts by cycle, while the logs are read. If the logs are read again, the counts start over.
import { Observable, type Subscriber } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import { cycleOf } from '../../core/time/cycle.js';
import { nextTurn } from '../../core/time/next-turn.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { type CycleCounts, CycleGatherer } from './cycle-buffer.js';
import type { Feed } from './feed.js';
import { LogOrder, readInOrder } from './log-order.js';
import { BunchedCount, decidesByMs } from './spread-seconds.js';

export interface LogRequestsOptions {
  readonly log: LogOptions;
  /** Stops the reading early; what was read is counted. After the reading it stops the counting. */
  readonly signal?: AbortSignal | undefined;
  /** Called while the files are read, with bytes; the total is undefined for a pipe. */
  readonly onRead?: ((done: number, total: number | undefined) => void) | undefined;
}

const STEPS_PER_TURN = 20_000;

export class LogRequests {
  readonly #paths: readonly string[];
  readonly #options: LogRequestsOptions;
  #readings: readonly LogReading[] = [];
  #order: LogOrder | undefined;
  #bunched: BunchedCount | undefined;
  #isStopped = false;

  constructor(paths: readonly string[], options: LogRequestsOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  get readings(): readonly LogReading[] {
    return this.#readings;
  }

  get costUnit(): string | undefined {
    return this.#options.log.cost?.unit;
  }

  get isPartial(): boolean {
    return this.#isStopped || this.#readings.length < this.#paths.length || this.#isCut;
  }

  get #isCut(): boolean {
    return this.#readings.some(({ interrupted }) => interrupted);
  }

  warnings(limited: number): Warning[] {
    const bunched = this.#bunched?.limited ?? limited;
    const figures = `So ${limited} are limited; ${bunched} would be if all of a second came at its beginning.`;
    return this.#order?.warnings(figures) ?? [];
  }

  /** By key if the log has one; with instants for a rule, and costs. Errors: Failure of the log readers, `no_requests`. */
  countsByCycle(cycleMs: number, plan: Plan): Observable<CycleCounts> {
    return new Observable((subscriber) => {
      readInOrder(this.#paths, (mostRows) => this.#read(mostRows, cycleMs, plan, subscriber)).then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  async #read(mostRows: number, cycleMs: number, plan: Plan, subscriber: Subscriber<CycleCounts>): Promise<void> {
    const { log, signal, onRead } = this.#options;
    const hasCosts = log.cost !== undefined;
    const isTimed = plan.rule !== undefined || hasCosts;
    const bunched = plan.rule && new BunchedCount(plan.rule);
    const order = new LogOrder({
      cycleMs: isTimed ? 1 : cycleMs,
      mostRows,
      isOne: log.keyColumn === undefined,
      isTimed,
      hasCosts,
      decidesByMs: decidesByMs(plan),
      asRead: (contract, n, ms, cost) => bunched?.add(contract, n, ms, cost),
      run: (released) => {
        for (let counts = next(released); counts !== undefined; counts = next(released)) subscriber.next(counts);
      },
    });
    const gatherer = new CycleGatherer(order.names, cycleMs);
    let last = Number.NEGATIVE_INFINITY;
    const next = (feed: Feed): CycleCounts | undefined => {
      const counts = subscriber.closed ? undefined : gatherer.next(feed);
      last = counts?.cycle ?? last;
      return counts;
    };
    this.#order = order;
    this.#bunched = bunched;
    this.#readings = await readLogs(this.#paths, log, order, {
      ...(signal === undefined ? {} : { signal }),
      ...(onRead === undefined ? {} : { onProgress: onRead }),
    });
    const rest = order.end();
    let steps = 0;
    for (let counts = next(rest); counts !== undefined && !this.#isStopped; counts = next(rest)) {
      subscriber.next(counts);
      // An abort during the reading stops only the reading.
      this.#isStopped = signal?.aborted === true && !this.#isCut;
      steps += 1 + counts.contracts.length;
      if (steps < STEPS_PER_TURN) continue;
      await nextTurn();
      steps = 0;
    }
    const end = isTimed ? cycleOf(order.lastCycle, cycleMs) : order.lastCycle;
    // Requests spread over a second may all lie before its last cycle.
    if (end > last && !this.#isStopped) subscriber.next(noneIn(end, order.names, isTimed));
  }
}

function noneIn(cycle: number, keys: readonly string[], isTimed: boolean): CycleCounts {
  const [contracts, requests] = [new Uint32Array(), new Float64Array()];
  return { cycle, keys, contracts, requests, ...(isTimed && { instants: new Float64Array() }) };
}
