// Reads the event stream of a machine and resumes it after an interruption: every message exactly once.
//
//   12 transition, 12/0 rate_limited ✂   resumed after 11:  12 transition (dropped), 12/0 rate_limited, 13 …
//
// One row can be several messages, and the connection may break between them. So the stream resumes one row earlier.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { pause } from '../../core/time/wall.js';
import type { RouteAddress } from '../endpoint.js';
import type { openStream } from '../events.js';
import type { ApiClient } from './api-client.js';

export interface CountsOption {
  /** Up to 24 ids. */
  readonly contracts: readonly string[];
  readonly afterCycle: () => number | undefined;
}

interface FollowOptions {
  /** The last known row of the record, 0 for none. Default: from now on. */
  readonly afterSeq?: number | undefined;
  readonly signal: AbortSignal;
  /** Called before each reconnect: another program may now answer at the address. */
  readonly prove?: (() => Promise<void>) | undefined;
  readonly onOpen?: (() => void) | undefined;
  readonly onPause?: ((waitMs: number, afterSeq: number | undefined) => void) | undefined;
  /** Default: the runtime's timer. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Contracts whose counts are streamed too, on each connection from `afterCycle` on. Default: none. */
  readonly counts?: CountsOption | undefined;
  /** Factor on the backoff, so that clients that lost the same node do not return together. Default: 1. */
  readonly jitter?: (() => number) | undefined;
}

export interface StreamMessage {
  /** `transition`, `rate_limited`, `rate_restored`, `cycle`, `counts` or the name of another event. */
  readonly event: string;
  /** The CloudEvents envelope as it was sent. */
  readonly data: string;
  /** `data` parsed; undefined if it is not an envelope. */
  readonly envelope: EventEnvelope | undefined;
}

interface EventEnvelope {
  readonly id: string;
  readonly time: string;
  readonly data: {
    readonly cycle?: number;
    readonly contract_id?: string;
    readonly key?: string;
    readonly from?: string;
    readonly to?: string;
    readonly state?: string;
    readonly count?: number;
    readonly cause?: string;
    /** Of `rows_removed`: rows up to this one were removed before they were read. */
    readonly removed_to_seq?: number;
  };
}

type DataField = keyof EventEnvelope['data'];
const numbers = ['cycle', 'count', 'removed_to_seq'] satisfies DataField[];
const texts = ['contract_id', 'key', 'from', 'to', 'state', 'cause'] satisfies DataField[];

const route = { method: 'GET', path: '/api/chain/{slug}/stream' } satisfies Pick<typeof openStream, keyof RouteAddress>;

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

const LONGEST_MESSAGE = 4 << 20;

/**
 * Yields every message once until the signal is aborted. The first connection is not retried.
 * @throws what the client throws for the first connection; later the refusal of a node that is up
 */
export async function* follow(api: ApiClient, slug: string, options: FollowOptions): AsyncGenerator<StreamMessage> {
  const { afterSeq, signal, prove, onOpen, onPause, counts, jitter = () => 1 } = options;
  const { sleep = (ms: number) => pause(ms, signal) } = options;
  const seen = new Seen(afterSeq);
  let waitMs = FIRST_WAIT_MS;
  let askedMs: number | undefined;
  const tooLong = () => api.unreadable(`A message has more than ${LONGEST_MESSAGE} characters.`);
  for (let hasConnected = false; !signal.aborted; ) {
    try {
      if (hasConnected) await prove?.();
      const asked = counts && { counts: counts.contracts.join(), after_cycle: counts.afterCycle() };
      const ask = { params: { slug }, query: { last_event_id: seen.resumeAfter, ...asked } };
      const pieces = await api.open(route, ask, 'text/event-stream', signal);
      hasConnected = true;
      onOpen?.();
      askedMs = undefined;
      const onRetry = (ms: number) => {
        askedMs = ms;
      };
      for await (const message of messagesIn(pieces, onRetry, tooLong)) {
        waitMs = FIRST_WAIT_MS;
        const { event = 'message', data, id = '' } = message;
        const envelope = envelopeIn(data);
        if (seen.isNew(Number.parseInt(id, 10), event, envelope?.id ?? `${event} ${data}`))
          yield { event, data, envelope };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!hasConnected || !isTemporary(error)) throw error;
    }
    if (signal.aborted) return;
    const thisTimeMs = askedMs ?? waitMs * jitter();
    onPause?.(thisTimeMs, seen.resumeAfter);
    await sleep(thisTimeMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

function isTemporary(error: unknown): boolean {
  const codes: readonly unknown[] = ['node_unreachable', 'node_draining', 'node_overloaded'];
  return error instanceof Error && codes.includes((error as { code?: unknown }).code);
}

async function* messagesIn(
  pieces: AsyncIterable<Uint8Array>,
  onRetry: (ms: number) => void,
  tooLong: () => Error,
): AsyncGenerator<EventSourceMessage> {
  let ready: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => ready.push(message),
    onRetry,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLong();
    },
    maxBufferSize: LONGEST_MESSAGE,
  });
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    parser.feed(decoder.decode(piece, { stream: true }));
    const complete = ready;
    ready = [];
    yield* complete;
  }
}

class Seen {
  #seq: number | undefined;
  readonly #ofLast = new Set<string>();

  constructor(afterSeq: number | undefined) {
    this.#seq = afterSeq;
  }

  get resumeAfter(): number | undefined {
    return this.#ofLast.size === 0 || this.#seq === undefined ? this.#seq : Math.max(0, this.#seq - 1);
  }

  /** @param seq row of the message; NaN without a row */
  isNew(seq: number, event: string, message: string): boolean {
    if (event === 'cycle' || event === 'counts' || !Number.isSafeInteger(seq)) return true;
    const last = this.#seq ?? Number.NEGATIVE_INFINITY;
    if (seq < last) return false;
    if (seq > last) this.#ofLast.clear();
    this.#seq = seq;
    if (this.#ofLast.has(message)) return false;
    this.#ofLast.add(message);
    return true;
  }
}

function envelopeIn(text: string): EventEnvelope | undefined {
  try {
    const { id, time, data } = JSON.parse(text);
    if (typeof id !== 'string' || typeof time !== 'string' || typeof data !== 'object' || data === null)
      return undefined;
    const fits = (type: string) => (name: string) => data[name] === undefined || typeof data[name] === type;
    return numbers.every(fits('number')) && texts.every(fits('string')) ? { id, time, data } : undefined;
  } catch {
    return undefined;
  }
}
