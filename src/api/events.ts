// The endpoints of events: count one or many, ask the gate, open the stream.
import { exact, flag, shape, text } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { type Endpoint, get, post } from './endpoint.js';
import { ContractId, Count, Cycle, EventType, Key, OfContract, OfMachine, Ok, ok } from './shapes.js';
import { DecisionShape, Problem } from './views.js';

export const EventShape = exact({
  type: EventType,
  'count?': Count,
  'cycle?': { ...Cycle, description: 'The cycle in which they happened; the running one when absent.' },
  'contract_id?': { ...ContractId, description: 'Only this contract; all that listen when absent.' },
  'key?': Key,
});

const GateQuery = exact({
  'peek?': flag('Answers how a request would be decided; counts nothing.'),
  'n?': {
    ...Count,
    description:
      'What the request costs. A window counts as many requests, and admits it if all of them fit; a rule charges the whole cost or refuses the request, and then keeps none of it. Default: what the header of the deploy says, or 1.',
  },
  'deny?': Type.Enum(['403', '429', '503'], {
    description: 'The status for limited, where a gateway knows only this one. Default: 429.',
  }),
  'key?': Key,
});
const gateShapes = { params: OfContract, querystring: GateQuery } as const;

const { admitted: _admitted, limited: _limited, ...fields } = DecisionShape.properties;
const Admitted = shape({ ok: Ok, cycle: Cycle, decision: Type.Literal('admitted'), ...fields });
const Limited = shape({
  ...Problem.properties,
  cycle: Cycle,
  decision: Type.Literal('limited'),
  ...fields,
  'violated-policies': Type.Array(Type.String()),
});

const OnceOnly = shape({
  'Idempotency-Key?': text(1, 130, 'In quotes, up to 128 printable ASCII characters: what is sent again counts once.'),
});

export const countOne = post('/api/chain/{slug}/event', {
  shapes: { params: OfMachine, headers: OnceOnly, body: EventShape },
  answers: ok('The decision of every contract that counted it.', {
    cycle: Cycle,
    contracts: Type.Array(DecisionShape),
  }),
});

export const MOST_EVENTS = 1_000;

const Sum = (description: string) => Type.Integer({ description });

export const countMany = post('/api/chain/{slug}/events', {
  takesLongBody: true,
  shapes: {
    params: OfMachine,
    headers: OnceOnly,
    body: Type.Array(EventShape, { minItems: 1, maxItems: MOST_EVENTS }),
  },
  answers: ok('An outcome for each event.', {
    counted: Sum('Events of the array that were counted, and those that were not: `refused`.'),
    refused: Sum('Events of the array that were not counted.'),
    admitted: Sum('Of the counted ones, by their `count`: those that every contract admitted.'),
    limited: Sum('Those that some contract limited.'),
    outcomes: Type.Array(Type.Union([countOne.answers[200].schema, Problem]), {
      description:
        'In order, what POST …/event would have answered. Empty where a long answer is repeated for an Idempotency-Key.',
    }),
  }),
});

const gateParts = {
  path: '/api/chain/{slug}/contracts/{contract_id}/gate',
  shapes: gateShapes,
  answers: {
    200: {
      description: 'Admitted; the header fields RateLimit and RateLimit-Policy give the remaining quota.',
      schema: Admitted,
    },
    429: {
      description:
        'Limited; Retry-After gives the time after which a request of the same cost is admitted if no other arrives. Without it none ever is.',
      type: 'application/problem+json',
      schema: Limited,
    },
  },
} as const;

/** GET counts too: a gateway asks with every request. */
export const gate = { ...gateParts, method: 'GET' } as const satisfies Endpoint;
/** For a gateway that puts its own path before the client's. */
export const gateBelow = {
  ...gateParts,
  method: 'GET',
  path: `${gateParts.path}/{path}`,
  shapes: {
    params: shape({
      ...OfContract.properties,
      path: Type.String({ description: 'Path and query of the original request, which are not looked at.' }),
    }),
  },
} as const satisfies Endpoint;
export const gateByPost = { ...gateParts, method: 'POST' } as const satisfies Endpoint;

export const MOST_COUNTS = 24;

const LAST_EVENT =
  'The seq of the last row received; 0 for all. The header has precedence. Rows that were removed are replaced by one event `rows_removed`. What a row emitted follows it under the same id, and is in `emitted` of its event `transition`.';

export const openStream = get('/api/chain/{slug}/stream', {
  shapes: {
    params: OfMachine,
    headers: shape({ 'Last-Event-ID?': Type.String({ description: LAST_EVENT }) }),
    querystring: exact({
      'last_event_id?': Type.String({ maxLength: 16, description: LAST_EVENT }),
      'counts?': Type.String({
        maxLength: MOST_COUNTS * 65,
        description: `Ids of up to ${MOST_COUNTS} contracts, separated by commas: the stream also has an event \`counts\` for each cycle that is over, with what each of them counted in it and the state at its end. It begins with the cycles that the node has kept, up to 600. Nodes of a network, which count together, give the count and the state as they are in Redis when the next cycle begins, and null for the others.`,
      }),
      'after_cycle?': { ...Cycle, description: 'Only counts of cycles after this one.' },
    }),
  },
  answers: {
    200: { description: 'The stream. It ends when the node stops or the client closes it.', type: 'text/event-stream' },
  },
});
