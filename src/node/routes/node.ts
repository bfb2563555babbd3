// Routes about the node itself: its routes, its public key, its clock, its health, and figures for its operator and for owners.
import { MOST_COUNTS } from '../../api/events.js';
import * as api from '../../api/node.js';
import { signText } from '../../core/record/signing.js';
import { startOf } from '../../core/time/cycle.js';
import { nameOfLimit, RATES, type RateName, ROOMS, type RoomName } from '../limits.js';
import { metricsOfMachine } from '../metrics.js';
import { overloaded } from '../overload.js';
import { draining, JSON_TYPE } from '../problem.js';
import { ofOwner } from '../request-source.js';
import { forAnyone, forComputation, forOwners, forSupervisors, route } from '../route.js';
import { isKept } from '../usage.js';

const listEndpoints = route(api.listEndpoints, forAnyone, {
  summary: 'Lists every route of this node.',
  handle({ routes }) {
    const endpoints = routes.map(({ method, path, auth, scope = 'none', tier, domain, summary }) => ({
      method,
      path,
      auth,
      scope,
      tier,
      domain,
      summary,
    }));
    return { ok: true, count: endpoints.length, endpoints };
  },
});

const showOpenApi = route(api.openApi, forAnyone, {
  summary: 'Describes every route of this node as an OpenAPI 3.1 document.',
  handle({ openApi }, _, reply) {
    reply.header('content-type', JSON_TYPE);
    return openApi();
  },
});

const readClock = route(api.readClock, forAnyone, {
  summary: 'Answers with the running cycle and when the next one begins.',
  handle({ clock }) {
    const { cycleMs: cycle_ms } = clock;
    const cycle = clock.cycle();
    const next_cycle_in_ms = Math.max(0, Math.round((startOf(cycle + 1, cycle_ms) - clock.now()) * 1000) / 1000);
    return { ok: true, cycle, cycle_ms, next_cycle_in_ms };
  },
});

const listNodes = route(api.listNodes, forAnyone, {
  summary: 'Lists the nodes of a network: their keys, which are up, and since when.',
  errors: ['store_away'],
  async handle({ clock, registry }) {
    return { ok: true as const, cycle: clock.cycle(), nodes: await registry.nodes() };
  },
});

const forAnyKey = { auth: 'public_or_owner', scope: 'any', tier: 'public' } as const;

const listLimits = route(api.listLimits, forAnyKey, {
  summary: 'Lists every bound of the node, and what the caller uses of it.',
  errors: ['store_away'],
  async handle({ limits, bounds, registry, usage, credentials }, { caller }) {
    const owner = caller?.owner;
    const { place } = registry;
    await registry.follow?.();
    const room = (name: RoomName) => {
      const level = bounds[name];
      const { perOwner: most, onNode: on_node } = limits[name];
      const free_on_node = Math.max(0, on_node - Math.ceil(level.all));
      // What a network counts over all nodes.
      const per = isKept(name) ? place : 'node';
      const shown = { per, most, on_node, free_on_node, refused: level.refused } as const;
      if (owner === undefined || name === 'sockets' || name === 'watchedContracts') return shown;
      if (isKept(name)) {
        const { used, left } = usage.of(owner, name);
        return { ...shown, used: Math.ceil(used), left };
      }
      const used = level.of(ofOwner(owner));
      return { ...shown, used, left: Math.max(0, Math.min(most - used, free_on_node)) };
    };
    const rate = (name: RateName) => {
      const { threshold, onNode: on_node } = limits[name];
      const { within, leftOnNode: left_on_node, refused } = bounds[name];
      const left = owner === undefined ? {} : { left: bounds[name].left(owner) };
      return {
        per: 'node',
        threshold,
        within,
        ...left,
        on_node,
        left_on_node,
        refused,
      } as const;
    };
    const used = owner === undefined ? {} : { used: credentials.countKeys(owner) };
    const keys = { per: place, most: limits.keysPerOwner, ...used };
    return {
      ok: true as const,
      ...shown(Object.keys(ROOMS) as RoomName[], room),
      ...shown(Object.keys(RATES) as RateName[], rate),
      keys,
      node: {
        ...shown(OF_NODE, (name) => limits[name]),
        overload_after_ms: limits.overload.afterMs,
        gate_turn_ms: limits.overload.gateTurnMs,
        other_turn_ms: limits.overload.otherTurnMs,
        stream_contracts: MOST_COUNTS,
        stream_bytes: limits.readerBytes,
      },
    };
  },
});

