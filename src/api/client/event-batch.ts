// A bounded buffer of events for a machine. It sends while the contracts admit and waits while they limit.
//
//   add ─► buffer ─► POST …/events ─► room left ─► no more than that next
//            ^             └─► none left, limiting ─► wait: retry_after, or rate_restored of the stream ─► one event, then as above
//            └─ full: the new event is rejected, or the oldest dropped; both are counted
//
// A chunk keeps its idempotency key until it is answered, so a resent chunk counts once. A limited event was counted and is not resent.
import type { Static } from 'typebox';
import { pause } from '../../core/time/wall.js';
import type { countMany, EventShape } from '../events.js';
import type { AnswerOf } from './api-client.js';
import type { StreamMessage } from './event-stream.js';
import { jitter, newIdempotencyKey } from './http-transport.js';
import { WeirError } from './weir-error.js';

/** `type`, and optionally `count` (1 to 1e9), `cycle`, `contract_id` and the other fields of the route. */
export type WeirEvent = Static<typeof EventShape>;

type Answer = AnswerOf<typeof countMany>;

type Decision = Extract<Answer['outcomes'][number], { readonly ok: true }>['contracts'][number];

interface BatchTarget {
  send(
    events: readonly WeirEvent[],
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<Answer>;
  cycleMs(): Promise<number>;
  follow(signal: AbortSignal): AsyncIterable<StreamMessage>;
}

export interface BatchOptions {
  /** Maximum events per request, 1 to 1,000; contracts may take up to 2,500 decisions of them. Default: 200. */
  readonly size?: number | undefined;
  /** How long an event waits for others, in ms, from 0. Default: 100. */
  readonly lingerMs?: number | undefined;
  /** Buffer size in events, from 1. Default: 10,000. */
  readonly capacity?: number | undefined;
  /** What a full buffer discards: the new event or the oldest. Default: `reject`. */
  readonly whenFull?: 'reject' | 'drop_oldest' | undefined;
  /** Also follows the machine's event stream, to resume as soon as the rate is restored. Default: false. */
  readonly follow?: boolean | undefined;
  /** Receives the errors of failed requests, and of the stream. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface BatchFigures {
  /** Events in the buffer and in flight. */
  readonly waiting: number;
  /** Answered events by result. `refused`: not counted, for example because of a wrong type. */
  readonly admitted: number;
  readonly limited: number;
  readonly refused: number;
  /** `rejected`: the buffer was full. `dropped`: removed from the buffer. */
  readonly rejected: number;
  readonly dropped: number;
  /** Whether sending is paused because a contract is limiting. */
  readonly isHeld: boolean;
}

/** Longest backoff in ms (the first is 1 s), and the wait for a contract that states none. */
const LONGEST_WAIT_MS = 30_000;

export class EventBatch {
  readonly #target: BatchTarget;
  readonly #options: Required<{ [Name in keyof BatchOptions]: NonNullable<BatchOptions[Name]> }>;
  readonly #waiting: WeirEvent[] = [];
  readonly #ended = new AbortController();
  #sending: readonly WeirEvent[] = [];
  #counts = { admitted: 0, limited: 0, refused: 0, rejected: 0, dropped: 0 };
  #room = Number.POSITIVE_INFINITY;
  #held: Promise<void> | undefined;
  #hold: AbortController | undefined;
  #linger = new AbortController();
  #work: Promise<void> | undefined;
  #failure: unknown;
  #cycleMs: number | undefined;

  constructor(target: BatchTarget, options: BatchOptions) {
    const { size = 200, lingerMs = 100, capacity = 10_000, whenFull = 'reject', follow = false } = options;
    const { onError = () => {} } = options;
    this.#target = target;
    this.#options = { size, lingerMs, capacity, whenFull, follow, onError };
    if (follow) void this.#follow();
  }

