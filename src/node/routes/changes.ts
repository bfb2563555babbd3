// Routes that change a contract in place, and those of its candidate.
import type { Static } from 'typebox';
import * as api from '../../api/changes.js';
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { checkLimiter, followsRule, limiterDefinition } from '../../core/limiter/products/limiter-spec.js';
import { limiterParameters, rateLimiter } from '../../core/limiter/rate-limiter.js';
import { Failure, type FailureCode } from '../../core/schema/failure.js';
import type { Compared } from '../host/candidate-comparison.js';
import type { Contract } from '../host/contract.js';
import { type ContractChange, noCandidate } from '../host/contract-change.js';
import { candidateOf } from '../host/contract-values.js';
import type { NodeContext } from '../node-context.js';
import { contractOf } from '../ownership.js';
import type { Caller } from '../permission.js';
import { forAdmins, forOwners, route } from '../route.js';
import { comparedView, contractView } from '../views.js';
import { notBoth, planOf, refusals } from './contracts.js';

const errors = [
  ...refusals,
  'contract_failed',
  'invalid_input',
  'name_taken',
  'no_candidate',
  'not_on_network',
] as const satisfies readonly FailureCode[];

const changeContract = route(api.changeContract, forAdmins, {
  summary:
    'Changes a contract in place: its id and, where they can be, its counts stay. A row of the record says from what to what.',
  errors,
  example: { body: { threshold: 200 } },
  async handle(context, request) {
    const { params, body, caller } = request;
    const machine = context.ownership.owned(params.slug, caller);
    const contract = contractOf(context.host, machine, params.contract_id);
    context.bounds.definitionKib.take(request, Math.max(1, Math.ceil(request.bodyLength / 1024)));
    const { cycleMs } = context.clock;
    const definition = definitionIn(contract, body, cycleMs);
    const planned = (asked: object) => planOf(asked, contract.image.keyed, 'The contract was not changed.');
    const plan = definition && planned(definition);
    const { candidate: asked } = body;
    const limiter = asked == null ? undefined : candidateIn(contract.plan.definition, asked, cycleMs);
    const candidate = limiter && planned(limiter);
    return change(context, caller, contract, { name: body.name, plan, candidate: asked === null ? null : candidate });
  },
});

const promoteCandidate = route(api.promoteCandidate, forAdmins, {
  summary: 'Makes the candidate of a contract its limiter, with its counts, and the limiter the candidate.',
  errors,
  handle(context, { params, caller }) {
    const machine = context.ownership.owned(params.slug, caller);
    return change(context, caller, contractOf(context.host, machine, params.contract_id), { promotes: true });
  },
});

const differing = ([, a]: Row, [, b]: Row) => b.only_limiter + b.only_candidate - (a.only_limiter + a.only_candidate);
type Row = readonly [key: string, compared: Readonly<Compared>];

const showCandidate = route(api.showCandidate, forOwners, {
  summary: 'Says what a contract and its candidate decided differently, and for which keys.',
  errors: ['no_candidate'],
  handle({ ownership, host }, { params, query: { limit = 100 }, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { comparison } = contract;
    if (comparison === undefined) throw noCandidate(contract);
    const keys = [...comparison.byKey].sort(differing);
    const by_key = keys.slice(0, limit).map(([key, { both, only_limiter, only_candidate }]) => {
      return { key, both, only_limiter, only_candidate };
    });
    return {
      ok: true,
      limiter: candidateOf(comparison.plan.definition),
      ...comparedView(comparison),
      keys: keys.length,
      by_key,
    };
  },
});

async function change(
  { registry, memory }: NodeContext,
  caller: Caller,
  contract: Contract,
  asked: ContractChange,
): Promise<object> {
  memory.refuse('The contract was not changed.');
  const { changes, forgotten } = await registry.changeContract(contract, { ...asked, by: caller.key.id });
  return { ok: true, contract: contractView(contract), changes, forgotten };
}

type Body = Static<typeof api.changeContract.shapes.body>;

/** Undefined if it does not change. @throws Failure `invalid_input`, `invalid_definition` */
function definitionIn({ plan: { definition: was } }: Contract, body: Body, cycleMs: number): object | undefined {
  const { threshold, within, near_limit, limiter, limit, definition, shadow } = body;
  const given = Object.entries({ threshold, within, near_limit }).filter(([, value]) => value !== undefined);
  const limiterFields = [given[0]?.[0], limiter && 'limiter', limit && 'limit', definition && 'definition'].filter(
    (one) => one !== undefined,
  );
  const [one, other] = limiterFields;
  if (one !== undefined && other !== undefined) throw notBoth('The contract was not changed.', one, other);
  if (definition !== undefined) return shadow === undefined ? definition : { ...definition, shadow };
  const asked = limiter ?? limit;
  if (asked === undefined && given.length === 0 && shadow === undefined) return undefined;
  const place = limit === undefined ? '/limiter' : '/limit';
  const checked = asked === undefined ? undefined : checkLimiter(asked, place);
  const next = checked === undefined ? withNumbers(was, body) : limiterDefinition(checked, cycleMs);
  const { shadow: _ofNext, ...left } = next;
  const { when_away, gate } = was;
  return {
    ...left,
    ...((shadow ?? checked?.['shadow'] ?? was.shadow) ? { shadow: true } : {}),
    ...(when_away && { when_away }),
    ...(gate && { gate }),
  };
}

function withNumbers(was: ContractDefinition, { threshold, within, near_limit: near }: Body): ContractDefinition {
  if (threshold === undefined && within === undefined && near === undefined) return was;
  const before = limiterParameters(was);
  if (before === undefined)
    throw noNumbers(was, threshold !== undefined ? 'threshold' : within !== undefined ? 'within' : 'near_limit');
  const { near_limit, ...numbers } = before;
  const share = near === undefined ? near_limit : (near ?? undefined);
  return rateLimiter({
    ...numbers,
    ...(threshold === undefined ? {} : { threshold }),
    ...(within === undefined ? {} : { within }),
    ...(share === undefined ? {} : { near_limit: share }),
  });
}

/** A window without a threshold or a length has that of the contract. */
function candidateIn(was: ContractDefinition, asked: object | string, cycleMs: number): ContractDefinition {
  const checked = checkLimiter(asked, '/candidate');
  const isRule: boolean = followsRule(checked);
  if (isRule) return limiterDefinition(checked, cycleMs);
  const before = limiterParameters(was);
  const missing = (['threshold', 'within'] as const).find((field) => checked[field] === undefined);
  if (before === undefined && missing !== undefined) throw noNumbers(was, `candidate/${missing}`);
  return limiterDefinition({ ...before, ...checked }, cycleMs);
}

function noNumbers({ name }: ContractDefinition, given: string): Failure {
  return new Failure('invalid_input', {
    what: 'The contract was not changed.',
    why: `threshold, within and near_limit belong to the template rate-limiter, and this contract follows ${name}.`,
    fix: 'Give limiter, for example { "primitive": "token_bucket", "params": { … } }, or a whole definition.',
    faults: [{ path: `/${given}`, message: 'is not a number of this contract' }],
  });
}

export const changeRoutes = [changeContract, promoteCandidate, showCandidate];
