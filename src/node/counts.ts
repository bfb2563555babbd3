// Owns what the node counts about itself while it works: plain numbers, so that counting costs next to nothing. Leaves showing
// them to metrics.ts.
import { Histogram } from 'prom-client';

/** What tells routes apart. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** Statuses have three digits: one number each. */
const STATUSES = 600;

/** Upper bounds in seconds: from a commit in memory to a disk in trouble. */
const COMMIT_BUCKETS = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export class Counts {
  /** Decisions, since the node started. */
  admitted = 0;
  limited = 0;
  /** Rows of the record that are durable, by what they say. */
  transitions = 0;
  refusedTransitions = 0;
  failedContracts = 0;
  /** Times that a reader of a stream fell behind because more waited for it than may. */
  laggingReaders = 0;
  /** Connections that are open. */
  connections = 0;
  /** Requests that were no HTTP, or came too slowly: they reached no route. */
  malformedRequests = 0;
  /** Cycles at whose beginning nothing could run. */
  missedCycles = 0;
  readonly commitSeconds = new Histogram({
    name: 'weir_commit_seconds',
    help: 'From asking for a commit until all before it was durable.',
    buckets: COMMIT_BUCKETS,
    registers: [],
  });
  readonly #requests = new Map<RouteName | undefined, Float64Array>();

  /** The number of answers of a route, by status; those of no route where it is undefined. */
  answersOf(route: RouteName | undefined): Float64Array {
    let answers = this.#requests.get(route);
    if (answers === undefined) {
      answers = new Float64Array(STATUSES);
      this.#requests.set(route, answers);
    }
    return answers;
  }

  /** Every route and status that was answered, with how often. */
  *answers(): Generator<{ route: RouteName | undefined; status: number; count: number }> {
    for (const [route, answers] of this.#requests) {
      for (const [status, count] of answers.entries()) if (count > 0) yield { route, status, count };
    }
  }
}
