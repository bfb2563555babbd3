// The endpoints of events: counting one or many, the gate, the stream of what happens.
import { Type } from '../schema/json-schema.js';
import type { Endpoint } from './endpoint.js';
import { ContractId, Count, Cycle, closed, EventType, OfContract, OfMachine, Ok } from './shapes.js';
import { DecisionShape, Problem } from './views.js';

export const EventShape = Type.Object(
  {
    type: EventType,
    count: Type.Optional(Count),
    cycle: Type.Optional(Cycle),
    contract_id: Type.Optional(ContractId),
  },
  { additionalProperties: false },
);

const Line = Type.Integer({ description: 'Number of a line, or place in the array, from 1.' });
const Sum = (description: string) => Type.Integer({ description });

const Outcome = Type.Object({
  from_line: Line,
  to_line: Line,
  outcome: Type.Enum(['admitted', 'limited', 'mixed', 'refused']),
  admitted: Sum('Events admitted on these lines.'),
  limited: Sum('Events limited on these lines.'),
  code: Type.Optional(Type.String({ description: 'Why refused lines were not counted.' })),
  detail: Type.Optional(Type.String({ description: 'The same in words, of the first of them.' })),
});

const BulkAnswer = Type.Object({
  ok: Ok,
  cycle: Cycle,
  lines: Sum('Lines with something on them.'),
  counted: Sum('Lines that were counted.'),
  refused: Sum('Lines that were not.'),
  admitted: Sum('Events that every contract admitted.'),
  limited: Sum('Events that some contract limited.'),
  complete: Type.Boolean({ description: 'Whether all lines were read. If not, send again from `next_line` on.' }),
  next_line: Type.Optional(Line),
  outcomes: Type.Array(Outcome, { description: 'Of every line, in order; neighbours with the same outcome are one.' }),
  contracts: Type.Array(DecisionShape),
});

const GateQuery = Type.Object(
  { peek: Type.Optional(Type.Boolean({ description: 'Tells how a request would be decided, and counts nothing.' })) },
  closed,
);
const gateShapes = { params: OfContract, querystring: GateQuery } as const;

const { admitted: _admitted, limited: _limited, ...fields } = DecisionShape.properties;
const Admitted = Type.Object({ ok: Ok, cycle: Cycle, decision: Type.Literal('admitted'), ...fields });
const Limited = Type.Object({
  ...Problem.properties,
  cycle: Cycle,
  decision: Type.Literal('limited'),
  ...fields,
  'violated-policies': Type.Array(Type.String()),
});

export const countOne = {
  method: 'POST',
  path: '/api/chain/{slug}/event',
  shapes: { params: OfMachine, body: EventShape },
  answers: {
    200: {
      description: 'The decision of every contract that counted it.',
      schema: Type.Object({ ok: Ok, cycle: Cycle, contracts: Type.Array(DecisionShape) }),
    },
  },
} as const satisfies Endpoint;

export const countMany = {
  method: 'POST',
  path: '/api/chain/{slug}/events',
  shapes: { params: OfMachine, body: Type.Array(EventShape) },
  answers: { 200: { description: 'An outcome for every line.', schema: BulkAnswer } },
} as const satisfies Endpoint;

const gateParts = {
  path: '/api/chain/{slug}/contracts/{contract_id}/gate',
  shapes: gateShapes,
  answers: {
    200: {
      description: 'Admitted; the header fields RateLimit and RateLimit-Policy tell what is left.',
      schema: Admitted,
    },
    429: {
      description: 'Limited; Retry-After tells when a client that is alone is admitted.',
      type: 'application/problem+json',
      schema: Limited,
    },
  },
} as const;

/** GET counts, too: a gateway asks at every request. */
export const gate = { ...gateParts, method: 'GET' } as const satisfies Endpoint;
export const gateByPost = { ...gateParts, method: 'POST' } as const satisfies Endpoint;

export const openStream = {
  method: 'GET',
  path: '/api/chain/{slug}/stream',
  shapes: {
    params: OfMachine,
    querystring: Type.Object(
      {
        last_event_id: Type.Optional(
          Type.String({
            maxLength: 16,
            description:
              'As the header Last-Event-ID, which goes before it: the seq of the last row that was seen; 0 for all.',
          }),
        ),
      },
      closed,
    ),
  },
  answers: {
    200: { description: 'The stream. It ends when the node does, or when you do.', type: 'text/event-stream' },
  },
} as const satisfies Endpoint;
