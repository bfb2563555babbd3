// Sends the requests of a schedule at their instants: an open loop, in which a slow answer delays no request.
//
//   cycle             |head|<──────── window ────────>|        tail         |
//   by cycles         |    | x xx      x     x        |                     |     as the model of arrivals has them, drawn together
//   by instants       | x  xx           x          x        x               |     as the model of arrivals has them, for rules and rates
//   without a model   |    |  x    x    x    x    x   |                     |     (k + 1/2) / n
//
// The head covers the uncertainty of the target's clock, the tail delays: a late timer, garbage collection, a busy machine. If decisions
// depend on cycles alone, the position within a cycle changes none.

import { startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { CycleCounts } from '../traffic/requests.js';
import type { Sending, Stage } from './sending.js';

/** A part of the requests, each at its instant in the whole schedule. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

/** Requests sent within this time are assumed to be in flight together. */
const ROUND_TRIP_MS = 3;

const ALL: Share = { index: 0, of: 1 };

/** Overdue sends are made in batches, so that answers are read in between. */
const MOST_AT_A_TIME = 32;

type SenderStage = Pick<Stage, 'clock' | 'firstCycle' | 'inFlight' | 'observer' | 'uncertaintyMs' | 'warm'>;

/** @param schedule one by one; cycles, and instants, count from the start of the run @param byInstants as `LoadOptions` */
export function pacedSender(
  schedule: Iterable<CycleCounts>,
  { clock, firstCycle, inFlight, observer, uncertaintyMs, warm }: SenderStage,
  byInstants = false,
  share = ALL,
): Sending {
  const coming = schedule[Symbol.iterator]();
  let dues = new Float64Array(64);
  let contracts = new Uint32Array(64);
  const costs: (number | undefined)[] = [];
  let n = 0;
  let place = 0;
  let scheduled = 0;
  let stopped = false;
  const pump = (): void => {
    for (let sent = 0; sent < MOST_AT_A_TIME && !stopped; sent += 1) {
      inFlight.launch(contracts[place]!, dues[place]!, costs[place]);
      place += 1;
      if (place === n) {
        prepare();
        return;
      }
      if (dues[place]! > clock.now()) break;
    }
    if (!stopped) clock.agenda.at(dues[place]!, Rank.arrival, pump);
  };
  /** Plans the next cycle with requests while the previous one runs, and waits for its first request. */
  const prepare = (): void => {
    if (stopped) return;
    const { done, value: batch } = coming.next();
    if (done === true) return;
    plan(batch);
    warm?.(mostAtOnce());
    const startMs = startOf(firstCycle + batch.cycle, clock.cycleMs);
    if (n === 0) clock.agenda.at(startMs, Rank.cycle, prepare);
    else clock.agenda.at(dues[0]!, Rank.arrival, pump);
  };
  const plan = ({ cycle, contracts: asked, instants, costs: own }: CycleCounts): void => {
    const all = asked.length;
    const fractionOf = (k: number) =>
      instants === undefined ? (k + 0.5) / all : (instants[k]! - startOf(cycle, clock.cycleMs)) / clock.cycleMs;
    const startMs = startOf(firstCycle + cycle, clock.cycleMs);
    const { fromMs, lengthMs } = byInstants
      ? { fromMs: 0, lengthMs: clock.cycleMs }
      : sendWindow(all, clock.cycleMs, uncertaintyMs);
    if (dues.length < all) {
      dues = new Float64Array(2 * all);
      contracts = new Uint32Array(2 * all);
    }
    let kept = 0;
    for (let k = 0; k < all; k += 1) {
      if ((scheduled + k) % share.of !== share.index) continue;
      dues[kept] = startMs + fromMs + fractionOf(k) * lengthMs;
      contracts[kept] = asked[k]!;
      costs[kept] = own?.[k];
      kept += 1;
    }
    scheduled += all;
    n = kept;
    place = 0;
    observer.plan(firstCycle + cycle, kept);
  };
  const mostAtOnce = (): number => {
    let most = 0;
    let from = 0;
    for (let k = 0; k < n; k += 1) {
      while (dues[k]! - dues[from]! > ROUND_TRIP_MS) from += 1;
      most = Math.max(most, k - from + 1);
    }
    return most;
  };
  return {
    isScheduled: true,
    start: prepare,
    stop() {
      stopped = true;
    },
  };
}

/** Share of a cycle in which few requests are sent. */
const SHARE = 0.5;
/** Time per request when there are many: a generator easily sends ten thousand a second. */
const MS_EACH = 0.1;
/** Head beyond the uncertainty: a timer never fires early, so little is needed. */
const HEAD_MS = 1;
/** Minimum tail when there are many requests: the time for a delayed generator to catch up. */
const TAIL_SHARE = 0.1;
const LEAST_TAIL_MS = 20;

/** The part of a cycle in which requests are sent, away from its edges. */
export function sendWindow(n: number, cycleMs: number, uncertaintyMs: number) {
  const fromMs = Math.min(HEAD_MS + uncertaintyMs, cycleMs / 4);
  const tailMs = Math.min(Math.max(LEAST_TAIL_MS, TAIL_SHARE * cycleMs) + uncertaintyMs, cycleMs / 4);
  const mostMs = cycleMs - fromMs - tailMs;
  return { fromMs, lengthMs: Math.min(mostMs, Math.max(SHARE * cycleMs - fromMs, n * MS_EACH)) };
}

/** The first of a schedule; undefined: all. */
export function* upTo(requests: number | undefined, schedule: Iterable<CycleCounts>): Generator<CycleCounts> {
  let left = requests ?? Number.POSITIVE_INFINITY;
  for (const { contracts, instants, costs, ...batch } of schedule) {
    const n = Math.min(contracts.length, left);
    left -= n;
    yield {
      ...batch,
      contracts: contracts.subarray(0, n),
      instants: instants?.subarray(0, n),
      costs: costs?.subarray(0, n),
    };
  }
}
