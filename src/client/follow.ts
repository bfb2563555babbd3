// Owns following a stream: reading it, coming back where it broke off, telling nothing twice and leaving nothing out. Leaves the
// format to event-stream.ts.
//
//   12 transition, 12/0 rate_limited ✂   back behind 11:  12 transition (told before), 12/0 rate_limited, 13 …
//
// A row can be several messages, and a stream may break between two of them: it is taken up one row earlier than it was left.
import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { interruptible } from '../cli/interrupt.js';
import { reader } from '../record/shape.js';
import { Failure } from '../schema/failure.js';
import { Type } from '../schema/json-schema.js';
import type { Api } from './api.js';
import { EventStreamReader, type Message } from './event-stream.js';
import type { NodeClient } from './node-client.js';
import { readable } from './refusal.js';

interface Given {
  readonly slug: string;
  readonly after?: number | undefined;
  readonly events?: number | undefined;
  readonly only?: string | undefined;
  readonly cycles: boolean;
  readonly json: boolean;
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
type Envelope = Static<typeof Envelope>;
const readEnvelope = reader(Envelope);

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

/** Follows until it is interrupted, or has told as many events as were asked for. */
export async function runFollow({ api, clock }: NodeClient, given: Given): Promise<void> {
  const { slug, only, cycles, json, events = Number.POSITIVE_INFINITY } = given;
  const interrupt = interruptible();
  clock.start();
  try {
    const afterSeq = given.after ?? (await api.machine(slug)).machine.head.seq;
    let told = 0;
    for await (const message of messagesOf(api, slug, afterSeq, interrupt.signal, (ms) =>
      clock.sleep(ms, interrupt.signal),
    )) {
      if (message.event === 'cycle' ? !cycles && only !== 'cycle' : only !== undefined && message.event !== only)
        continue;
      process.stdout.write(json ? `${message.data}\n` : `${lineOf(message)}\n`);
      told += 1;
      if (told >= events) break;
    }
  } finally {
    clock.stop();
    interrupt.release();
  }
}

/** Every message once, whatever the connection does. The first connection has to succeed; what the node refuses is thrown. */
async function* messagesOf(
  api: Api,
  slug: string,
  afterSeq: number,
  signal: AbortSignal,
  sleep: (ms: number) => Promise<void>,
): AsyncGenerator<Message> {
  const seen = new Seen(afterSeq);
  let waitMs = FIRST_WAIT_MS;
  for (let hasConnected = false; !signal.aborted; ) {
    const stream = new EventStreamReader();
    try {
      const body = await api.stream(slug, seen.resumeAfter, signal);
      hasConnected = true;
      for await (const message of messagesIn(api, body, stream)) {
        waitMs = FIRST_WAIT_MS;
        if (seen.takes(message)) yield message;
      }
    } catch (error) {
      if (signal.aborted) return;
      const failure = api.broken(error);
      // A node that starts again is away for a moment; any other answer is meant.
      const isAway =
        failure.code === 'node_unreachable' || failure.code === 'node_draining' || failure.code === 'node_overloaded';
      if (!hasConnected || !isAway) throw failure;
    }
    if (signal.aborted) return;
    const thisTimeMs = stream.retryMs ?? waitMs;
    process.stderr.write(
      `weir: the stream has ended; back in ${thisTimeMs / 1000} s, behind row ${seen.resumeAfter}\n`,
    );
    await sleep(thisTimeMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

async function* messagesIn(api: Api, body: Readable, stream: EventStreamReader): AsyncGenerator<Message> {
  try {
    for await (const chunk of body) yield* stream.push(chunk as Buffer);
  } catch (error) {
    throw error instanceof Failure ? error : api.broken(error);
  }
}

/** Which messages were told: all of the rows before the last one, and some of that. */
class Seen {
  #seq: number;
  #ofLast = new Set<string>();

  constructor(afterSeq: number) {
    this.#seq = afterSeq;
  }

  /** Where to take the stream up so that nothing is left out. */
  get resumeAfter(): number {
    return this.#ofLast.size === 0 ? this.#seq : Math.max(0, this.#seq - 1);
  }

  /** Whether the message is to be told. */
  takes({ id, event, data }: Message): boolean {
    const seq = Number(id);
    if (event === 'cycle' || !Number.isSafeInteger(seq)) return true;
    if (seq < this.#seq) return false;
    if (seq > this.#seq) this.#ofLast.clear();
    this.#seq = seq;
    // The id of an envelope names its message; its text may be spelt otherwise when it comes from the record.
    const read = readEnvelope(parsed(data));
    const message = 'value' in read ? read.value.id : `${event} ${data}`;
    if (this.#ofLast.has(message)) return false;
    this.#ofLast.add(message);
    return true;
  }
}

/** For example `2026-11-20T23:24:00.000Z  cycle 2345678901  rate_limited  0123456789abcdef  limiting  count 101`. */
function lineOf({ event, data }: Message): string {
  const read = readEnvelope(parsed(data));
  return readable('value' in read ? wordsOf(event, read.value) : `${event}  ${data}`);
}

function wordsOf(event: string, { time, data }: Envelope): string {
  const { cycle, contract_id, from, to, state, count, cause } = data;
  const parts = [time, cycle === undefined ? '' : `cycle ${cycle}`, event, contract_id ?? ''];
  if (from !== undefined && to !== undefined) parts.push(`${from} -> ${to}`);
  if (state !== undefined) parts.push(state);
  if (count !== undefined) parts.push(`count ${count}`);
  if (cause !== undefined && cause !== 'trigger') parts.push(cause);
  return parts.filter((part) => part !== '').join('  ');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
