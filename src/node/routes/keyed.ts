// Routes of contracts with keys: listing the keys, and many gates in one request.
import type { FastifyReply } from 'fastify';
import * as api from '../../api/keyed.js';
import { Failure, placed } from '../../schema/failure.js';
import type { DecisionResults } from '../counting/counting.js';
import type { DecisionRequest } from '../counting/decision.js';
import { askedOfGate } from '../counting/listeners.js';
import { markAway } from '../gate-answer.js';
import type { Counts } from '../metrics.js';
import { contractOf } from '../ownership.js';
import { forGates, forOwners, route } from '../route.js';

export const listContractKeys = route(api.listContractKeys, forOwners, {
  summary:
    'Lists the keys of a contract that counts each key separately, in pages, with state and count; none of any other.',
  example: { query: { limit: '10' } },
  async handle({ host, ownership, counting }, { params, query, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { after = 0, limit = 100, limited = false, search = '' } = query;
    const page = await counting.keys(contract, { after, limit, limited, search });
    await counting.durable(machine);
    return { ok: true, ...page };
  },
});

export const gates = route(api.gates, forGates, {
  summary: 'Counts and decides many requests at once, in order, each as a gate does.',
  errors: ['contract_not_found', 'unknown_event_type', 'invalid_input', 'key_missing'],
  example: {
    body: { requests: [{ contract_id: '{contract_id}' }, { contract_id: '{contract_id}', n: 3 }] },
  },
  handle(context, { params, body, caller }, reply) {
    const machine = context.ownership.owned(params.slug, caller);
    const asked = body.requests.map(({ contract_id, key, n = 1 }, index) => {
      try {
        return askedOfGate(machine, contractOf(context.host, machine, contract_id), n, key);
      } catch (error) {
        throw error instanceof Failure ? atRequest(error, index) : error;
      }
    });
    const outcomes = context.counting.decideAll(machine, asked);
    if (outcomes instanceof Promise) return outcomes.then((decided) => answerTo(asked, decided, context.counts, reply));
    return answerTo(asked, outcomes, context.counts, reply);
  },
});

function answerTo(
  asked: readonly DecisionRequest[],
  { cycle, each }: DecisionResults,
  counts: Counts,
  reply: FastifyReply,
): object {
  const decisions = each.map((decision, index) => {
    const { n } = asked[index]!;
    if (decision instanceof Failure) {
      // A request that cannot be counted is refused; the others were counted.
      const { code, againCycle } = decision;
      const retry_after_cycles = againCycle === undefined ? undefined : againCycle - cycle;
      return { admitted: 0, limited: n, code, retry_after_cycles };
    }
    counts.took(n, decision);
    const { admitted, limited, retry_after_cycles } = decision;
    if (decision.away) {
      markAway(reply);
      return { admitted, limited, retry_after_cycles, away: true };
    }
    const { state, remaining } = decision;
    return { admitted, limited, state, remaining, retry_after_cycles };
  });
  return { ok: true, cycle, decisions };
}

function atRequest({ code, what, why, fix, faults }: Failure, index: number): Failure {
  const place = `/requests/${index}`;
  const reason = `Request ${index}: ${what}${why === undefined ? '' : ` ${why}`}`;
  return new Failure(code, {
    what: 'No request was counted.',
    why: reason,
    fix,
    faults: faults.length === 0 ? [{ path: place, message: what }] : faults.map((fault) => placed(fault, place)),
  });
}
