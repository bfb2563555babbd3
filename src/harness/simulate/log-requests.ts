// The requests of logs as counts by cycle, while the logs are read. If the logs are read again, the counts start over.
import type { Observable } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import { nextTurn } from '../../core/time/next-turn.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readInOrder, readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { LogOrder } from '../traffic/log-order.js';
import type { CycleCounts } from '../traffic/requests.js';
import { BunchedCount, decidesByMs } from '../traffic/spread.js';
import { streamed } from './run.js';

export interface LogRequestsOptions {
  readonly log: LogOptions;
  /** Stops the reading early; what was read is counted. After the reading it stops the counting. */
  readonly signal?: AbortSignal | undefined;
  /** Called while the files are read, with bytes; the total is undefined for a pipe. */
  readonly onRead?: ((done: number, total: number | undefined) => void) | undefined;
}

const ENTRIES_PER_TURN = 2_000;

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

  /** In parts. By key if the log has one; with instants for a rule, and costs. Errors: Failure of the log readers, `no_requests`. */
  countsByCycle(cycleMs: number, plan: Plan): Observable<readonly CycleCounts[]> {
    return streamed((next, left) =>
      readInOrder(this.#paths, (mostRows) => this.#read(mostRows, cycleMs, plan, next, left)),
    );
  }

  async #read(
    mostRows: number,
    cycleMs: number,
    plan: Plan,
    next: (part: readonly CycleCounts[]) => void,
    left: AbortSignal,
  ): Promise<void> {
    const { log, signal, onRead } = this.#options;
    const hasCosts = log.cost !== undefined;
    const isTimed = plan.rule !== undefined || hasCosts;
    const bunched = plan.rule && new BunchedCount(plan.rule);
    const order = new LogOrder({
      cycleMs,
      mostRows,
      isOne: log.keyColumn === undefined,
      isTimed,
      hasCosts,
      decidesByMs: decidesByMs(plan),
      asRead: (contract, n, ms, cost) => bunched?.add(contract, n, ms, cost),
      run: (batches) => {
        for (const part of partsOf(batches)) next(part);
      },
    });
    this.#order = order;
    this.#bunched = bunched;
    this.#readings = await readLogs(this.#paths, log, order, { signal, onProgress: onRead });
    let last = Number.NEGATIVE_INFINITY;
    for (const part of partsOf(order.end())) {
      if (left.aborted) return;
      next(part);
      last = part.at(-1)!.cycle;
      // An abort during the reading stops only the reading.
      this.#isStopped = signal?.aborted === true && !this.#isCut;
      if (this.#isStopped) return;
      await nextTurn();
    }
    // Requests spread over a second may all lie before its last cycle.
    if (order.lastCycle > last) next([noneIn(order.lastCycle, order.names, isTimed)]);
  }
}

/** Batches for a turn of the event loop each. */
function* partsOf(batches: Iterable<CycleCounts>): Generator<readonly CycleCounts[]> {
  let part: CycleCounts[] = [];
  let entries = 0;
  for (const batch of batches) {
    part.push(batch);
    entries += 1 + batch.contracts.length;
    if (entries < ENTRIES_PER_TURN) continue;
    yield part;
    part = [];
    entries = 0;
  }
  if (part.length > 0) yield part;
}

function noneIn(cycle: number, keys: readonly string[], isTimed: boolean): CycleCounts {
  const [contracts, requests] = [new Uint32Array(), new Float64Array()];
  return { cycle, keys, contracts, requests, ...(isTimed && { instants: new Float64Array() }) };
}
