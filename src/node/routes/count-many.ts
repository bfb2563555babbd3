// POST …/events: many events at once. It answers after the last line, so that clients that write everything before they read are served.
import type { Readable } from 'node:stream';
import * as api from '../../api/events.js';
import type { Steps } from '../../limiter/plan.js';
import { assert, Failure } from '../../schema/failure.js';
import { LineCutter } from '../../traffic/log/lines.js';
import { type Lines, LONGEST_LINE } from '../counting/lines.js';
import { onceOnly, Replayed } from '../counting/once-only.js';
import { parseBody, textOf } from '../json-body.js';
import type { Limits } from '../limits.js';
import { JSON_TYPE, jsonInSteps } from '../long-answer.js';
import { failureFrom } from '../problem.js';
import { sourceOf } from '../request-source.js';
import { forEvents, route } from '../route.js';
import type { OpenBodies } from '../whole-body.js';

export const countMany = route(api.countMany, forEvents, {
  summary:
    'Counts many events at once: a JSON array, or one event a line (NDJSON). Bad lines are reported, good ones counted.',
  errors: ['invalid_json', 'invalid_input', 'idempotency_key_reused', 'too_many_requests'],
  example: {
    type: 'application/x-ndjson',
    body: '{"type":"request"}\n{"type":"request","count":3}\n',
  },
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
    // Parsed at once, in the caller's turn.
    const most = isArray ? limits.longBodyBytes : limits.bodyBytes;
    const reader = (whole: Buffer) =>
      isArray
        ? queue.of(source, () => elementsOf(parseBody(textOf(whole), 'array') as readonly unknown[], lines))
        : linesOf(whole, cutterOf(lines), lines, true);
    const header = request.headers['idempotency-key'];
    let answer: object | undefined;
    try {
      if (header !== undefined) {
        const whole = await wholeOf(chunks, bodies.open(request, most, bodyTooLarge));
        const once = onceOnly(header, ['events', String(isArray), whole.toString('latin1')]);
        assert(once !== undefined, 'a request with the header has a key');
        answer = await lines.countOnce(await reader(whole), once);
      } else if (isArray)
        await lines.count(await reader(await wholeOf(chunks, bodies.open(request, most, bodyTooLarge))));
      else await countChunks(limits, chunks, lines);
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

function* elementsOf(values: readonly unknown[], lines: Lines): Steps<void> {
  for (const [index, value] of values.entries()) {
    lines.element(value, index + 1);
    yield;
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
