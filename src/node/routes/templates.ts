// Routes of templates: listing them, looking at one, deploying one onto a machine.
import * as api from '../../api/contracts.js';
import type { ContractDefinition } from '../../limiter/definition.js';
import { checkLimiter, limiterDefinition } from '../../limiter/products/limiter-spec.js';
import { rateLimiter, TEMPLATE_ID } from '../../limiter/rate-limiter.js';
import { ruleLimiter } from '../../limiter/rule-limiter.js';
import { templates } from '../../limiter/templates.js';
import { nearest } from '../../schema/did-you-mean.js';
import { assert, Failure } from '../../schema/failure.js';
import { forAdmins, forAnyone, route } from '../route.js';
import { contractView } from '../views.js';
import { create, pay, refusals } from './contracts.js';

export const listTemplates = route({
  ...api.listTemplates,
  ...forAnyone,
  domain: 'contract templates',
  summary: 'Lists the templates that can be deployed, in pages.',
  errors: ['template_not_found'],
  example: { query: { limit: '10' }, status: 200 },
  handle(_parts, { query: { after, limit = 100 } }) {
    if (after !== undefined) templateNamed(after);
    const ids = [...templates.keys()];
    const from = after === undefined ? 0 : ids.indexOf(after) + 1;
    const page = ids.slice(from, from + limit).map((id) => {
      const { category = '', name, version } = templates.get(id)!;
      return { id, category, name, version };
    });
    const next = from + limit < ids.length ? { next: page.at(-1)!.id } : {};
    return { ok: true, count: ids.length, templates: page, ...next };
  },
});

export const inspectRateLimiter = route({
  ...api.inspectRateLimiter,
  ...forAnyone,
  domain: 'contract templates',
  summary: 'Shows the full definition of the windowed rate limiter: states, transitions, operators, parameters.',
  example: { status: 200 },
  handle: () => ({ ok: true, template: templateNamed(TEMPLATE_ID) }),
});

export const inspectTemplate = route({
  ...api.inspectTemplate,
  ...forAnyone,
  domain: 'contract templates',
  summary: 'Shows the full definition of a template.',
  errors: ['template_not_found'],
  example: { params: { template_id: 'gcra' }, status: 200 },
  handle: (_parts, { params }) => ({ ok: true, template: templateNamed(params.template_id) }),
});

export const deployRateLimiter = route({
  ...api.deployRateLimiter,
  ...forAdmins,
  domain: 'contract templates',
  summary:
    'Deploys the windowed rate limiter onto a machine: the contract starts allowing, and fires first in the next cycle.',
  errors: refusals,
  example: { body: { slug: 'edge-gateway', threshold: 100, within: 60 }, status: 201 },
  async handle(context, request, reply) {
    const { body, caller } = request;
    const { slug, name, rule, limit, shadow, when_away, gate, keyed, ...parameters } = body;
    context.ownership.owned(slug, caller);
    const asked = Object.entries({ ...parameters, rule, limit }).filter(([, value]) => value !== undefined);
    const limiter = limiterIn(asked, context.clock.cycleMs) ?? rateLimiter(parameters);
    const definition = {
      ...limiter,
      ...(shadow && { shadow }),
      ...(when_away && { when_away }),
      ...(gate && { gate }),
    };
    const template_id = definition.id ?? TEMPLATE_ID;
    pay(context, request, reply, 1);
    const contract = await create(context, caller, slug, definition, { templateId: template_id, keyed, name });
    reply.code(201);
    return { ok: true, contract: contractView(contract), template_id };
  },
});

export const deployTemplate = route({
  ...api.deployTemplate,
  ...forAdmins,
  domain: 'contract templates',
  summary: 'Deploys the template of a family of rules onto a machine, with its parameters or with others.',
  errors: [...refusals, 'template_not_found'],
  example: {
    params: { template_id: 'token-bucket' },
    body: { slug: 'edge-gateway', params: { rate: 10, per_ms: 1000, capacity: 20 } },
    status: 201,
  },
  async handle(context, request, reply) {
    const { params, body, caller } = request;
    const { slug, name, shadow, when_away, gate, keyed, ...given } = body;
    context.ownership.owned(slug, caller);
    const { id = params.template_id, rule, name: called } = templateNamed(params.template_id);
    assert(rule !== undefined, 'only the rate limiter has no rule, and it has a route of its own');
    const definition = {
      ...ruleLimiter({ ...rule, ...given }, called),
      ...(shadow && { shadow }),
      ...(when_away && { when_away }),
      ...(gate && { gate }),
    };
    pay(context, request, reply, 1);
    const contract = await create(context, caller, slug, definition, { templateId: id, keyed, name });
    reply.code(201);
    return { ok: true, contract: contractView(contract), template_id: id };
  },
});

/** Undefined for the parameters of the window. @throws Failure `invalid_definition`, `invalid_input` */
function limiterIn(asked: readonly (readonly [name: string, value: unknown])[], cycleMs: number) {
  const [name, limiter] = asked.find(([one]) => one === 'rule' || one === 'limit') ?? [];
  if (name === undefined) return undefined;
  const other = asked.find(([one]) => one !== name)?.[0];
  if (other !== undefined) {
    throw new Failure('invalid_input', {
      what: 'No contract was created.',
      why: `${other} and ${name} each say what the contract follows.`,
      fix: 'Give one of the two.',
      faults: [{ path: `/${other}`, message: `cannot be combined with ${name}` }],
    });
  }
  return limiterDefinition(checkLimiter(limiter, `/${name}`), cycleMs);
}

function templateNamed(id: string): ContractDefinition {
  const template = templates.get(id);
  if (template !== undefined) return template;
  const guess = nearest(id, [...templates.keys()]);
  throw new Failure('template_not_found', {
    what: `There is no template "${id}".`,
    fix: guess === undefined ? 'GET /api/contracts/templates lists them.' : `Did you mean "${guess}"?`,
  });
}
