// The requests of a live run, from their planning to their end, by the cycle in which the target counted them.
//
//   planned ──► sent ──┬─► answered: decided in a cycle that the target reports
//                      ├─► failed
//                      └─► timed out             sent = answered + failed + timed out, once nothing is in flight
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { SeenRequest } from '../explain/seen-request.js';
import type { Stretch } from '../outcome/stretch.js';
import { Latency } from './latency.js';
import type { DecidedAnswer, RequestEnd, RequestFault } from './target.js';

export interface SentRequest {
  readonly contract: number;
  readonly cost: number | undefined;
  /** The scheduled instant; its cycle is the planned one. */
  readonly intendedMs: number;
  readonly sentMs: number;
}

/** Learns each step of each request. */
export interface RequestObserver {
  plan(cycle: number, n: number): void;
  send(request: SentRequest): void;
  /** @param apartMs largest error of the sender's clock relative to that of the run. Default: 0 */
  end(request: SentRequest, endedMs: number, end: RequestEnd, apartMs?: number): void;
}

/** A request that has ended; without an answer `answeredMs` is Infinity. What is not known of a generator's clock widens its span. */
export interface EndedRequest extends SeenRequest {
  readonly contract: number;
  /** In which the target counted it, as it reports, if that lies between sending and answer; else that of the sending. */
  readonly cycle: number;
  readonly count?: number | undefined;
  readonly state?: string | undefined;
  /** How long the client held it after the answer, as the target asked. */
  readonly delayMs?: number | undefined;
  readonly fault?: RequestFault | undefined;
  /** A reported cycle before its sending or after its answer, and by how much. */
  readonly impossible?: { readonly cycle: number; readonly byMs: number } | undefined;
}

/** This share of the requests, or this number, may arrive in another cycle than planned: the model uses the actual arrivals. */
const TOLERATED_LATE = 0.02;
const TOLERATED_LATE_LEAST = 2;

export function isLate(late: number, planned: number): boolean {
  return late > Math.max(TOLERATED_LATE_LEAST, TOLERATED_LATE * planned);
}

/** Three round trips of 80 ms, for opening a connection with TLS. */
export const LATE_MS = 250;

export function isSentLate(
  { intendedMs, sentMs }: Pick<SentRequest, 'intendedMs' | 'sentMs'>,
  { cycleMs, plansByCycle }: Pick<RequestLogOptions, 'cycleMs' | 'plansByCycle'>,
): boolean {
  return plansByCycle ? cycleOf(sentMs, cycleMs) > cycleOf(intendedMs, cycleMs) : sentMs - intendedMs > LATE_MS;
}

interface Use {
  readonly connections: number;
  readonly waited: number;
}

/** Whether requests were late because all connections were in use. */
export function isCrowded({ waited }: Use, late: number): boolean {
  return 2 * waited > late;
}

export function crowdedWords({ connections }: Use): string {
  return `${connections} connections were in use; raise -c/--connections.`;
}

export interface RequestLogOptions {
  readonly cycleMs: number;
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly firstCycle: number;
  readonly slackMs: number;
  /** As of `plansByCycle()`. */
  readonly plansByCycle: boolean;
}

interface LoggedCycle {
  planned: number;
  sent: number;
  /** In order of their answers. */
  readonly answered: EndedRequest[];
}

export class RequestLog implements RequestObserver {
  /** In order of their ends. */
  readonly requests: EndedRequest[] = [];
  readonly byCycle = new Map<number, LoggedCycle>();
  readonly latency = new Latency();
  /** By the first refusal that announces one; undefined from generators elsewhere. */
  announcedLimit: number | undefined;
  planned = 0;
  sent = 0;
  answered = 0;
  timedOut = 0;
  failed = 0;
  late = 0;
  astray = 0;

  constructor(readonly options: RequestLogOptions) {}

  plan(cycle: number, n: number): void {
    if (n === 0) return;
    this.planned += n;
    this.of(cycle).planned += n;
  }

  send(request: SentRequest): void {
    this.sent += 1;
    this.of(cycleOf(request.sentMs, this.options.cycleMs)).sent += 1;
    if (isSentLate(request, this.options)) this.late += 1;
    this.latency.sent(request.intendedMs, request.sentMs);
  }

  end(request: SentRequest, endedMs: number, end: RequestEnd, apartMs = 0): void {
    if (end.type === 'decided') {
      this.#decided(request, endedMs, end, apartMs);
      return;
    }
    const { contract, cost, sentMs } = request;
    const span = { sentMs: sentMs - apartMs, answeredMs: Number.POSITIVE_INFINITY };
    const cycle = cycleOf(sentMs, this.options.cycleMs);
    this.requests.push({ contract, cost, cycle, ...span, decision: 'unknown', fault: end });
    if (end.kind === 'timed_out') this.timedOut += 1;
    else this.failed += 1;
  }

  of(cycle: number): LoggedCycle {
    return getOrInsert(this.byCycle, cycle, () => ({ planned: 0, sent: 0, answered: [] }));
  }

  get faults(): (RequestFault & EndedRequest)[] {
    return this.requests.flatMap((request) => (request.fault === undefined ? [] : { ...request, ...request.fault }));
  }

  /** Requests that the target may have counted. */
  get seen(): EndedRequest[] {
    return this.requests.filter(({ fault }) => fault?.kind !== 'refused');
  }

  #decided(request: SentRequest, endedMs: number, answer: DecidedAnswer, apartMs: number): void {
    const { cycleMs, phases, firstCycle } = this.options;
    const { contract, cost, intendedMs } = request;
    const { admitted, count, state, delayMs, announced } = answer;
    const [planned, sent] = [cycleOf(intendedMs, cycleMs), cycleOf(request.sentMs, cycleMs)];
    const [sentMs, answeredMs] = [request.sentMs - apartMs, endedMs + apartMs];
    const impossible = this.#impossible(answer.cycle, sentMs, answeredMs);
    const cycle = impossible === undefined ? (answer.cycle ?? sent) : sent;
    // Not by spreading: an object of a run has then five times the size.
    const ended: EndedRequest = {
      contract,
      cost,
      cycle,
      sentMs,
      answeredMs,
      decision: admitted ? 'admitted' : 'limited',
      count,
      state,
      delayMs,
      announcedMs: answer.retryAfterMs,
      impossible,
    };
    this.requests.push(ended);
    this.of(cycle).answered.push(ended);
    this.answered += 1;
    if (cycle !== planned && sent === planned) this.astray += 1;
    if (!admitted) this.announcedLimit ??= announced?.().limit;
    const since = planned - firstCycle;
    const at = Object.entries(phases).flatMap(([name, { from, to }]) => (since >= from && since < to ? [name] : []));
    const instants = { intendedMs, sentMs: request.sentMs, answeredMs: endedMs };
    this.latency.answered({ ...instants, admitted, cycle: planned, phases: at });
  }

  #impossible(stamped: number | undefined, sentMs: number, answeredMs: number): EndedRequest['impossible'] {
    if (stamped === undefined) return undefined;
    const { cycleMs, slackMs } = this.options;
    const byMs = Math.max(startOf(stamped, cycleMs) - answeredMs, sentMs - startOf(stamped + 1, cycleMs));
    return byMs <= slackMs ? undefined : { cycle: stamped, byMs };
  }
}