  get figures(): BatchFigures {
    const waiting = this.#waiting.length + this.#sending.length;
    return { waiting, ...this.#counts, isHeld: this.#hold !== undefined };
  }

  /**
   * @returns false if the full buffer rejects the event
   * @throws the error that ended the batch: a permanent refusal of the node, or `wrong_usage` after `close`
   */
  add(event: WeirEvent): boolean {
    if (this.#failure !== undefined) throw this.#failure;
    const { capacity, whenFull, size } = this.#options;
    if (this.#waiting.length + this.#sending.length >= capacity) {
      if (whenFull === 'reject' || this.#waiting.length === 0) {
        this.#counts.rejected += 1;
        return false;
      }
      this.#waiting.shift();
      this.#counts.dropped += 1;
    }
    this.#waiting.push(event);
    if (this.#waiting.length >= size) this.#linger.abort();
    this.#start();
    return true;
  }

  async flush(): Promise<void> {
    this.#linger.abort();
    while (this.#work !== undefined) await this.#work;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Sends the backlog, then accepts no more. @param signal stops sending; the rest counts as dropped */
  async close(signal?: AbortSignal): Promise<BatchFigures> {
    const stop = () => this.#ended.abort();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    try {
      await this.flush();
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#ended.abort();
      this.#counts.dropped += this.#waiting.splice(0).length;
      const detail = 'The batch is closed.';
      this.#failure ??= new WeirError({ code: 'wrong_usage', status: 0, title: detail, detail });
    }
    return this.figures;
  }

  get #isEnded(): boolean {
    return this.#failure !== undefined || this.#ended.signal.aborted;
  }

  #start(): void {
    if (this.#work !== undefined || this.#waiting.length === 0 || this.#isEnded) return;
    this.#work = this.#run().finally(() => {
      this.#work = undefined;
      // Events may have arrived after the loop ended.
      this.#start();
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#ended.signal.aborted) {
      const { size, lingerMs } = this.#options;
      if (this.#waiting.length < size) await pause(lingerMs, this.#linger.signal);
      this.#linger = new AbortController();
      await this.#held;
      this.#sending = this.#waiting.splice(0, Math.max(1, Math.min(size, this.#room)));
      if (this.#sending.length > 0 && !(await this.#send(newIdempotencyKey()))) return;
    }
  }

  /** Resends the chunk until it is answered. @returns whether the batch continues */
  async #send(idempotencyKey: string): Promise<boolean> {
    const { onError } = this.#options;
    for (let waitMs = 1_000; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      try {
        await this.#sendOnce(idempotencyKey);
        return true;
      } catch (error) {
        if (this.#ended.signal.aborted) {
          this.#counts.dropped += this.#sending.length;
          this.#sending = [];
          return false;
        }
        onError(error);
        const { status = 400, code, retryAfterMs = 0 } = error as Partial<WeirError>;
        if (code !== 'node_unreachable' && status !== 429 && status < 500) {
          this.#counts.refused += this.#sending.length;
          this.#sending = [];
          this.#failure = error;
          return false;
        }
        await pause(retryAfterMs + jitter() * waitMs, this.#ended.signal);
      }
    }
  }

  async #sendOnce(idempotencyKey: string): Promise<void> {
    const { signal } = this.#ended;
    const events = this.#sending;
    const answer = await this.#target.send(events, { idempotencyKey, signal });
    this.#sending = [];
    this.#counts.admitted += answer.admitted;
    this.#counts.limited += answer.limited;
    this.#counts.refused += answer.refused;
    this.#room = Number.POSITIVE_INFINITY;
    let waitMs = 0;
    for (const { remaining, retry_after_cycles: cycles, retry_after_ms: ms } of lastDecisions(answer)) {
      this.#room = Math.min(this.#room, remaining ?? Number.POSITIVE_INFINITY);
      // No wait is given: waiting does not help, and only another event can detect that someone moved the contract.
      const thisMs = ms ?? (cycles === undefined ? LONGEST_WAIT_MS : cycles * (await this.#lengthOfCycle()));
      waitMs = Math.max(waitMs, thisMs);
    }
    if (waitMs > 0) this.#held = this.#holdFor(waitMs);
  }

  /** Waits until a request should be admitted; then a single event probes the room. */
  async #holdFor(waitMs: number): Promise<void> {
    this.#hold = new AbortController();
    await pause(waitMs, AbortSignal.any([this.#hold.signal, this.#ended.signal]));
    this.#hold = undefined;
    this.#held = undefined;
    this.#room = 1;
  }

  async #lengthOfCycle(): Promise<number> {
    this.#cycleMs ??= await this.#target.cycleMs();
    return this.#cycleMs;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    try {
      for await (const { event } of this.#target.follow(signal)) if (event === 'rate_restored') this.#hold?.abort();
    } catch (error) {
      // Without the stream, the wait from the answer applies.
      this.#options.onError(error);
    }
  }
}

/** The last one of each contract. One with keys pauses nothing: others have room. */
function lastDecisions({ outcomes }: Answer): Iterable<Decision> {
  const last = new Map<string, Decision>();
  for (const outcome of outcomes) {
    if (outcome.ok) for (const one of outcome.contracts) if (one.key === undefined) last.set(one.id, one);
  }
  return last.values();
}
