// Refuses requests beyond what the node can answer: early, at little cost, and before anything has happened.
//
//   turn of the loop   cycle ticks │ a b c d e f g h i j k │ 503 503 503 503        first come, first served;
//                                  0 ms              200 ms                         after that: retry later
//
// A request waits for one turn of the loop and is answered in the next: bounding a turn bounds the wait. A stopped machine is no reason to
// refuse: between two requests no more time counts than one can take, see loop-turn.ts. The bound applies only after the loop has been busy
// for a while: a burst after an idle moment is answered as a whole. Gates and events are refused much later than others, health checks never.
//
// A refusal costs most of what a gate costs: reading and writing a socket. Clients that ignore Retry-After could keep a node busy refusing, so
// each turn answers for as long as the one before refused. Connections on which anything but gates and events is refused are closed: a loop
// accepts one connection a turn (libuv since 1.45), so clients that return at once wait in the system's queue, at no cost.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Failure } from '../core/schema/failure.js';
import { type LoopTurn, loopTurn } from '../core/time/loop-turn.js';
import type { WallClock } from '../core/time/wall.js';
import type { Limits } from './limits.js';
import type { Counts } from './metrics.js';
import { PROBLEM_TYPE, problemOf } from './problem.js';

const DECIDES = /\/(?:gate|events?)(?:\?|$)|\/contracts\/[^/?]+\/gate\//;
export const SUPERVISES = /^\/(?:healthz|readyz|metrics)(?:\?|$)/;

/** Values of Retry-After in turn, so that refused clients do not all return at once. */
const RETRY_AFTER_SECONDS = ['1', '2', '3'];

export class Overload {
  readonly turn: LoopTurn;
  readonly #clock: Pick<WallClock, 'monotonicMs'>;
  readonly #counts: Counts;
  readonly #limits: Limits['overload'];
  #lastRefusedMs = Number.NEGATIVE_INFINITY;
  /** When this turn refused first and last, in ms since it began, and for how long the previous one did. */
  #firstInTurnMs = Number.POSITIVE_INFINITY;
  #lastInTurnMs = 0;
  #refusedBeforeMs = 0;

  constructor(clock: Pick<WallClock, 'monotonicMs'>, counts: Counts, limits: Limits['overload']) {
    this.turn = loopTurn(() => clock.monotonicMs());
    this.#clock = clock;
    this.#counts = counts;
    this.#limits = limits;
  }

  /** Whether a request was refused within the last second. */
  get isNow(): boolean {
    return this.#clock.monotonicMs() - this.#lastRefusedMs < 1_000;
  }

  before(next: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#mustRefuse(request)) this.refuse(request, response);
      else next(request, response);
    };
  }

  #mustRefuse({ url = '' }: IncomingMessage): boolean {
    const { afterMs, otherTurnMs, gateTurnMs } = this.#limits;
    const turnMs = this.turn.turnMs();
    if (turnMs === 0) this.#beginTurn();
    const most = Math.max(otherTurnMs, this.#refusedBeforeMs);
    if (turnMs <= most || this.turn.busyMs <= afterMs) return false;
    if ((turnMs <= gateTurnMs && DECIDES.test(url)) || SUPERVISES.test(url)) return false;
    this.#firstInTurnMs = Math.min(this.#firstInTurnMs, turnMs);
    this.#lastInTurnMs = turnMs;
    return true;
  }

  #beginTurn(): void {
    this.#refusedBeforeMs = Math.max(0, this.#lastInTurnMs - this.#firstInTurnMs);
    this.#firstInTurnMs = Number.POSITIVE_INFINITY;
    this.#lastInTurnMs = 0;
  }

  /** @param isLast whether to close the connection in any case */
  refuse({ method, url = '' }: IncomingMessage, response: ServerResponse, isLast = false): void {
    const answers = this.#counts.answersOf(undefined);
    answers[503]! += 1;
    this.#lastRefusedMs = this.#clock.monotonicMs();
    response.writeHead(503, [
      ...['Content-Type', PROBLEM_TYPE, 'Content-Length', LENGTH, 'Cache-Control', 'no-store'],
      ...['Retry-After', RETRY_AFTER_SECONDS[answers[503]! % RETRY_AFTER_SECONDS.length]!],
      ...['Connection', DECIDES.test(url) && !isLast && response.shouldKeepAlive ? 'keep-alive' : 'close'],
    ]);
    response.end(method === 'HEAD' ? undefined : BODY);
  }
}

export function overloaded(): Failure {
  return new Failure('node_overloaded', {
    what: 'The request was refused, and changed nothing.',
    why: 'The node has more requests than it can answer in time.',
    fix: 'Send it again after the seconds of the header Retry-After.',
  });
}

const BODY = JSON.stringify(problemOf(overloaded()));
const LENGTH = String(Buffer.byteLength(BODY));
