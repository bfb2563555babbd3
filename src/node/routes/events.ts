// Routes of events: POST …/event, POST …/events, GET …/stream.
import type { FastifyReply } from 'fastify';
import * as api from '../../api/events.js';
import { windowCycles } from '../../core/limiter/plan.js';
import { compileSchema } from '../../core/schema/compile-schema.js';
import { Failure, type Fault } from '../../core/schema/failure.js';
import { Type } from '../../core/schema/json-schema.js';
import { valueFaults } from '../../core/schema/value-faults.js';
import type { EventAnswer } from '../counting/counting.js';
import { onceOnly, Replayed } from '../counting/once-only.js';
import { markAway } from '../gate-answer.js';
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { NodeContext } from '../node-context.js';
import { contractOf } from '../ownership.js';
import { refusal } from '../problem.js';
import { forEvents, forReaders, route } from '../route.js';

const countOne = route(api.countOne, forEvents, {
  summary:
    'Counts an event in every contract of the machine that listens to its kind, or in one of them, and answers with the decisions.',
  errors: [
    'contract_not_found',
    'unknown_event_type',
    'invalid_input',
    'idempotency_key_reused',
    'too_many_requests',
    'event_too_old',
    'event_in_future',
    'contract_failed',
    'key_missing',
    'too_many_keys',
  ],
  example: { body: { type: 'request' } },
  skipsQueue: true,
  handle(context, request, reply) {
    const machine = context.ownership.owned(request.params.slug, request.caller);
    if (machine.contracts.length > MOST_DECISIONS) refuseLongAnswer(context.host, machine, [request.body]);
    const header = request.headers['idempotency-key'];
    const once = header === undefined ? undefined : onceOnly(header, ['event', request.body]);
    const answer = context.counting.event(machine, request.body, once);
    if (answer instanceof Promise) return answer.then((given) => answerWith(context, given, reply));
    return answerWith(context, answer, reply);
  },
});

function answerWith({ counts }: NodeContext, answer: EventAnswer | Replayed, reply: FastifyReply): unknown {
  if (answer instanceof Replayed) return answer.sentBy(reply);
  for (const decision of answer.contracts) {
    counts.took(decision);
    if (decision.away) markAway(reply);
  }
  return answer;
}

const Values = Type.Array(Type.Unknown(), { minItems: 1, maxItems: api.MOST_EVENTS });
const areValues = compileSchema(Values);

const countMany = route(api.countMany, forEvents, {
  summary:
    'Counts up to 1,000 events at once, in order, by up to 2,500 decisions of contracts. Each has an outcome, as POST …/event would answer; one that is refused fails no other.',
  errors: ['invalid_input', 'idempotency_key_reused', 'too_many_requests'],
  example: { body: [{ type: 'request' }, { type: 'request', count: 3 }] },
  checksBody: true,
  async handle({ host, ownership, counting, counts }, request, reply) {
    const machine = ownership.owned(request.params.slug, request.caller);
    const values: unknown = request.body;
    if (!areValues(values)) throw refusal('body', valueFaults(Values, values));
    refuseLongAnswer(host, machine, values);
    const once = onceOnly(request.headers['idempotency-key'], ['events', values]);
    const answer = await counting.events(machine, values, once);
    if (answer instanceof Replayed) return answer.sentBy(reply);
    for (const outcome of answer.outcomes) {
      if (outcome.ok) for (const one of outcome.contracts) counts.took(one);
    }
    return answer;
  },
});

/** In one answer: some 2 ms of its text. A forecast over a long window takes as long as several. */
const MOST_DECISIONS = 2_500;
const CELLS_OF_ONE = 8_192;

function refuseLongAnswer(host: Host, machine: Machine, values: readonly unknown[]): void {
  const { contracts } = machine;
  const takes = ({ plan }: Contract) => Math.max(1, Math.ceil(windowCycles(plan) / CELLS_OF_ONE));
  const ids = values.map((value): unknown => Object(value).contract_id);
  const ofAll = ids.includes(undefined) ? contracts.reduce((sum, one) => sum + takes(one), 0) : 0;
  const takenBy = (id: unknown) => {
    const named = host.contracts.get(String(id));
    return named?.machine === machine ? takes(named) : 1;
  };
  const decisions = ids.reduce<number>((sum, id) => sum + (id === undefined ? ofAll : takenBy(id)), 0);
  if (decisions <= MOST_DECISIONS) return;
  throw new Failure('invalid_input', {
    what: 'Nothing was counted.',
    why: `The events take ${decisions} decisions of ${contracts.length} contracts, and one answer has up to ${MOST_DECISIONS}.`,
    fix: 'Send fewer events at a time, or name one contract in `contract_id`.',
  });
}

const openStream = route(api.openStream, forReaders, {
  summary:
    'Streams what happens on a machine as server-sent events: transition, rate_limited, rate_restored, cycle, counts; each a CloudEvents envelope.',
  errors: ['contract_not_found', 'invalid_input', 'too_many_requests', 'node_overloaded'],
  example: { query: { last_event_id: '0' } },
  hasHead: false,
  handle({ host, ownership, streams }, request, reply) {
    const { params, query, headers, caller } = request;
    const machine = ownership.visible(params.slug, caller);
    if (query.after_cycle !== undefined && query.counts === undefined)
      throw notOpened('after_cycle has no effect without counts.', 'Give the ids of contracts in counts, too.', {
        path: '/after_cycle',
        message: 'has no effect without counts',
      });
    const lastEventId = headers['last-event-id'] ?? query.last_event_id;
    const afterSeq = lastEventId === undefined || lastEventId === '' ? undefined : seqOf(String(lastEventId));
    const ids = new Set(query.counts?.split(',').filter((id) => id !== ''));
    const contracts = [...ids].map((id) => contractOf(host, machine, id));
    const asked = { caller, ip: request.ip, contracts, afterCycle: query.after_cycle };
    streams.open(reply.raw, machine, asked, afterSeq);
    reply.hijack();
  },
});

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const fix = 'Give the id of the last event that you have, or none.';
  const fault = { path: '/last_event_id', message: 'must be a whole number' };
  throw notOpened(`"${text.slice(0, 40)}" is no id of an event.`, fix, fault);
}

function notOpened(why: string, fix: string, fault: Fault): Failure {
  return new Failure('invalid_input', { what: 'The stream was not opened.', why, fix, faults: [fault] });
}

export const eventRoutes = [countOne, countMany, openStream];
