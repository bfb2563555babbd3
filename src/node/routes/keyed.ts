// Routes of contracts with keys: the keys that are there, and many gates in one request.
import type { FastifyReply } from 'fastify';
import * as api from '../../api/keyed.js';
import type { Contract } from '../../host/contract.js';
import { KeyedContract } from '../../host/keyed-contract.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { Failure } from '../../schema/failure.js';
import { countInSteps, decisionOf, gateOf, whyNotSoMany } from '../decision.js';
import { markAway } from '../gate-answer.js';
import { keyNameOf } from '../keyed.js';
import type { Network } from '../network/network.js';
import { contractOf } from '../ownership.js';
import type { Parts } from '../parts.js';
import { route } from '../route.js';

export const listContractKeys = route({
  ...api.listContractKeys,
  auth: 'key_or_session',
  scope: 'read',
  tier: 'machine',
  domain: 'contracts',
  summary:
    'Lists the keys of a contract that counts each key separately, in pages, with state and count; none of any other.',
  errors: ['machine_not_found', 'not_owner', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, query: { limit: '10' }, status: 200 },
  async handle({ host, ownership, durability, work, network }, { params, query, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { after = 0, limit = 100, limited = false, contains = '' } = query;
    if (network !== undefined) {
      const { keys, ...page } = await network.listKeys(contract, after, limit);
      const isAsked = ({ key, retry_after_cycles: wait }: (typeof keys)[number]) =>
        key.includes(contains) && (!limited || wait !== 0);
      return { ok: true, ...page, keys: keys.filter(isAsked) };
    }
    const answer = await work.of(machine, function* (cycle) {
      if (!(contract instanceof KeyedContract)) return { ok: true, cycle, keys: [] };
      const { table } = contract.keys;
      const keys: object[] = [];
      let number = after;
      while (number < table.last && keys.length < limit) {
        number += 1;
        yield LOOK;
        if (!table.has(number) || !table.nameOf(number).includes(contains)) continue;
        if (limited && !contract.keys.isLimited(number)) continue;
        const { key, state, count, remaining, retry_after_cycles } = decisionOf(
          contract,
          0,
          0,
          0,
          table.nameOf(number),
          cycle,
        );
        keys.push({ key, state, count, remaining, retry_after_cycles });
        yield SHOW;
      }
      return { ok: true, cycle, keys, ...(number < table.last ? { next: number } : {}) };
    });
    await durability.ofRows(machine);
    return answer;
  },
});

/** What looking at a number costs in units, and showing a key. */
const LOOK = 1 / 256;
const SHOW = 1 / 4;

export const gates = route({
  ...api.gates,
  auth: 'key_or_session',
  scope: 'gate',
  tier: 'machine',
  domain: 'events',
  summary: 'Counts and decides many requests at once, in order, each as a gate does.',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'unknown_event_type',
    'invalid_input',
    'key_missing',
  ],
  example: {
    params: { slug: 'edge-gateway' },
    body: { requests: [{ contract_id: '{contract_id}' }, { contract_id: '{contract_id}', n: 3 }] },
    status: 200,
  },
  handle(parts, { params, body, caller }, reply) {
    const machine = parts.ownership.owned(params.slug, caller);
    const asked = body.requests.map(({ contract_id, key, n = 1 }, index) => {
      try {
        const contract = contractOf(parts.host, machine, contract_id);
        const kind = gateOf(contract);
        const tooMany = whyNotSoMany([{ contract, kind }], n);
        if (tooMany !== undefined) throw tooMany;
        return { contract, kind, name: keyNameOf(contract, key), n };
      } catch (error) {
        throw error instanceof Failure ? atRequest(error, index) : error;
      }
    });
    const answered = (answer: object) => parts.durability.afterCounts(machine, () => answer);
    const { network } = parts;
    if (network !== undefined) return decideOver(parts, network, asked, reply);
    const answer = parts.work.of(machine, (cycle) => decideAll(parts, machine, asked, cycle));
    return answer instanceof Promise ? answer.then(answered) : answered(answer);
  },
});

interface Asked {
  readonly contract: Contract;
  readonly kind: number;
  readonly name: string | undefined;
  readonly n: number;
}

/** What a decision costs that moves nothing, in units: there is no request of its own to be read. */
const QUIET = 1 / 16;

/** As `decideAll`, by a network of nodes. */
async function decideOver(
  { counts, clock }: Parts,
  network: Network,
  asked: readonly Asked[],
  reply: FastifyReply,
): Promise<object> {
  const outcomes = await network.decide(asked);
  let cycle = 0;
  const decisions = outcomes.map((outcome, index) => {
    const { n } = asked[index]!;
    if (outcome instanceof Failure) {
      if (!isOfOne(outcome)) throw outcome;
      return { admitted: 0, limited: n, code: outcome.code };
    }
    const { decision } = outcome;
    if ('away' in decision) {
      counts.away += n;
      markAway(reply);
      const { admitted, limited, retry_after_cycles, away } = decision;
      return { admitted, limited, retry_after_cycles, away };
    }
    const { admitted, state, remaining, retry_after_cycles } = decision;
    counts.decided(n, admitted);
    cycle = Math.max(cycle, outcome.cycle);
    return { admitted, limited: n - admitted, state, remaining, retry_after_cycles };
  });
  return { ok: true, cycle: cycle || clock.cycle(), decisions };
}

function* decideAll({ host, counts }: Parts, machine: Machine, asked: readonly Asked[], cycle: number): Steps<object> {
  const decisions: object[] = [];
  for (const { contract, kind, name, n } of asked) {
    const { seq } = machine.head;
    try {
      const admitted = yield* countInSteps(host, machine, { contract, kind }, n, cycle, undefined, name);
      counts.decided(n, admitted);
      const { state, remaining, retry_after_cycles } = decisionOf(contract, kind, n, admitted, name);
      decisions.push({ admitted, limited: n - admitted, state, remaining, retry_after_cycles });
    } catch (error) {
      if (!(error instanceof Failure) || !isOfOne(error)) throw error;
      // What cannot be counted is not let through; the others were counted, and are.
      const { code, againCycle } = error;
      const retry_after_cycles = againCycle === undefined ? undefined : againCycle - cycle;
      decisions.push({ admitted: 0, limited: n, code, retry_after_cycles });
    }
    if (machine.head.seq === seq) yield QUIET;
  }
  return { ok: true, cycle, decisions };
}

/** Whether a failure is of one request, and the others are counted. */
function isOfOne({ code }: Failure): boolean {
  return code === 'too_many_keys' || code === 'contract_failed' || code === 'memory_low';
}

function atRequest({ code, what, why, fix }: Failure, index: number): Failure {
  const reason = `Request ${index}: ${what}${why === undefined ? '' : ` ${why}`}`;
  return new Failure(code, {
    what: 'No request was counted.',
    why: reason,
    ...(fix === undefined ? {} : { fix }),
    faults: [{ path: `/requests/${index}`, message: what }],
  });
}
