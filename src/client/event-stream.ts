// Reads the event stream of a machine, and resumes it after an interruption: every message exactly once.
//
//   12 transition, 12/0 rate_limited ✂   resumed after 11:  12 transition (dropped), 12/0 rate_limited, 13 …
//
// A row can be several messages, and a connection may break between two of them. So the stream is resumed one row earlier.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Static } from 'typebox';
import { openStream } from '../api/events.js';
import { reader } from '../record/shape.js';
import { Failure } from '../schema/failure.js';
import { Type } from '../schema/json-schema.js';
import type { ApiClient } from './api-client.js';

interface FollowOptions {
  /** The last known row of the record; 0 for none. */
  readonly afterSeq: number;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called before credentials are sent again, to who may be somebody else by now. */
  readonly prove: () => Promise<void>;
  /** Called before the stream is opened again. */
  readonly onPause: (waitMs: number, afterSeq: number) => void;
}

/** A message of the stream. */
export interface StreamMessage {
  /** `transition`, `rate_limited`, `rate_restored`, `cycle` or the name of another event. */
  readonly event: string;
  /** The CloudEvents envelope as it was sent. */
  readonly data: string;
  /** The same, parsed; undefined if it is not an envelope. */
  readonly envelope: Envelope | undefined;
}

const Envelope = Type.Object({
  id: Type.String(),
  time: Type.String(),
  data: Type.Object({
    cycle: Type.Optional(Type.Integer()),
    contract_id: Type.Optional(Type.String()),
    from: Type.Optional(Type.String()),
    to: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
    count: Type.Optional(Type.Number()),
    cause: Type.Optional(Type.String()),
  }),
});
export type Envelope = Static<typeof Envelope>;
const readEnvelope = reader(Envelope);

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

/** Far above the length of any message, in characters. */
const LONGEST_MESSAGE = 4 << 20;

/**
 * Yields every message once, until the signal is aborted. Only later connections are retried, not the first one.
 * @throws Failure the refusal of the node, `node_unreachable` for the first connection, `answer_unreadable`
 */
export async function* follow(
  api: ApiClient,
  slug: string,
  { afterSeq, signal, sleep, prove, onPause }: FollowOptions,
): AsyncGenerator<StreamMessage> {
  const seen = new Seen(afterSeq);
  let waitMs = FIRST_WAIT_MS;
  let askedMs: number | undefined;
  for (let hasConnected = false; !signal.aborted; ) {
    try {
      if (hasConnected) await prove();
      const ask = { params: { slug }, query: { last_event_id: String(seen.resumeAfter) } };
      const pieces = await api.open(openStream, ask, 'text/event-stream', signal);
      hasConnected = true;
      askedMs = undefined;
      for await (const message of messagesIn(pieces, (ms) => {
        askedMs = ms;
      })) {
        waitMs = FIRST_WAIT_MS;
        const { event = 'message', data, id = '' } = message;
        const read = readEnvelope(parsed(data));
        const envelope = 'value' in read ? read.value : undefined;
        if (seen.isNew(Number.parseInt(id, 10), event, envelope?.id ?? `${event} ${data}`))
          yield { event, data, envelope };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!hasConnected || !isTemporary(error)) throw error;
    }
    if (signal.aborted) return;
    const thisTimeMs = askedMs ?? waitMs;
    onPause(thisTimeMs, seen.resumeAfter);
    await sleep(thisTimeMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

/** Whether a node that restarts fails like this for a short time. */
function isTemporary(error: unknown): boolean {
  const codes: readonly string[] = ['node_unreachable', 'node_draining', 'node_overloaded'];
  return error instanceof Failure && codes.includes(error.code);
}

async function* messagesIn(
  pieces: AsyncIterable<Buffer>,
  onRetry: (ms: number) => void,
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

function tooLong(): Failure {
  return new Failure('answer_unreadable', {
    what: 'The stream cannot be read.',
    why: `A message has more than ${LONGEST_MESSAGE} characters.`,
    fix: 'Check that the address is that of a node.',
  });
}

/** The messages seen so far: all of the rows before the last one, and some of the last. */
class Seen {
  #seq: number;
  readonly #ofLast = new Set<string>();

  constructor(afterSeq: number) {
    this.#seq = afterSeq;
  }

  /** The row after which to resume so that nothing is missed. */
  get resumeAfter(): number {
    return this.#ofLast.size === 0 ? this.#seq : Math.max(0, this.#seq - 1);
  }

  /** @param seq row of the message; NaN without a row */
  isNew(seq: number, event: string, message: string): boolean {
    if (event === 'cycle' || !Number.isSafeInteger(seq)) return true;
    if (seq < this.#seq) return false;
    if (seq > this.#seq) this.#ofLast.clear();
    this.#seq = seq;
    if (this.#ofLast.has(message)) return false;
    this.#ofLast.add(message);
    return true;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
