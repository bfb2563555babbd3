// Owns looking at templates. Leaves the template itself to limiter/rate-limiter.ts, deploying it to contracts.ts.

import * as api from '../../api/contracts.js';
import { rateLimiter, TEMPLATE_ID } from '../../limiter/rate-limiter.js';
import { route } from '../route.js';

const template = rateLimiter();

export const listTemplates = route({
  ...api.listTemplates,
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Lists the templates that can be deployed.',
  example: { status: 200 },
  handle() {
    const { category, name, version } = template;
    return { ok: true, count: 1, templates: [{ id: TEMPLATE_ID, category, name, version }] };
  },
});

export const inspectRateLimiter = route({
  ...api.inspectRateLimiter,
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Shows the full definition of the windowed rate limiter: states, transitions, operators, parameters.',
  example: { status: 200 },
  handle: () => ({ ok: true, template }),
});
