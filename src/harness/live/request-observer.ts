// Records each step of each request. Goes directly into the log and latencies of the run; a remote generator packs it into rows, which are
// replayed into those of the whole run.
//
//   here         planned, sent, decided ─────────────────────────────────┬─► log, latencies ─► verdict
//   generators   planned, sent, decided ─► rows ─► Redis ─► rows, played ┘
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { Stretch } from '../outcome/stretch.js';
import type { Latency } from './latency.js';
import { isSentLate, type RequestFault, type RequestLog } from './request-log.js';
import type { DecidedAnswer } from './target.js';

export interface SentRequest {
  readonly contract: number;
  readonly cost: number | undefined;
  /** The scheduled instant; its cycle is the planned one. */
  readonly intendedMs: number;
  readonly sentMs: number;
}

export interface RequestObserver {
  plan(cycle: number, n: number): void;
  sent(request: SentRequest): void;
  decided(request: SentRequest, answeredMs: number, reading: DecidedAnswer): void;
  broke(request: SentRequest, endedMs: number, kind: RequestFault['kind'], words: string): void;
}

export interface LoggedRequestsOptions {
  readonly requestLog: RequestLog;
  readonly latency: Latency;
  readonly cycleMs: number;
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly firstCycle: number;
  readonly slackMs: number;
  /** Whether the limiter decides by the ms, even if its target reports cycles. */
  readonly decidesByMs: boolean;
  /** As of `plansByCycle()`. */
  readonly plansByCycle: boolean;
  /** Largest error of the sender's clock relative to that of the run, in ms. Default: 0. */
  readonly apartMs?: number | undefined;
}

export class LoggedRequests implements RequestObserver {
  readonly #options: LoggedRequestsOptions;

  constructor(options: LoggedRequestsOptions) {
    this.#options = options;
  }

  plan(cycle: number, n: number): void {
    this.#options.requestLog.plan(cycle, n);
  }

  sent({ intendedMs, sentMs }: SentRequest): void {
    const { requestLog, latency, cycleMs } = this.#options;
    requestLog.send(cycleOf(sentMs, cycleMs));
    if (isSentLate(intendedMs, sentMs, this.#options)) requestLog.late += 1;
    latency.sent(intendedMs, sentMs);
  }

  decided({ contract, cost, intendedMs, sentMs }: SentRequest, answeredMs: number, reading: DecidedAnswer): void {
    const { requestLog, latency, cycleMs, phases, firstCycle, decidesByMs, apartMs = 0 } = this.#options;
    const { admitted, count, state, delayMs, retryAfterMs: announcedMs } = reading;
    const planned = cycleOf(intendedMs, cycleMs);
    const [fromMs, toMs] = [sentMs - apartMs, answeredMs + apartMs];
    if (reading.cycle === undefined || decidesByMs) {
      const decision = admitted ? 'admitted' : 'limited';
      requestLog.seen.push({ contract, cost, sentMs: fromMs, answeredMs: toMs, decision, announcedMs });
    }
    if (!admitted) requestLog.announcedLimit ??= reading.announced?.().limit;
    const sent = cycleOf(sentMs, cycleMs);
    const arrived = this.#arrivedIn(reading.cycle, contract, sent, fromMs, toMs);
    if (arrived !== planned && sent === planned) requestLog.astray += 1;
    requestLog.decide(arrived, contract, { admitted, count, state, delayMs, cost }, sentMs, answeredMs);
    const since = planned - firstCycle;
    const at = Object.entries(phases).flatMap(([name, { from, to }]) => (since >= from && since < to ? [name] : []));
    latency.answered({ intendedMs, sentMs, answeredMs, admitted, cycle: planned, phases: at });
  }

  broke({ contract, cost, sentMs }: SentRequest, _endedMs: number, kind: RequestFault['kind'], words: string): void {
    const { requestLog, cycleMs, apartMs = 0 } = this.#options;
    requestLog.fail({ kind, contract, cycle: cycleOf(sentMs, cycleMs), words });
    if (kind === 'refused') return;
    const answeredMs = Number.POSITIVE_INFINITY;
    requestLog.seen.push({ contract, cost, sentMs: sentMs - apartMs, answeredMs, decision: 'unknown' });
  }

  /** The cycle in which the target counted the request: as reported, if that lies between sending and answer. */
  #arrivedIn(stamped: number | undefined, contract: number, cycle: number, fromMs: number, toMs: number): number {
    const { requestLog, cycleMs, slackMs } = this.#options;
    if (stamped === undefined) return cycle;
    const byMs = Math.max(startOf(stamped, cycleMs) - toMs, fromMs - startOf(stamped + 1, cycleMs));
    if (byMs <= slackMs) return stamped;
    requestLog.impossible.push({ contract, cycle, stamped, byMs });
    return cycle;
  }
}

type Text = string | null;
type Count = number | null;

/** A plan, a decision, or a request without one. `waitMs`: time held if admitted, announced wait if limited. */
export type Row =
  | readonly [cycle: number, n: number]
  | readonly [...Way, admitted: 0 | 1, cycle: Count, count: Count, state: Text, waitMs: Count]
  | readonly [...Way, kind: RequestFault['kind'], words: string];
type Way = [contract: number, intendedMs: number, sentMs: number, endedMs: number, cost: Count];

/** Keeps rows until taken. `sent` needs no row: it follows from the end of the request. */
export class PackedRequests implements RequestObserver {
  #rows: Row[] = [];

  plan(cycle: number, n: number): void {
    if (n > 0) this.#rows.push([cycle, n]);
  }

  sent(): void {}

  decided(request: SentRequest, answeredMs: number, reading: DecidedAnswer): void {
    const { admitted, cycle = null, count = null, state = null, delayMs = null, retryAfterMs = null } = reading;
    const way = wayOf(request, answeredMs);
    this.#rows.push([...way, admitted ? 1 : 0, cycle, count, state, admitted ? delayMs : retryAfterMs]);
  }

  broke(request: SentRequest, endedMs: number, kind: RequestFault['kind'], words: string): void {
    this.#rows.push([...wayOf(request, endedMs), kind, words]);
  }

  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

function wayOf({ contract, intendedMs, sentMs, cost }: SentRequest, endedMs: number): Way {
  return [contract, intendedMs, sentMs, endedMs, cost ?? null];
}

export function replayRows(rows: Iterable<Row>, into: RequestObserver): void {
  for (const row of rows) {
    if (row.length === 2) {
      into.plan(...row);
      continue;
    }
    const [contract, intendedMs, sentMs, endedMs, cost] = row;
    const request = { contract, cost: cost ?? undefined, intendedMs, sentMs };
    into.sent(request);
    if (row.length === 7) {
      into.broke(request, endedMs, row[5], row[6]);
      continue;
    }
    const [cycle, count, state, waitMs] = row.slice(6) as [Count, Count, Text, Count];
    into.decided(request, endedMs, {
      type: 'decided',
      admitted: row[5] === 1,
      cycle: cycle ?? undefined,
      count: count ?? undefined,
      state: state ?? undefined,
      [row[5] === 1 ? 'delayMs' : 'retryAfterMs']: waitMs ?? undefined,
    });
  }
}
