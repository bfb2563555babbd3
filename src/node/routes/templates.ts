// Owns looking at templates. Leaves the template itself to limiter/rate-limiter.ts, deploying it to contracts.ts.

import { ContractDefinition } from '../../limiter/definition.js';
import { rateLimiter, TEMPLATE_ID } from '../../limiter/rate-limiter.js';
import { Type } from '../../schema/json-schema.js';
import { route } from '../route.js';
import { Ok } from '../shapes.js';

const template = rateLimiter();

export const listTemplates = route({
  method: 'GET',
  path: '/api/contracts/templates',
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Lists the templates that can be deployed.',
  answers: {
    200: {
      description: 'The templates.',
      schema: Type.Object({
        ok: Ok,
        count: Type.Integer(),
        templates: Type.Array(
          Type.Object({ id: Type.String(), category: Type.String(), name: Type.String(), version: Type.String() }),
        ),
      }),
    },
  },
  example: { status: 200 },
  handle() {
    const { category, name, version } = template;
    return { ok: true, count: 1, templates: [{ id: TEMPLATE_ID, category, name, version }] };
  },
});

export const inspectRateLimiter = route({
  method: 'GET',
  path: '/api/contracts/templates/rate-limiter',
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Shows the full definition of the windowed rate limiter: states, transitions, operators, parameters.',
  answers: { 200: { description: 'The template.', schema: Type.Object({ ok: Ok, template: ContractDefinition }) } },
  example: { status: 200 },
  handle: () => ({ ok: true, template }),
});
