// The requests of a live run by cycle and contract: planned, sent, and counted by the target.
//
//   planned ──► sent ──┬─► answered: decided in a cycle that the target reports
//                      ├─► failed
//                      └─► timed out             sent = answered + failed + timed out, once nothing is in flight

import { cycleOf } from '../../core/time/cycle.js';
import type { SeenRequest } from '../explain/seen-request.js';

export interface SeenAnswer {
  readonly admitted: boolean;
  readonly count: number | undefined;
  readonly state: string | undefined;
  /** How long the client held it after the answer, as the target asked. */
  readonly delayMs?: number | undefined;
  readonly cost?: number | undefined;
}

export function costsOf(answers: readonly SeenAnswer[]): number {
  return answers.reduce((sum, { cost = 1 }) => sum + cost, 0);
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
  intendedMs: number,
  sentMs: number,
  { cycleMs, plansByCycle }: { readonly cycleMs: number; readonly plansByCycle: boolean },
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

export interface CycleCell {
  readonly cycle: number;
  readonly contract: number;
  readonly answers: SeenAnswer[];
  trip: { count: number; sentMs: number } | undefined;
  firstLimitedMs: number | undefined;
  firstAdmittedMs: number | undefined;
}

/** A request without a decision; the target may have counted it. */
export interface RequestFault {
  readonly kind: 'unexpected' | 'overloaded' | 'closed' | 'refused' | 'not_http' | 'other' | 'timed_out';
  readonly contract: number;
  readonly cycle: number;
  readonly words: string;
}

/** An answer with an impossible cycle: before the request was sent, or after its answer. */
export interface Impossible {
  readonly cycle: number;
  readonly contract: number;
  readonly stamped: number;
  readonly byMs: number;
}

interface CycleCount {
  planned: number;
  sent: number;
  arrived: number;
}

export class RequestLog {
  readonly faults: RequestFault[] = [];
  readonly impossible: Impossible[] = [];
  /** Requests that the target may have counted; empty if it reports cycles and decides by them. */
  readonly seen: SeenRequest[] = [];
  readonly byCycle = new Map<number, CycleCount>();
  /** By the first refusal that announces one; undefined from generators elsewhere. */
  announcedLimit: number | undefined;
  planned = 0;
  sent = 0;
  answered = 0;
  timedOut = 0;
  failed = 0;
  late = 0;
  astray = 0;
  readonly #cells = new Map<number, Map<number, CycleCell>>();

  cells(): CycleCell[] {
    return [...this.#cells.keys()].sort((a, b) => a - b).flatMap((cycle) => this.cellsIn(cycle));
  }

  cellsIn(cycle: number): CycleCell[] {
    return [...(this.#cells.get(cycle)?.values() ?? [])].sort((a, b) => a.contract - b.contract);
  }

  plan(cycle: number, n: number): void {
    if (n === 0) return;
    this.planned += n;
    this.of(cycle).planned += n;
  }

  send(cycle: number): void {
    this.sent += 1;
    this.of(cycle).sent += 1;
  }

  decide(cycle: number, contract: number, answer: SeenAnswer, sentMs: number, answeredMs: number): void {
    this.answered += 1;
    this.of(cycle).arrived += 1;
    const cell = this.#cell(cycle, contract);
    cell.answers.push(answer);
    if (answer.admitted) {
      cell.firstAdmittedMs ??= answeredMs;
      return;
    }
    cell.firstLimitedMs ??= answeredMs;
    const reached = answer.count ?? Number.POSITIVE_INFINITY;
    if (cell.trip === undefined || reached < cell.trip.count) cell.trip = { count: reached, sentMs };
  }

  fail(fault: RequestFault): void {
    this.faults.push(fault);
    if (fault.kind === 'timed_out') this.timedOut += 1;
    else this.failed += 1;
  }

  of(cycle: number): CycleCount {
    let count = this.byCycle.get(cycle);
    if (count === undefined) {
      count = { planned: 0, sent: 0, arrived: 0 };
      this.byCycle.set(cycle, count);
    }
    return count;
  }

  #cell(cycle: number, contract: number): CycleCell {
    const cells = this.#cells.get(cycle) ?? new Map<number, CycleCell>();
    this.#cells.set(cycle, cells);
    let cell = cells.get(contract);
    if (cell === undefined) {
      cell = { cycle, contract, answers: [], trip: undefined, firstLimitedMs: undefined, firstAdmittedMs: undefined };
      cells.set(contract, cell);
    }
    return cell;
  }
}
