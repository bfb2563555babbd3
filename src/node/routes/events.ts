// Routes of events: POST …/event, POST …/events, GET …/stream.
//
// POST …/events answers after the last line was read: a client that writes all lines before it reads anything is served, too.
import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import * as api from '../../api/events.js';
import type { Machine } from '../../host/machine.js';
import { Failure } from '../../schema/failure.js';
import { LineCutter } from '../../traffic/log/lines.js';
import { BulkCount } from '../bulk.js';
import { countInSteps, type Decision, decisionOf, listenersOf, whyNotAt, whyNotSoMany } from '../decision.js';
import type { Steps } from '../machine-work.js';
import { networkOf } from '../mint-limit.js';
import type { Parts } from '../parts.js';
import { failureFrom } from '../problem.js';
import { route } from '../route.js';

export const countOne = route({
  ...api.countOne,
  auth: 'key_or_session',
  scope: 'event',
  tier: 'machine',
  domain: 'events',
  summary:
    'Counts an event in every contract of the machine that listens to its kind, or in one of them, and tells the decisions.',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'unknown_event_type',
    'invalid_input',
    'event_too_old',
    'event_in_future',
    'contract_failed',
  ],
  example: { params: { slug: 'edge-gateway' }, body: { type: 'request' }, status: 200 },
  isHot: true,
  handle(parts, request, reply) {
    const machine = parts.ownership.owned(request.params.slug, request.caller);
    const answered = (answer: object | Buffer) => {
      if (answer instanceof Buffer) reply.header('content-type', 'application/json; charset=utf-8');
      const durable = parts.durability.ofCounts(machine, parts.clock.cycle());
      return durable === undefined ? answer : durable.then(() => answer);
    };
    const answer = parts.work.of(machine, (cycle) => countOn(parts, machine, request.body, cycle));
    return answer instanceof Promise ? answer.then(answered) : answered(answer);
  },
});

/** Decisions that are written as JSON in one go. */
const WRITTEN_AT_ONCE = 128;

function* countOn(parts: Parts, machine: Machine, event: Static<typeof api.EventShape>, cycle: number): Steps<object> {
  const { type, count = 1, cycle: happened, contract_id } = event;
  const listeners = listenersOf(parts.host, machine, type, contract_id);
  if (happened !== undefined) {
    const failure = whyNotAt(listeners, happened, cycle);
    if (failure !== undefined) throw failure;
  }
  const tooMany = whyNotSoMany(listeners, count);
  if (tooMany !== undefined) throw tooMany;
  const contracts: Decision[] = [];
  for (const listener of listeners) {
    let admitted: number;
    try {
      admitted = yield* countInSteps(parts.host, machine, listener, count, cycle, happened);
    } catch (error) {
      // A contract that stops at this very event does not take the event from the others.
      if (error instanceof Failure && error.code === 'contract_failed' && contracts.length > 0) continue;
      throw error;
    }
    parts.counts.admitted += admitted;
    parts.counts.limited += count - admitted;
    contracts.push(decisionOf(listener.contract, listener.kind, count, admitted));
  }
  if (contracts.length <= WRITTEN_AT_ONCE) return { ok: true, cycle, contracts };
  const texts: string[] = [];
  for (let from = 0; from < contracts.length; from += WRITTEN_AT_ONCE) {
    const some = contracts.slice(from, from + WRITTEN_AT_ONCE);
    texts.push(some.map((decision) => JSON.stringify(decision)).join());
    yield WRITTEN_AT_ONCE / 4;
  }
  return Buffer.from(`{"ok":true,"cycle":${cycle},"contracts":[${texts.join()}]}`);
}

export const countMany = route({
  ...api.countMany,
  auth: 'key_or_session',
  scope: 'event',
  tier: 'machine',
  domain: 'events',
  summary:
    'Counts many events at once: a JSON array, or one event a line (NDJSON). Bad lines are reported, good ones counted.',
  errors: ['machine_not_found', 'not_owner', 'invalid_json', 'invalid_input'],
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
    try {
      if (request.mediaType === 'application/json') await readArray(parts, chunks, bulk, machine);
      else await readLines(parts, chunks, bulk, machine);
    } finally {
      counts.admitted += bulk.admitted;
      counts.limited += bulk.limited;
      await durability.ofCounts(machine, clock.cycle());
    }
    const { stoppedBefore: next_line } = bulk;
    // The unread rest of the body would precede the next request of this connection.
    if (!body.readableEnded) reply.header('connection', 'close');
    return {
      ok: true,
      cycle: clock.cycle(),
      lines: bulk.lines,
      counted: bulk.counted,
      refused: bulk.refused,
      admitted: bulk.admitted,
      limited: bulk.limited,
      complete: next_line === undefined,
      ...(next_line === undefined ? {} : { next_line }),
      outcomes: bulk.outcomes,
      contracts: bulk.decisions(),
    };
  },
});

