// POST …/events: many events at once. It answers after the last line, so that clients that write everything before they read are served.
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import * as api from '../../api/events.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { assert, Failure } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { LineCutter } from '../../traffic/log/lines.js';
import { type Lines, LONGEST_LINE } from '../counting/lines.js';
import { onceOnly, Replayed } from '../counting/once-only.js';
import { parseBody, textOf } from '../json-body.js';
import type { Limits } from '../limits.js';
import { JSON_TYPE, jsonInSteps } from '../long-answer.js';
import type { NodeContext } from '../node-context.js';
import { failureFrom, refusal } from '../problem.js';
import { sourceOf } from '../request-source.js';
import { forEvents, type RouteRequest, route } from '../route.js';
import type { OpenBodies } from '../whole-body.js';

export const countMany = route(api.countMany, forEvents, {
  summary:
    'Counts up to 1,000 events at once, in order. Each has an outcome, as POST …/event would answer; one that is refused fails no other.',
  errors: ['invalid_json', 'invalid_input', 'idempotency_key_reused', 'too_many_requests'],
  example: { body: [{ type: 'request' }, { type: 'request', count: 3 }] },
  takesStream: true,
  skipsQueue: true,
  async handle(context, request, reply) {
    const { ownership, clock, counting, counts, queue, limits, bodies } = context;
    const machine = ownership.owned(request.params.slug, request.caller);
    const lines = counting.lines(machine);
    const body = request.body as unknown as Readable;
    const chunks = chunksOf(body, () => context.access.refuseEnded(request.caller, clock.now(), lines.lines));
    refuseAnnounced(request.headers['content-length'], limits.eventsBytes);
    const isArray = request.mediaType === 'application/json';
    const source = sourceOf(request);
    if (isArray) {
      const whole = await wholeOf(chunks, bodies.open(request, limits.longBodyBytes, bodyTooLarge)).catch((error) => {
        request.raw.resume();
        throw error;
      });
      // Parsed at once, in the caller's turn.
      const values = await queue.of(source, () => parseBody(textOf(whole), 'array'));
      return countArray(context, request, reply, machine, values);
    }
    const most = limits.bodyBytes;
    const header = request.headers['idempotency-key'];
    let answer: object | undefined;
    try {
      if (header !== undefined) {
        const whole = await wholeOf(chunks, bodies.open(request, most, bodyTooLarge));
        const once = onceOnly(header, ['lines', whole.toString('latin1')]);
        assert(once !== undefined, 'a request with the header has a key');
        answer = await lines.countOnce(linesOf(whole, cutterOf(lines), lines, true), once);
      } else await countChunks(limits, chunks, lines);
    } catch (error) {
      // The rest is read and dropped: the next request of this connection follows it.
      request.raw.resume();
      throw error;
    } finally {
      counts.decided(lines.admitted + lines.limited, lines.admitted);
      await lines.settled();
    }
    // The unread rest of the body would precede the next request of this connection.
    if (!body.readableEnded) reply.header('connection', 'close');
    if (answer instanceof Replayed) return answer.sentBy(reply);
    reply.header('content-type', JSON_TYPE);
    const result = answer ?? (await queue.steps(source, lines.answer(clock.cycle())));
    return queue.steps(source, jsonInSteps(result));
  },
});

const Values = Type.Array(Type.Unknown(), { minItems: 1, maxItems: api.MOST_EVENTS });
const compiled = compileSchema(Values);

async function countArray(
  { counting, counts, queue }: NodeContext,
  request: RouteRequest<typeof api.countMany.shapes, 'key'>,
  reply: FastifyReply,
  machine: Machine,
  values: unknown,
): Promise<Buffer> {
  if (!compiled.fits(values)) throw refusal('body', Values, compiled.errors(values));
  refuseLongAnswer(machine, values);
  const once = onceOnly(request.headers['idempotency-key'], ['events', values]);
  const answer = await counting.events(machine, values, once);
  if (answer instanceof Replayed) return answer.sentBy(reply);
  for (const outcome of answer.outcomes) {
    if (outcome.ok) for (const one of outcome.contracts) counts.took(one.admitted + one.limited, one);
  }
  reply.header('content-type', JSON_TYPE);
  return queue.steps(sourceOf(request), jsonInSteps(answer));
}

