// Sends the probes of an investigation to a live target.
//
//   plan      first request of a probe |  volley |      volley |         each at its instant, whatever happens to the others
//   ends      when all are answered; the answer that the probe waits for cancels its further volleys
//   stops     on a status that is no decision, an unanswered request, or slow answers
import { Failure } from '../../core/schema/failure.js';
import type { Ticket } from '../../core/time/agenda.js';
import { Rank } from '../../core/time/rank.js';
import type { WallClock } from '../../core/time/wall.js';
import { type Connection, type ConnectionOptions, connectTo } from '../../harness/live/connection.js';
import { RequestsInFlight } from '../../harness/live/in-flight.js';
import type { RequestObserver, SentRequest } from '../../harness/live/request-log.js';
import { ForeignTarget, type RequestEnd } from '../../harness/live/target.js';
import type { Seen } from './evidence.js';
import type { Investigated } from './explanations.js';
import type { Answered, Ask } from './investigation.js';

export interface AskingOptions
  extends Pick<ConnectionOptions, 'allowRemote' | 'insecure' | 'headers' | 'timeoutMs' | 'signal'> {
  readonly keyHeader?: string | undefined;
  /** Default: 429. */
  readonly limitedStatus?: readonly number[] | undefined;
  /** Called when the target is accepted, before the first request. */
  readonly onAccepted?: (() => void) | undefined;
  readonly onAsk?: ((ask: Ask, sent: number) => void) | undefined;
  /** Called each second while answers are awaited. */
  readonly onTick?: (() => void) | undefined;
}

const TIMEOUT_MS = 10_000;
const TICK_MS = 1_000;
const RUN_UP_MS = 25;
/** Refusals are fast: if one takes this long, the target is in trouble. */
const SLOW_MS = 1_500;
const CONNECTIONS = 256;

/** @throws Failure `wrong_usage`, `remote_not_allowed`, `insecure_connection`; `node_unreachable` without a single answer */
export async function ask<Found extends Investigated>(
  url: string,
  investigation: Generator<Ask, Found, Answered>,
  options: AskingOptions,
): Promise<Found & { readonly harm: string | undefined }> {
  const { timeoutMs = TIMEOUT_MS, onAsk } = options;
  const connection = await connectTo(url, { ...options, timeoutMs, cycleMs: 1_000, connections: CONNECTIONS });
  options.onAccepted?.();
  let harm: string | undefined;
  let sent = 0;
  const { agenda } = connection.clock;
  const tick = (): Ticket =>
    agenda.at(connection.clock.now() + TICK_MS, Rank.client, () => {
      options.onTick?.();
      ticking = tick();
    });
  let ticking = tick();
  try {
    let next = investigation.next();
    let nowMs = connection.clock.now();
    while (next.done !== true) {
      if (next.value.probe.volleys.length === 0) {
        nowMs = Math.max(nowMs, connection.clock.now() + RUN_UP_MS);
        next = investigation.next({ seen: [], nowMs, isOver: options.signal?.aborted });
        continue;
      }
      onAsk?.(next.value, sent);
      const sending = new ProbeSending(connection, next.value, options);
      const answered = await sending.run(nowMs);
      const isFirst = sent === 0;
      sent += answered.seen.length;
      nowMs = answered.nowMs;
      harm ??= sending.harm;
      if (isFirst && harm !== undefined && sent > 0 && answered.seen.every(({ decision }) => decision === 'unknown')) {
        throw new Failure('answer_unreadable', {
          what: `${connection.endpoint.origin} gave no answer that says admitted or limited.`,
          why: harm,
          fix: 'Check the address. A status other than 429 that means limited is named with --limited-status.',
        });
      }
      next = investigation.next(answered);
    }
    return { ...next.value, harm };
  } finally {
    agenda.cancel(ticking);
    await connection.close();
  }
}

/** One probe: sends its volleys, and waits until every request is answered, broken, or late. */
class ProbeSending implements RequestObserver {
  readonly #clock: WallClock;
  readonly #inFlight: RequestsInFlight;
  readonly #signal: AbortSignal | undefined;
  readonly #seen: Seen[] = [];
  /** Tickets of the volleys that are not yet sent. */
  readonly #tickets = new Set<Ticket>();
  #open = 0;
  #isStopped = false;
  #end = () => {};
  /** Why the target is asked nothing more. */
  harm: string | undefined;

  constructor(
    { clock, endpoint, pool, timeoutMs }: Connection,
    readonly ask: Ask,
    { headers, keyHeader, limitedStatus, signal }: AskingOptions,
  ) {
    this.#clock = clock;
    this.#signal = signal;
    const spec = {
      ...(headers === undefined ? {} : { headers }),
      ...(keyHeader === undefined ? {} : { key_header: keyHeader }),
      ...(limitedStatus === undefined ? {} : { limited_status: [...limitedStatus] }),
    };
    const target = new ForeignTarget(endpoint, spec, [ask.key]);
    this.#inFlight = new RequestsInFlight({ clock, pool, target, observer: this, timeoutMs, onGone: () => {} });
  }

  /** @param nowMs end of the probe before, in unix ms: the rest is counted from there */
  async run(nowMs: number): Promise<Answered> {
    const clock = this.#clock;
    const { probe, restMs } = this.ask;
    const startMs = Math.max(nowMs + restMs, clock.now() + RUN_UP_MS);
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      for (const { atMs, n } of probe.volleys) {
        const ticket = clock.agenda.at(startMs + atMs, Rank.arrival, () => {
          this.#tickets.delete(ticket);
          for (let k = 0; k < n; k += 1) this.#send();
        });
        this.#tickets.add(ticket);
      }
      this.#signal?.addEventListener('abort', this.#stop);
      if (this.#signal?.aborted === true) this.#stop();
    });
    this.#signal?.removeEventListener('abort', this.#stop);
    const seen = this.#seen.sort((a, b) => a.sentMs - b.sentMs);
    return { seen, nowMs: clock.now(), isOver: this.#isStopped };
  }

  readonly #stop = () => {
    this.#isStopped = true;
    this.#cancelVolleys();
  };

  #cancelVolleys(): void {
    for (const ticket of this.#tickets) this.#clock.agenda.cancel(ticket);
    this.#tickets.clear();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#open === 0 && this.#tickets.size === 0) this.#end();
  }

  #stopFor(words: string): void {
    this.harm ??= words;
    this.#stop();
  }

  #send(): void {
    this.#open += 1;
    this.#inFlight.launch(0, this.#clock.now(), undefined, () => {
      this.#open -= 1;
      this.#endIfDone();
    });
  }

  plan(): void {}

  send(): void {}

  end({ sentMs }: SentRequest, endedMs: number, end: RequestEnd): void {
    const { key, probe } = this.ask;
    if (end.type === 'fault') {
      this.#stopFor(end.words);
      const answeredMs = end.kind === 'unexpected' || end.kind === 'overloaded' ? endedMs : Infinity;
      this.#seen.push({ key, sentMs, answeredMs, decision: 'unknown' });
      return;
    }
    const { admitted, status, retryAfterMs: announcedMs } = end;
    const { limit, remaining } = end.announced?.() ?? {};
    if (!admitted && endedMs - sentMs > SLOW_MS)
      this.#stopFor(`A refused request took ${Math.round(endedMs - sentMs)} ms.`);
    const decision = admitted ? 'admitted' : 'limited';
    const announced = { announcedMs, announcedLimit: limit, announcedRemaining: remaining };
    this.#seen.push({ key, sentMs, answeredMs: endedMs, decision, status, ...announced });
    if (decision === probe.until) this.#cancelVolleys();
  }
}
