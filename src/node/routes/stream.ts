// Owns GET …/stream: opening a stream of events. Leaves everything after that to node/stream.ts.
import * as api from '../../api/events.js';
import { Failure } from '../../schema/failure.js';
import { route } from '../route.js';

export const openStream = route({
  ...api.openStream,
  auth: 'public_or_owner',
  tier: 'public',
  domain: 'events',
  summary:
    'Streams what happens on a machine as server-sent events: transition, rate_limited, rate_restored, cycle; each a CloudEvents envelope.',
  errors: ['machine_not_found', 'invalid_input', 'node_overloaded'],
  example: { params: { slug: 'edge-gateway' }, query: { last_event_id: '0' }, status: 200 },
  hasHead: false,
  handle({ ownership, streams }, { params, query, headers, caller }, reply) {
    const machine = ownership.visible(params.slug, caller);
    const lastEventId = headers['last-event-id'] ?? query.last_event_id;
    const afterSeq = lastEventId === undefined || lastEventId === '' ? undefined : seqOf(String(lastEventId));
    streams.open(reply.raw, machine, caller, afterSeq);
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
