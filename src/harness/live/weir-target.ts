// A Weir node as a target: creates a key, a machine and contracts for the run, and reads the answers of the gate.

import { randomBytes } from 'node:crypto';
import type { CallOptions } from '../../api/client/api-client.js';
import { bearer, type Reached } from '../../api/client/connect.js';
import { retryAfterMsIn } from '../../api/client/limit-fields.js';
import { createContract } from '../../api/contracts.js';
import { mintKey } from '../../api/keys.js';
import { createMachine } from '../../api/machines.js';
import type { Plan } from '../../core/limiter/plan.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import type { Connection, TargetAddress } from './connection.js';
import type { PoolAnswer, PoolRequest } from './http-pool.js';
import { type DecidedAnswer, lostStatuses, quoted, type RequestEnd, type Target } from './target.js';

interface WeirTargetOptions {
  readonly plan: Plan;
  /** Of the contracts, each with the whole plan; or with `keyed`, of the keys of one contract. */
  readonly names: readonly string[];
  readonly keyed?: KeyedSpec | undefined;
  /** Default: a new one is minted; a node limits new keys per address. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface MadeOnNode {
  readonly slug: string;
  readonly key: string;
  readonly places: readonly Place[];
}

interface Place {
  readonly id: string;
  readonly key: string | undefined;
}

function nameOf({ id, key = '' }: Place): string {
  return `${id}/${key}`;
}

const AT_ONCE = 8;

/** Kind of the events that a gate counts. */
export const GATED = 'request';

export class WeirTarget implements Target {
  readonly description: string;
  readonly #requests: readonly PoolRequest[];
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(
    { origin, basePath }: TargetAddress,
    readonly made: MadeOnNode,
    plan: Plan,
  ) {
    const { slug, key, places } = made;
    this.description = `node ${origin}${basePath}, machine ${slug}`;
    this.#indexes = new Map(places.map((place, index) => [nameOf(place), index]));
    const headers = { authorization: `Bearer ${key}` };
    const event = plan.kinds[0]?.event ?? GATED;
    const chain = `${basePath}/api/chain/${slug}`;
    this.#requests = places.map(({ id, key: of }) =>
      event === GATED
        ? {
            method: 'POST',
            path: `${chain}/contracts/${id}/gate${of === undefined ? '' : `?key=${encodeURIComponent(of)}`}`,
            headers,
          }
        : {
            method: 'POST',
            path: `${chain}/event`,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify({ type: event, contract_id: id, key: of }),
          },
    );
  }

  /**
   * Undefined for a target that is no node. @throws Failure `node_unreachable`, `answer_unreadable`, any refusal of the node; the reason of an
   * aborted signal
   */
  static async prepare(
    { endpoint, timeoutMs, nodes: [node] }: Connection,
    options: WeirTargetOptions,
  ): Promise<WeirTarget | undefined> {
    if (node === undefined) return undefined;
    const { plan, names, keyed, signal } = options;
    const waiting = { timeoutMs, signal };
    const key = options.key ?? (await mintAt(node, waiting));
    const api = node.as(bearer(key));
    // Not from the seed: two runs of one scenario need two machines.
    const slug = `load-${randomBytes(6).toString('hex')}`;
    await api.call(createMachine, { body: { slug, display_name: 'Live load' } }, waiting);
    const deploy = async (more: { readonly keyed?: KeyedSpec & { store_keys: 'plain' } } = {}) => {
      const ask = { params: { slug }, body: { ...plan.definition, ...more } };
      return (await api.call(createContract, ask, waiting)).contract.id;
    };
    if (keyed !== undefined) {
      // The machine is private, and what happens to each name is compared.
      const id = await deploy({ keyed: { ...keyed, store_keys: 'plain' } });
      const places = names.map((name) => ({ id, key: name }));
      return new WeirTarget(endpoint, { slug, key, places }, plan);
    }
    const places: Place[] = [];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const part = names.slice(from, from + AT_ONCE).map(async () => ({ id: await deploy(), key: undefined }));
      places.push(...(await Promise.all(part)));
    }
    return new WeirTarget(endpoint, { slug, key, places }, plan);
  }

  request(contract: number, cost = 1): PoolRequest {
    const request = this.#requests[contract]!;
    if (cost === 1) return request;
    if (request.body !== undefined)
      return { ...request, body: JSON.stringify({ ...JSON.parse(request.body), count: cost }) };
    return { ...request, path: withQuery(request.path, `n=${cost}`) };
  }

  /** For warming up: takes the path of a request, but counts nothing. Warms less if events of another kind are sent. */
  get peek(): PoolRequest {
    const { path, headers = {} } = this.#requests[0]!;
    return { method: 'GET', path: withQuery(path, 'peek=1'), headers: { ...headers } };
  }

  /** By the id from the node, and by the key of a contract with keys. */
  indexOf(id: string, key: string | undefined): number | undefined {
    return this.#indexes.get(nameOf({ id, key }));
  }

  read(answer: PoolAnswer): RequestEnd {
    const { status, body } = answer;
    if (lostStatuses.has(status))
      return { type: 'fault', kind: 'overloaded', words: `Status ${status}: ${quoted(body)}.` };
    if (status !== 200 && status !== 429)
      return { type: 'fault', kind: 'unexpected', words: `Status ${status}: ${quoted(body)}.` };
    const words = `Status ${status} without a decision: ${quoted(body)}.`;
    return decisionIn(answer) ?? { type: 'fault', kind: 'unexpected', words };
  }
}

export async function mintAt({ anyone }: Reached, { timeoutMs, signal }: CallOptions): Promise<string> {
  return (await anyone.call(mintKey, undefined, { timeoutMs, signal })).key;
}

function withQuery(path: string, field: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${field}`;
}

/** From the body of a gate, `{cycle, decision, state, count}`, or of an event, `{cycle, contracts: [{…}]}`. */
function decisionIn({ body, fields }: PoolAnswer): DecidedAnswer | undefined {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const [of] = Array.isArray(parsed['contracts']) ? (parsed['contracts'] as Record<string, unknown>[]) : [parsed];
  const { state, count, delay_ms: delay } = of ?? {};
  const { cycle, decision = of?.['limited'] === 0 ? 'admitted' : 'limited' } = parsed;
  const isWhole = typeof cycle === 'number' && Number.isSafeInteger(cycle) && typeof count === 'number';
  if (!isWhole || typeof state !== 'string' || (decision !== 'admitted' && decision !== 'limited')) return undefined;
  const delayMs = typeof delay === 'number' && delay > 0 ? delay : undefined;
  const admitted = decision === 'admitted';
  return {
    type: 'decided',
    admitted,
    cycle,
    state,
    count,
    delayMs,
    retryAfterMs: admitted ? undefined : retryAfterMsIn(fields),
  };
}