function shown<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [nameOfLimit(name), of(name)]));
}

/** Shown by their own names. */
const OF_NODE = [
  ...(['longBodyBytes', 'shortBodyBytes', 'emptyBodyBytes', 'headerBytes'] as const),
  ...(['headersTimeoutMs', 'requestTimeoutMs', 'keepAliveTimeoutMs', 'idleTimeoutMs', 'retentionMs'] as const),
  ...(['waitingPerCaller', 'keyLifetimeMs', 'sessionLifetimeMs'] as const),
];

const live = route(api.live, forSupervisors, {
  summary:
    'Says whether the process has to be restarted: 503 `store_failed` once its store is lost, no answer if it hangs. 200 while it lives, also where it cannot decide now.',
  errors: ['store_failed'],
  handle({ host, clock, isDraining }) {
    const { failure } = host;
    if (failure !== undefined && failure.code !== 'disk_full') throw failure;
    const status = failure !== undefined ? 'disk_full' : isDraining() ? 'draining' : 'live';
    return { ok: true, status, cycle: clock.cycle() };
  },
});

const ready = route(api.ready, forSupervisors, {
  summary:
    'Says whether the node takes requests now. Not while it drains, is overloaded, or its disk is full, and never again once its store is lost or found damaged. While it starts nothing listens.',
  errors: [
    ...(['node_draining', 'node_overloaded', 'disk_full', 'store_failed', 'store_away', 'store_unfit'] as const),
    'store_damaged',
    'rows_missing',
  ],
  handle({ counting, record, isDraining, overload }) {
    const failure = counting.failure ?? record.damage;
    if (failure !== undefined) throw failure;
    if (overload.isNow) throw overloaded();
    if (!isDraining()) return { ok: true, status: 'ready' };
    throw draining();
  },
});

export const showMetrics = route(api.metrics, forSupervisors, {
  summary: 'Shows the figures of the node for Prometheus.',
  async handle({ metrics }, _request, reply) {
    return reply.header('content-type', metrics.contentType).send(await metrics.text());
  },
});

const showMachineMetrics = route(api.machineMetrics, forOwners, {
  summary:
    'Shows the figures of a machine for Prometheus, for its owner: decisions, latency of its gates, size of its record.',
  async handle({ ownership, counts, metrics }, { params, caller }, reply) {
    const text = await metricsOfMachine(ownership.owned(params.slug, caller), counts);
    return reply.header('content-type', metrics.contentType).send(text);
  },
});

export const publicKey = route(api.publicKey, forComputation, {
  summary: 'Shows the public key that signs the records of this node, and its version: to be pinned on first use.',
  handle({ identity: { signer, version, successions } }) {
    const { publicKey: public_key, publicKeyPem: public_key_pem, fingerprint } = signer;
    return { ok: true, algorithm: 'Ed25519', public_key, public_key_pem, fingerprint, version, successions };
  },
});

export const proveKey = route(api.proveKey, forComputation, {
  summary: 'Signs a nonce of the client, so that it knows who it is talking to before it sends a credential.',
  example: { query: { nonce: 'A'.repeat(43) } },
  handle({ identity: { signer } }, { query }) {
    return { ok: true, public_key: signer.publicKey, signature: signText(signer, 'node-proof', query.nonce) };
  },
});

export const nodeRoutes = [
  listEndpoints,
  showOpenApi,
  readClock,
  listNodes,
  listLimits,
  live,
  ready,
  showMetrics,
  showMachineMetrics,
];
