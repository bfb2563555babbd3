// The stream of a machine, followed: read, and taken up again where it broke off, with no message twice and none left out.
//
//   12 transition, 12/0 rate_limited ✂   again behind 11:  12 transition (seen), 12/0 rate_limited, 13 …
//
// A row can be several messages, and a stream may break between two of them: it is resumed one row earlier.
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Static } from 'typebox';
import { openStream } from '../api/events.js';
import { reader } from '../record/shape.js';
import { Failure } from '../schema/failure.js';
import { Type } from '../schema/json-schema.js';
import type { ApiClient } from './api-client.js';

export interface FollowOptions {
  /** The last row of the record that is known; 0 for none. */
  readonly afterSeq: number;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  /** Is called before the stream is opened again. */
  readonly onPause: (waitMs: number, afterSeq: number) => void;
}

/** A message of the stream. */
export interface StreamMessage {
  /** `transition`, `rate_limited`, `rate_restored`, `cycle` or the name of another event. */
  readonly event: string;
  /** The CloudEvents envelope as it was sent. */
  readonly data: string;
  /** The same, read; undefined if it is not one. */
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

/** Far above any message, in characters. */
const LONGEST_MESSAGE = 4 << 20;

/**
 * Every message once, until the signal is aborted. The first connection has to succeed; later ones are tried again.
 * @throws Failure what the node refuses with, `node_unreachable` for the first connection, `answer_unreadable`
 */
export async function* follow(
  api: ApiClient,
  slug: string,
  { afterSeq, signal, sleep, onPause }: FollowOptions,
): AsyncGenerator<StreamMessage> {
  const seen = new Seen(afterSeq);
  let waitMs = FIRST_WAIT_MS;
  let askedMs: number | undefined;
  for (let hasConnected = false; !signal.aborted; ) {
    try {
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
      if (!hasConnected || !isAway(error)) throw error;
    }
    if (signal.aborted) return;
    const thisTimeMs = askedMs ?? waitMs;
    onPause(thisTimeMs, seen.resumeAfter);
    await sleep(thisTimeMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

/** Whether a node that starts again would fail like this for a moment. */
function isAway(error: unknown): boolean {
  const away: readonly string[] = ['node_unreachable', 'node_draining', 'node_overloaded'];
  return error instanceof Failure && away.includes(error.code);
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

/** Which messages were seen: all of the rows before the last one, and some of that one. */
class Seen {
  #seq: number;
  readonly #ofLast = new Set<string>();

  constructor(afterSeq: number) {
    this.#seq = afterSeq;
  }

  /** Where to resume so that nothing is left out. */
  get resumeAfter(): number {
    return this.#ofLast.size === 0 ? this.#seq : Math.max(0, this.#seq - 1);
  }

  /** @param seq row of the message; not a number for one that has none */
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
