// POST …/events: many events at once.
//
// It answers after the last line was read: a client that writes all lines before it reads anything is served, too.
import type { Readable } from 'node:stream';
import * as api from '../../api/events.js';
import type { Steps } from '../../limiter/plan.js';
import { assert, Failure } from '../../schema/failure.js';
import { LineCutter } from '../../traffic/log/lines.js';
import { type Lines, LONGEST_LINE } from '../counting/lines.js';
import { onceOnly, Replayed } from '../counting/once-only.js';
import { cutArray, opensArray } from '../json-array.js';
import type { Limits } from '../limits.js';
import { answerInTurns, JSON_TYPE, someOf } from '../long-answer.js';
import { failureFrom } from '../problem.js';
import { sourceOf } from '../request-source.js';
import { route } from '../route.js';

export const countMany = route({
  ...api.countMany,
  auth: 'key_or_session',
  scope: 'event',
  tier: 'machine',
  domain: 'events',
  summary:
    'Counts many events at once: a JSON array, or one event a line (NDJSON). Bad lines are reported, good ones counted.',
  errors: [
    'machine_not_found',
    'not_owner',
    'invalid_json',
    'invalid_input',
    'idempotency_key_reused',
    'too_many_requests',
  ],
  example: {
    params: { slug: 'edge-gateway' },
    type: 'application/x-ndjson',
    body: '{"type":"request"}\n{"type":"request","count":3}\n',
    status: 200,
  },
  takesStream: true,
  async handle(parts, request, reply) {
    const { ownership, clock, counting, counts, turns, limits } = parts;
    const machine = ownership.owned(request.params.slug, request.caller);
    const lines = counting.lines(machine);
    const body = request.body as unknown as Readable;
    const chunks = chunksOf(body, () => parts.access.refuseEnded(request.caller, clock.now()));
    refuseAnnounced(request.headers['content-length'], limits.eventsBytes);
    const isArray = request.mediaType === 'application/json';
    const header = request.headers['idempotency-key'];
    let answer: object | undefined;
    try {
      if (header !== undefined) answer = await countOnce(limits, chunks, lines, header, isArray);
      else if (isArray) await lines.count(elementsOf(await wholeOf(chunks, limits.bodyBytes), lines));
      else await countChunks(limits, chunks, lines);
    } catch (error) {
      // The rest is dropped, as Node drops what nobody begins to read: the next request of this connection comes behind it.
      request.raw.resume();
      throw error;
    } finally {
      counts.decided(lines.admitted + lines.limited, lines.admitted);
      await lines.settled();
    }
    // The unread rest of the body would precede the next request of this connection.
    if (!body.readableEnded) reply.header('connection', 'close');
    if (answer instanceof Replayed) return answer.sentBy(reply);
    if (answer !== undefined) return answer;
    reply.header('content-type', JSON_TYPE);
    const lists = { outcomes: someOf(lines.outcomes, (outcome) => outcome), contracts: lines.decisions() };
    return answerInTurns(turns, sourceOf(request), lines.sums(clock.cycle()), lists);
  },
});

/** Counts a body with an idempotency key, which is read as a whole before anything of it is counted. */
async function countOnce(
  { bodyBytes }: Limits,
  body: AsyncIterable<Buffer>,
  lines: Lines,
  header: unknown,
  isArray: boolean,
): Promise<object> {
  const content = await wholeOf(body, bodyBytes);
  const once = onceOnly(header, ['events', String(isArray), content.toString('latin1')]);
  assert(once !== undefined, 'a request with the header has a key');
  const cutter = cutterOf(lines);
  return lines.countOnce(isArray ? elementsOf(content, lines) : linesOf(content, cutter, lines, true), once);
}

/** Counts line by line as they come; holds no more than one chunk and one line. The lines of a chunk have the cycle in which it came. */
async function countChunks({ eventsBytes }: Limits, body: AsyncIterable<Buffer>, lines: Lines): Promise<void> {
  const cutter = cutterOf(lines);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > eventsBytes) return lines.stop(cutter.lines + 1);
    // Once counting has stopped the rest is read and dropped, so that the client reads the answer.
    if (lines.stoppedBefore === undefined) await lines.count(linesOf(chunk, cutter, lines, false));
  }
  await lines.count(linesOf(NOTHING, cutter, lines, true));
}

const NOTHING = Buffer.alloc(0);

const PIECE = 512;

/** Reads the lines that end in a chunk. @param isLast whether its end is the end of a line */
function* linesOf(chunk: Buffer, cutter: LineCutter, lines: Lines, isLast: boolean): Steps<void> {
  for (let from = 0; from < chunk.length && lines.stoppedBefore === undefined; from += PIECE) {
    cutter.push(chunk.subarray(from, from + PIECE));
    yield 1;
  }
  if (isLast) cutter.end();
}

async function wholeOf(body: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) throw bodyTooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the elements of an array. @throws Failure `invalid_json`, `invalid_input` */
function* elementsOf(whole: Buffer, lines: Lines): Steps<void> {
  if (!opensArray(whole)) throw notAnArray(whole);
  // It is read twice, and the first time nothing is kept: one that is not JSON counts nothing, and 55,000 events kept until the end are
  // some 20 ms for the collector of garbage.
  const check = (bytes: Buffer, from: number, to: number) => lines.check(bytes, from, to);
  const why = (yield* cutArray(whole, { element: check })) ?? lines.notJson?.message;
  if (why !== undefined) throw notJson(why);
  let number = 0;
  const element = (bytes: Buffer, from: number, to: number) => {
    number += 1;
    return lines.line(bytes, from, to, number);
  };
  yield* cutArray(whole, { element });
}

function cutterOf(lines: Lines): LineCutter {
  return new LineCutter(lines, { skip: (number) => lines.refuse(number) });
}

/** The chunks of a body, each after a check of its sender; one that breaks off is a failure of its sender. The connection outlives the last chunk taken. */
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

function notJson(why: string): Failure {
  return new Failure('invalid_json', {
    what: 'Nothing was counted.',
    why: `The body is not JSON: ${why.replace(/\.$/, '')}.`,
    fix: 'Send a JSON array, or one event a line with `Content-Type: application/x-ndjson`.',
  });
}

/** Whether something long is JSON is not looked at: it is no array. */
function notAnArray(body: Buffer): Failure {
  try {
    if (body.length <= LONGEST_LINE) JSON.parse(body.toString());
  } catch (error) {
    return notJson((error as Error).message);
  }
  return new Failure('invalid_input', {
    what: 'Nothing was counted.',
    why: 'The body is no array.',
    fix: 'Send an array of events; a single one goes to POST …/event.',
    faults: [{ path: '/', message: 'must be an array' }],
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