/** In one answer: as many as one event can have. */
const MOST_DECISIONS = 10_000;

function refuseLongAnswer({ contracts }: Machine, values: readonly unknown[]): void {
  const named = values.filter((value) => Object(value).contract_id !== undefined).length;
  const decisions = named + (values.length - named) * contracts.length;
  if (values.length === 1 || decisions <= MOST_DECISIONS) return;
  throw new Failure('invalid_input', {
    what: 'Nothing was counted.',
    why: `The events take ${decisions} decisions of ${contracts.length} contracts, and one answer has up to ${MOST_DECISIONS}.`,
    fix: 'Send fewer events at a time, or name one contract in `contract_id`.',
  });
}

/** Counts lines as they come, in the cycle of their chunk; buffers at most one chunk and one line. */
async function countChunks({ eventsBytes }: Limits, body: AsyncIterable<Buffer>, lines: Lines): Promise<void> {
  const cutter = cutterOf(lines);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > eventsBytes) return lines.stop(cutter.lines + 1);
    // Once counting has stopped, the rest is read and dropped, so that the client reads the answer.
    if (lines.stoppedBefore === undefined) await lines.count(linesOf(chunk, cutter, lines, false));
  }
  await lines.count(linesOf(NOTHING, cutter, lines, true));
}

const NOTHING = Buffer.alloc(0);

const PIECE = 512;
const LF = 0x0a;

/** Passes on the lines of a chunk in pieces. @param isLast whether the end of the chunk ends a line */
function* linesOf(chunk: Buffer, cutter: LineCutter, lines: Lines, isLast: boolean): Steps<void> {
  for (let from = 0; from < chunk.length && lines.stoppedBefore === undefined; ) {
    const to = chunk.indexOf(LF, from + PIECE) + 1 || chunk.length;
    cutter.push(chunk.subarray(from, to));
    from = to;
    yield;
  }
  if (isLast) cutter.end();
}

async function wholeOf(chunks: AsyncIterable<Buffer>, body: ReturnType<OpenBodies['open']>): Promise<Buffer> {
  try {
    for await (const chunk of chunks) body.take(chunk);
    return body.whole();
  } finally {
    body.close();
  }
}

function cutterOf(lines: Lines): LineCutter {
  return new LineCutter(lines, { skip: (number) => lines.refuse(number) }, LONGEST_LINE);
}

/** Checks the sender before each chunk. The connection outlives the last chunk taken. */
async function* chunksOf(body: Readable, check: () => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      check();
      yield chunk;
    }
  } catch (error) {
    throw failureFrom(error) ?? brokenOff(error);
  }
}

function refuseAnnounced(contentLength: string | undefined, most: number): void {
  if (contentLength === undefined || Number(contentLength) <= most) return;
  throw new Failure('body_too_large', {
    what: 'Nothing was counted.',
    why: `The body has ${contentLength} bytes, more than ${most}.`,
    fix: 'Send it in pieces.',
  });
}

function bodyTooLarge(most: number): Failure {
  return new Failure('body_too_large', {
    what: 'Nothing was counted.',
    why: `An array, and a body with an Idempotency-Key, is read as a whole, and this one has more than ${most} bytes.`,
    fix: 'Send it in pieces; one event a line, with `Content-Type: application/x-ndjson` and without a key, may have any length.',
  });
}

function brokenOff(cause: unknown): Failure {
  return new Failure('malformed_request', {
    what: 'The body broke off.',
    why: 'The connection ended before its last line; the lines before were counted.',
    cause,
  });
}
