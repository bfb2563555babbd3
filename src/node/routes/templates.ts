// Routes of templates: listing them, looking at one, deploying one onto a machine.
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import * as api from '../../api/contracts.js';
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { limiterDefinition } from '../../core/limiter/products/limiter-spec.js';
import { rateLimiter, TEMPLATE_ID } from '../../core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../core/limiter/rule-limiter.js';
import { templates } from '../../core/limiter/templates.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { assert, Failure } from '../../core/schema/failure.js';
import type { NodeContext } from '../node-context.js';
import type { Caller } from '../permission.js';
import { forAdmins, forAnyone, route } from '../route.js';
import { create, notBoth, refusals } from './contracts.js';

const listTemplates = route(api.listTemplates, forAnyone, {
  summary: 'Lists the templates that can be deployed, in pages.',
  errors: ['template_not_found'],
  example: { query: { limit: '10' } },
  handle(_parts, { query: { after, limit = 100 } }) {
    if (after !== undefined) templateNamed(after);
    const ids = [...templates.keys()];
    const from = after === undefined ? 0 : ids.indexOf(after) + 1;
    const page = ids.slice(from, from + limit).map((id) => {
      const { category = '', name, version } = templates.get(id)!;
      return { id, category, name, version };
    });
    const next = from + limit < ids.length ? page.at(-1)!.id : undefined;
    return { ok: true, count: ids.length, templates: page, next };
  },
});

const inspectRateLimiter = route(api.inspectRateLimiter, forAnyone, {
  summary: 'Shows the full definition of the windowed rate limiter: states, transitions, operators, parameters.',
  handle: () => ({ ok: true, template: templateNamed(TEMPLATE_ID) }),
});

const inspectTemplate = route(api.inspectTemplate, forAnyone, {
  summary: 'Shows the full definition of a template.',
  errors: ['template_not_found'],
  example: { params: { template_id: 'gcra' } },
  handle: (_parts, { params }) => ({ ok: true, template: templateNamed(params.template_id) }),
});

const deployRateLimiter = route(api.deployRateLimiter, forAdmins, {
  summary:
    'Deploys the windowed rate limiter onto a machine: the contract starts allowing, and fires first in the next cycle.',
  errors: refusals,
  example: { body: { slug: 'edge-gateway', threshold: 100, within: 60 } },
  async handle(context, request, reply) {
    const { body, caller } = request;
    const { slug, name, rule, limit, shadow, when_away, gate, keyed, ...parameters } = body;
    context.ownership.owned(slug, caller);
    const asked = Object.entries({ ...parameters, rule, limit }).filter(([, value]) => value !== undefined);
    const limiter = limiterIn(asked, context.clock.cycleMs) ?? rateLimiter(parameters);
    return deploy(context, request, reply, limiter, limiter.id ?? TEMPLATE_ID);
  },
});

const deployTemplate = route(api.deployTemplate, forAdmins, {
  summary: 'Deploys the template of a family of rules onto a machine, with its parameters or with others.',
  errors: [...refusals, 'template_not_found'],
  example: {
    params: { template_id: 'token-bucket' },
    body: { slug: 'edge-gateway', params: { rate: 10, per_ms: 1000, capacity: 20 } },
  },
  async handle(context, request, reply) {
    const { params, body, caller } = request;
    const { slug, name, shadow, when_away, gate, keyed, ...given } = body;
    context.ownership.owned(slug, caller);
    const { id = params.template_id, rule, name: called } = templateNamed(params.template_id);
    assert(rule !== undefined, 'only the rate limiter has no rule, and it has a route of its own');
    return deploy(context, request, reply, ruleLimiter({ ...rule, ...given }, called), id);
  },
});

async function deploy(
  context: NodeContext,
  request: { readonly body: Deployed; readonly caller: Caller; readonly ip: string },
  reply: FastifyReply,
  limiter: ContractDefinition,
  templateId: string,
): Promise<object> {
  const { slug, name, shadow, when_away, gate, keyed } = request.body;
  context.bounds.definitionKib.take(request);
  const definition = { ...limiter, ...(shadow && { shadow }), ...(when_away && { when_away }), ...(gate && { gate }) };
  const contract = await create(context, request, reply, { slug, definition, templateId, keyed, name });
  return { ok: true, contract, template_id: templateId };
}

type Deployed = Pick<
  Static<typeof api.deployRateLimiter.shapes.body>,
  'slug' | 'name' | 'shadow' | 'when_away' | 'gate' | 'keyed'
>;

/** Undefined for the parameters of the window. @throws Failure `invalid_definition`, `invalid_input` */
function limiterIn(asked: readonly (readonly [name: string, value: unknown])[], cycleMs: number) {
  const [name, limiter] = asked.find(([one]) => one === 'rule' || one === 'limit') ?? [];
  if (name === undefined) return undefined;
  const other = asked.find(([one]) => one !== name)?.[0];
  if (other !== undefined) throw notBoth('No contract was created.', name, other);
  return limiterDefinition(limiter as string | object, cycleMs, `/${name}`);
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

export const templateRoutes = [listTemplates, inspectRateLimiter, inspectTemplate, deployRateLimiter, deployTemplate];
