// POST …/events: many events at once.
//
// It answers after the last line was read: a client that writes all lines before it reads anything is served, too.
import type { Readable } from 'node:stream';
import * as api from '../../api/events.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { Failure } from '../../schema/failure.js';
import { LineCutter } from '../../traffic/log/lines.js';
import { BulkCount, LONGEST_LINE } from '../bulk.js';
import { SLICE } from '../fair-queue.js';
import { onceOnly, Replayed } from '../idempotency.js';
import { cutArray, opensArray } from '../json-array.js';
import { answerInTurns, JSON_TYPE, someOf } from '../long-answer.js';
import type { Parts } from '../parts.js';
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
    const { ownership, clock, host, durability, counts, limits } = parts;
    const machine = ownership.owned(request.params.slug, request.caller);
    const bulk = new BulkCount(host, machine);
    const body = request.body as unknown as Readable;
    const chunks = chunksOf(body, () => parts.access.refuseEnded(request.caller, clock.now()));
    refuseAnnounced(request.headers['content-length'], limits.eventsBytes);
    const isArray = request.mediaType === 'application/json';
    const header = request.headers['idempotency-key'];
    let answer: object | undefined;
    try {
      if (header !== undefined) answer = await countOnce(parts, chunks, bulk, machine, header, isArray);
      else if (isArray) await readArray(parts, chunks, bulk, machine);
      else await readLines(parts, chunks, bulk, machine);
    } catch (error) {
      // The rest is dropped, as Node drops what nobody begins to read: the next request of this connection comes behind it.
      request.raw.resume();
      throw error;
    } finally {
      counts.decided(bulk.admitted + bulk.limited, bulk.admitted);
      await durability.ofCounts(machine, clock.cycle());
    }
    // The unread rest of the body would precede the next request of this connection.
    if (!body.readableEnded) reply.header('connection', 'close');
    if (answer !== undefined && !(answer instanceof Replayed)) return answer;
    reply.header('content-type', JSON_TYPE);
    if (answer !== undefined) return answer.sentBy(reply);
    const lists = { outcomes: someOf(bulk.outcomes, (outcome) => outcome), contracts: bulk.decisions() };
    return answerInTurns(parts.turns, sourceOf(request), sumsOf(bulk, clock.cycle()), lists);
  },
});

function sumsOf(bulk: BulkCount, cycle: number): object {
  const { stoppedBefore: next_line, lines, counted, refused, admitted, limited } = bulk;
  return {
    ...{ ok: true, cycle, lines, counted, refused, admitted, limited },
    complete: next_line === undefined,
    ...(next_line === undefined ? {} : { next_line }),
  };
}

/** The answer as a whole, which is kept with its key. */
function* answerOf(bulk: BulkCount, cycle: number): Steps<object> {
  const next = bulk.decisions();
  const contracts: unknown[] = [];
  for (let some = next(); some.length > 0; some = next()) {
    contracts.push(...some);
    yield SLICE;
  }
  return { ...sumsOf(bulk, cycle), outcomes: bulk.outcomes, contracts };
}

/** Counts a body with an idempotency key, which is read as a whole before anything of it is counted. @returns the answer, or the one given before */
async function countOnce(
  { limits, work, idempotency, network }: Parts,
  body: AsyncIterable<Buffer>,
  bulk: BulkCount,
  machine: Machine,
  header: unknown,
  isArray: boolean,
): Promise<object> {
  const content = await wholeOf(body, limits.bodyBytes);
  const once = onceOnly(header, ['events', String(isArray), content.toString('latin1')]);
  if (network !== undefined)
    return network.once(machine, once, async () => {
      if (isArray) await work.of(machine, () => readElements(content, bulk));
      else {
        const cutter = cutterOf(bulk);
        cutter.push(content);
        cutter.end();
      }
      await bulk.countOver(network);
      return work.of(machine, (cycle) => answerOf(bulk, cycle));
    });
  const count = function* (cycle: number): Steps<object> {
    if (isArray) yield* countArray(content, bulk, cycle);
    else {
      const cutter = cutterOf(bulk);
      yield* countLines(content, cutter, bulk, cycle);
      cutter.end();
      yield* bulk.count(cycle);
    }
    return yield* answerOf(bulk, cycle);
  };
  return work.of(machine, (cycle) =>
    idempotency.once(
      machine,
      once,
      cycle,
      () => count(cycle),
      () => bulk.contracts(),
    ),
  );
}

