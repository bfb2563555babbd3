// A live run as a stream of rows. Each row is emitted when its cycle has closed, with the data so far; answers that arrive later are in no
// row, but in the outcome.
import { setMaxListeners } from 'node:events';
import { last, map, Observable, type OperatorFunction, pipe } from 'rxjs';
import { assert } from '../../core/schema/failure.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { LiveRun } from './live-run.js';
import type { LoadResult } from './result.js';

export interface LoadRun<Result extends LoadResult = LoadResult> extends LiveRun {
  result?: Result;
}

/** The run begins on subscription. Unsubscribing stops it, as the signal does. */
export function rowsOfLive<Result extends LoadResult>(
  signal: AbortSignal | undefined,
  live: (onRow: (row: CycleRow<LoadRun<Result>>) => void, stop: AbortSignal) => Promise<Result>,
): Observable<CycleRow<LoadRun<Result>>> {
  return new Observable((subscriber) => {
    const unsubscribed = new AbortController();
    const stop = AbortSignal.any([unsubscribed.signal, ...(signal === undefined ? [] : [signal])]);
    setMaxListeners(0, stop);
    let run: LoadRun<Result> | undefined;
    const onRow = (row: CycleRow<LoadRun<Result>>) => {
      run = row.run;
      subscriber.next(row);
    };
    live(onRow, stop).then(
      (result) => {
        assert(run !== undefined, 'a live run has a row');
        run.result = result;
        subscriber.complete();
      },
      (error: unknown) => subscriber.error(error),
    );
    return () => unsubscribed.abort();
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