/** Bytes that are cut into lines and read in one go. */
const PIECE = 512;

/** Counts line by line as they come; holds no more than one chunk and one line. The lines of a chunk have the cycle in which it came. */
async function readLines(parts: Parts, body: AsyncIterable<Buffer>, bulk: BulkCount, machine: Machine): Promise<void> {
  const cutter = new LineCutter(bulk, { skip: (number) => bulk.refuse(number, tooLong()) });
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > parts.limits.eventsBytes) return bulk.stop(cutter.lines + 1);
    // Once counting has stopped the rest is read and dropped, so that the client reads the answer.
    if (bulk.stoppedBefore !== undefined) continue;
    await parts.work.of(machine, function* (cycle) {
      for (let from = 0; from < chunk.length && bulk.stoppedBefore === undefined; from += PIECE) {
        cutter.push(chunk.subarray(from, from + PIECE));
        yield* bulk.count(cycle);
        yield 1;
      }
    });
  }
  cutter.end();
  await parts.work.of(machine, (cycle) => bulk.count(cycle));
}

async function readArray(
  { limits, work }: Parts,
  body: AsyncIterable<Buffer>,
  bulk: BulkCount,
  machine: Machine,
): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limits.bodyBytes) throw arrayTooLarge(limits.bodyBytes);
    chunks.push(chunk);
  }
  const events = parseArray(Buffer.concat(chunks).toString());
  await work.of(machine, function* (cycle) {
    for (const [index, event] of events.entries()) {
      bulk.value(event, index + 1);
      yield* bulk.count(cycle);
      yield QUIET;
      if (bulk.stoppedBefore !== undefined) return;
    }
  });
}

/** What reading one event costs, in units. */
const QUIET = 1 / 16;

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

function parseArray(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('invalid_json', {
      what: 'Nothing was counted.',
      why: `The body is not JSON: ${(error as Error).message}.`,
      fix: 'Send a JSON array, or one event a line with `Content-Type: application/x-ndjson`.',
    });
  }
  if (Array.isArray(value)) return value;
  throw new Failure('invalid_input', {
    what: 'Nothing was counted.',
    why: 'The body is JSON and no array.',
    fix: 'Send an array of events; a single one goes to POST …/event.',
    faults: [{ path: '/', message: 'must be an array' }],
  });
}

function arrayTooLarge(most: number): Failure {
  return new Failure('body_too_large', {
    what: 'Nothing was counted.',
    why: `An array is read as a whole, and this one has more than ${most} bytes.`,
    fix: 'Send one event a line with `Content-Type: application/x-ndjson`.',
  });
}

function tooLong(): Failure {
  return new Failure('body_too_large', { what: 'The line was not counted.', why: 'It is longer than any event.' });
}

function brokenOff(cause: unknown): Failure {
  return new Failure('malformed_request', {
    what: 'The body broke off.',
    why: 'The connection ended before its last line; the lines before were counted.',
    cause,
  });
}

export const openStream = route({
  ...api.openStream,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'events',
  summary:
    'Streams what happens on a machine as server-sent events: transition, rate_limited, rate_restored, cycle; each a CloudEvents envelope.',
  errors: ['machine_not_found', 'invalid_input', 'too_many_requests', 'node_overloaded'],
  example: { params: { slug: 'edge-gateway' }, query: { last_event_id: '0' }, status: 200 },
  hasHead: false,
  handle({ ownership, streams }, { params, query, headers, caller, ip }, reply) {
    const machine = ownership.visible(params.slug, caller);
    const lastEventId = headers['last-event-id'] ?? query.last_event_id;
    const afterSeq = lastEventId === undefined || lastEventId === '' ? undefined : seqOf(String(lastEventId));
    streams.open(reply.raw, machine, { caller, address: networkOf(ip) }, afterSeq);
    reply.hijack();
  },
});

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure('invalid_input', {
    what: 'The stream was not opened.',
    why: `"${text.slice(0, 40)}" is no id of an event.`,
    fix: 'Give the id of the last event that you have, or none.',
    faults: [{ path: '/last_event_id', message: 'must be a whole number' }],
  });
}
