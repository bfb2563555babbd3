// Routes of metrics: those of the node for its operator, those of a machine for its owner.
import { OfMachine } from '../../api/shapes.js';
import { metricsOfMachine } from '../metrics.js';
import { forOwners, route } from '../route.js';

const answers = { 200: { description: 'Prometheus text.', type: 'text/plain' } } as const;

export const showMetrics = route({
  method: 'GET',
  auth: 'public',
  domain: 'node',
  path: '/metrics',
  tier: 'operations (public)',
  summary: 'Shows the figures of the node for Prometheus.',
  answers,
  example: { status: 200 },
  async handle({ metrics }, _request, reply) {
    const text = await metrics.text();
    return reply.header('content-type', metrics.contentType).send(text);
  },
});

export const showMachineMetrics = route({
  method: 'GET',
  path: '/api/chain/{slug}/metrics',
  ...forOwners,
  domain: 'node',
  summary:
    'Shows the figures of a machine for Prometheus, for its owner: decisions, latency of its gates, size of its record.',
  shapes: { params: OfMachine },
  answers,
  errors: ['machine_not_found', 'not_owner'],
  example: { params: { slug: 'edge-gateway' }, status: 200 },
  async handle({ ownership, counts, metrics }, { params, caller }, reply) {
    const text = await metricsOfMachine(ownership.owned(params.slug, caller), counts);
    return reply.header('content-type', metrics.contentType).send(text);
  },
});
