// The rows of a live run, each when its cycle has closed: what had been answered and heard by then. The outcome is made of all that arrived
// until the end; an answer that comes after its cycle has closed is in no row.
import { setMaxListeners } from 'node:events';
import { last, map, Observable, type OperatorFunction, pipe } from 'rxjs';
import type { Plan } from '../limiter/plan.js';
import { type CycleRow, RowBuilder, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import { assert } from '../schema/failure.js';
import type { Heard } from './event-listener.js';
import type { Latency } from './latency.js';
import { costsOf, type RequestLog } from './request-log.js';
import type { LoadResult } from './result.js';

export interface LiveRun extends RunShape {
  readonly firstCycle: number;
  readonly lastCycle: number;
  /** The sending of a cycle, and the delays of the run so far. */
  readonly sending: (cycle: number) => CycleSending;
}

interface CycleSending {
  readonly planned: number;
  readonly sent: number;
  readonly sendLagMsP99: number;
  readonly latencyMsP99: number;
}

interface LiveRowsOptions {
  readonly plan: Plan;
  readonly names: readonly string[];
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly requestLog: RequestLog;
  readonly latency: Latency;
}

export class LiveRows {
  readonly #requestLog: RequestLog;
  readonly #builder: RowBuilder<LiveRun>;
  readonly #states: { readonly name: string; readonly admits: boolean }[];
  /** Transitions that are in no row yet, by contract. */
  readonly #heard: (readonly [contract: number, heard: Heard])[] = [];
  readonly #lastRequests: number[] = [];
  readonly #inWindow: { readonly cycle: number; readonly contract: number; readonly counted: number }[] = [];

  constructor({ plan, names, firstCycle, lastCycle, requestLog, latency }: LiveRowsOptions) {
    const shape = shapeOf(names, plan);
    this.#requestLog = requestLog;
    this.#states = [...shape.states];
    const sending = (cycle: number) => {
      const { planned, sent } = requestLog.of(cycle);
      const sendLagMsP99 = latency.sendLag.quantileMs(0.99);
      return { planned, sent, sendLagMsP99, latencyMsP99: latency.latency.quantileMs(0.99) };
    };
    this.#builder = new RowBuilder({ ...shape, states: this.#states, firstCycle, lastCycle, sending });
  }

  moved(contract: number, heard: Heard): void {
    this.#heard.push([contract, heard]);
  }

  /** The row of a cycle that is over. Cycles are closed in order. */
  close(cycle: number): CycleRow<LiveRun> {
    const builder = this.#builder;
    const { names, within } = builder.run;
    for (let [first] = this.#inWindow; first !== undefined && first.cycle + within <= cycle; [first] = this.#inWindow) {
      this.#inWindow.shift();
      builder.left(first.contract, first.counted);
    }
    for (let contract = 0; contract < names.length; contract += 1) {
      const answers = this.#requestLog.answersOf(cycle, contract);
      if (answers.length === 0) continue;
      builder.requested(contract, answers.length, answers.filter(({ admitted }) => admitted).length);
      const counted = costsOf(answers);
      builder.left(contract, answers.length - counted);
      this.#inWindow.push({ cycle, contract, counted });
      for (const { delayMs } of answers) if (delayMs !== undefined) builder.delayed(delayMs);
      this.#lastRequests[contract] = cycle;
    }
    for (let [first] = this.#heard; first !== undefined && first[1].cycle <= cycle; [first] = this.#heard) {
      this.#heard.shift();
      const [contract, { to, count = 0 }] = first;
      builder.moved(contract, this.#stateOf(to), count, this.#lastRequests[contract]);
    }
    return builder.take(cycle);
  }

  /** A target may report states that the plan does not have; they admit nothing. */
  #stateOf(name: string): number {
    const known = this.#states.findIndex((state) => state.name === name);
    return known >= 0 ? known : this.#states.push({ name, admits: false }) - 1;
  }
}

/** What the rows of `load$` refer to. */
export interface LoadRun<Result extends LoadResult = LoadResult> extends LiveRun {
  /** What the run left behind; set when the rows complete. */
  result?: Result;
}

/** The rows of a live run that begins when it is subscribed to. Unsubscribing stops it, as the signal does. */
export function rowsOfLive<Result extends LoadResult>(
  signal: AbortSignal | undefined,
  live: (onRow: (row: CycleRow<LoadRun<Result>>) => void, stop: AbortSignal) => Promise<Result>,
): Observable<CycleRow<LoadRun<Result>>> {
  return new Observable((subscriber) => {
    const stopping = new AbortController();
    // Every request in progress adds a listener, which is not a leak.
    setMaxListeners(0, stopping.signal);
    const stop = () => stopping.abort();
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop);
    let run: LoadRun<Result> | undefined;
    const onRow = (row: CycleRow<LoadRun<Result>>) => {
      run = row.run;
      subscriber.next(row);
    };
    live(onRow, stopping.signal).then(
      (result) => {
        assert(run !== undefined, 'a live run has a row');
        run.result = result;
        subscriber.complete();
      },
      (error: unknown) => subscriber.error(error),
    );
    return () => {
      signal?.removeEventListener('abort', stop);
      stop();
    };
  });
}

export function toResult<Result extends LoadResult>(): OperatorFunction<CycleRow<LoadRun<Result>>, Result> {
  return pipe(
    last(),
    map(({ run: { result } }) => {
      assert(result !== undefined, 'the rows of a live run complete with its result');
      return result;
    }),
  );
}
