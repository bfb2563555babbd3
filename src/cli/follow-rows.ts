// The rows of a run while they come, for the commands that run something.
import { lastValueFrom, type Observable, type OperatorFunction, tap } from 'rxjs';

/** Shows each row, and resolves with what the rows add up to. */
export function followRows<Row, Result>(
  rows: Observable<Row>,
  show: (row: Row) => void,
  sum: OperatorFunction<Row, Result>,
): Promise<Result> {
  return lastValueFrom(rows.pipe(tap(show), sum));
}