/** Bytes that are cut into lines and read in one go. */
const PIECE = 512;

/** Counts the lines that end in a chunk, a piece of it at a time. */
function* countLines(chunk: Buffer, cutter: LineCutter, bulk: BulkCount, cycle: number): Steps<void> {
  for (let from = 0; from < chunk.length && bulk.stoppedBefore === undefined; from += PIECE) {
    cutter.push(chunk.subarray(from, from + PIECE));
    yield* bulk.count(cycle);
    yield 1;
  }
}

/** Counts line by line as they come; holds no more than one chunk and one line. The lines of a chunk have the cycle in which it came. */
async function readLines(parts: Parts, body: AsyncIterable<Buffer>, bulk: BulkCount, machine: Machine): Promise<void> {
  const cutter = cutterOf(bulk);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > parts.limits.eventsBytes) return bulk.stop(cutter.lines + 1);
    // Once counting has stopped the rest is read and dropped, so that the client reads the answer.
    if (bulk.stoppedBefore !== undefined) continue;
    if (parts.network !== undefined) {
      cutter.push(chunk);
      await bulk.countOver(parts.network);
    } else await parts.work.of(machine, (cycle) => countLines(chunk, cutter, bulk, cycle));
  }
  cutter.end();
  await countRest(parts, bulk, machine);
}

async function readArray(
  { limits, work, network }: Parts,
  body: AsyncIterable<Buffer>,
  bulk: BulkCount,
  machine: Machine,
): Promise<void> {
  const whole = await wholeOf(body, limits.bodyBytes);
  if (network !== undefined) {
    await work.of(machine, () => readElements(whole, bulk));
    await bulk.countOver(network);
  } else await work.of(machine, (cycle) => countArray(whole, bulk, cycle));
}

/** Counts the lines that were read last. */
async function countRest({ network, work }: Parts, bulk: BulkCount, machine: Machine): Promise<void> {
  if (network !== undefined) await bulk.countOver(network);
  else await work.of(machine, (cycle) => bulk.count(cycle));
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

function* countArray(whole: Buffer, bulk: BulkCount, cycle: number): Steps<void> {
  yield* readElements(whole, bulk, () => bulk.count(cycle));
  yield* bulk.count(cycle);
}

/** @param count counts what was read, a piece at a time */
function* readElements(whole: Buffer, bulk: BulkCount, count: () => Steps<void> = nothing): Steps<void> {
  if (!opensArray(whole)) throw notAnArray(whole);
  // It is read twice, and the first time nothing is kept: one that is not JSON counts nothing, and 55,000 events kept until the end are
  // some 20 ms for the collector of garbage.
  const check = (bytes: Buffer, from: number, to: number) => bulk.check(bytes, from, to);
  const why = (yield* cutArray(whole, { element: check })) ?? bulk.notJson?.message;
  if (why !== undefined) throw notJson(why);
  let number = 0;
  const element = (bytes: Buffer, from: number, to: number) => {
    number += 1;
    return bulk.line(bytes, from, to, number);
  };
  for (const cost of cutArray(whole, { element })) {
    yield cost;
    yield* count();
  }
}

function* nothing(): Steps<void> {}

function cutterOf(bulk: BulkCount): LineCutter {
  return new LineCutter(bulk, { skip: (number) => bulk.refuse(number) });
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
