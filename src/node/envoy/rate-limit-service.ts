// Envoy's rate limit service over gRPC: finds the limit of each descriptor in its domain, counts, and decides.
//
//   ShouldRateLimit ─► domain ─► machine
//                      descriptors ─► limit ─► contract, values ─► key ─► decision ─► OK or OVER_LIMIT; over if one is
//
// A limit is a contract with keys. As in the API, anyone may ask on loopback; elsewhere the metadata `authorization` must have a key with the
// scope `gate`. Descriptors without a limit are admitted, as by Envoy's own service.
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6 } from 'node:net';
import {
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import type { Logger } from 'pino';
import { isLoopback } from '../../api/loopback.js';
import { assert, Failure } from '../../core/schema/failure.js';
import type { Decision, DecisionRequest, Uncounted } from '../counting/decision.js';
import type { Door } from '../node.js';
import type { NodeContext } from '../node-context.js';
import type { Caller } from '../permission.js';
import { Domain } from './domain.js';
import type { DomainLimits } from './limits-file.js';
import { MESSAGE_BYTES, OpenCalls } from './open-calls.js';
import {
  ADMITTED,
  type RateLimitRequest,
  type RateLimitResponse,
  refuseFaults,
  responseOf,
} from './rate-limit-messages.js';

interface RateLimitServiceOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly domains: readonly DomainLimits[];
  readonly credentials?: ServerCredentials | undefined;
}

const MOST_STREAMS = 256;

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
const SHOULD_RATE_LIMIT = `/${SERVICE}/ShouldRateLimit`;

const MOST_NOTED = 100;

/** Deploys missing limits. @throws Failure `limit_reached`, `invalid_input` (a foreign machine); what `listen` throws */
export async function startRateLimitService(
  context: NodeContext,
  { host, port, domains: files, credentials = ServerCredentials.createInsecure() }: RateLimitServiceOptions,
  log: Logger,
): Promise<Door> {
  const domains = new Map<string, Domain>();
  for (const limits of files) {
    if (domains.has(limits.domain)) throw twice(limits.domain);
    domains.set(limits.domain, await Domain.deploy(context, limits));
  }
  const service = new Service(context, domains, !isLoopback(host), log);
  const open = new OpenCalls(context, service);
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MOST_STREAMS,
    'grpc.max_connection_idle_ms': 300_000,
    interceptors: [open.interceptor],
  });
  const add = (name: string, handlers: Readonly<Record<string, UntypedHandleCall>>) => {
    const definition = services[name];
    assert(definition !== undefined && !('format' in definition), `${name} is a service`);
    server.addService(definition as never, handlers);
  };
  add(SERVICE, { ShouldRateLimit: service.shouldRateLimit });
  add('grpc.health.v1.Health', {
    Check: ((_call, answer) =>
      answer(null, {
        status: context.isDraining() || context.counting.failure !== undefined ? 'NOT_SERVING' : 'SERVING',
      })) satisfies handleUnaryCall<unknown, unknown>,
  });
  const injector = server.createConnectionInjector(credentials);
  const listener = createServer((socket) => {
    if (context.sockets.admit(socket)) injector.injectConnection(socket);
  });
  await once(listener.listen({ host, port }), 'listening').catch((error) => {
    server.forceShutdown();
    throw error;
  });
  const { address, port: bound } = listener.address() as AddressInfo;
  return {
    address: `${isIPv6(address) ? `[${address}]` : address}:${bound}`,
    async close() {
      listener.close();
      open.close();
      const finished = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      const given = new AbortController();
      await Promise.race([finished, context.clock.sleep(context.limits.drainMs, given.signal)]);
      given.abort();
      server.forceShutdown();
    },
  };
}

class Service {
  readonly #context: NodeContext;
  readonly #domains: ReadonlyMap<string, Domain>;
  readonly #wantsKey: boolean;
  readonly #log: Logger;
  readonly #unknown = new Set<string>();

  constructor(context: NodeContext, domains: ReadonlyMap<string, Domain>, wantsKey: boolean, log: Logger) {
    this.#context = context;
    this.#domains = domains;
    this.#wantsKey = wantsKey;
    this.#log = log;
  }

  /** A call that needs a key and has none is refused before its message is read. */
  callerOf(path: string, metadata: Metadata): Caller | undefined {
    return path === SHOULD_RATE_LIMIT ? this.#callerOf(metadata) : undefined;
  }

  readonly shouldRateLimit: handleUnaryCall<RateLimitRequest, RateLimitResponse> = (call, answer) => {
    this.#answerTo(call.request, call.metadata).then(
      (response) => answer(null, response),
      (error) => answer(this.refusalOf(error)),
    );
  };

  async #answerTo(request: RateLimitRequest, metadata: Metadata): Promise<RateLimitResponse> {
    const { counting, ownership } = this.#context;
    refuseFaults(request);
    if (counting.failure !== undefined) throw counting.failure;
    const domain = this.#domains.get(request.domain);
    const caller = this.#callerOf(metadata);
    if (caller !== undefined && domain !== undefined) ownership.owned(domain.limits.machine, caller);
    if (domain === undefined) {
      this.#noteUnknown(request.domain);
      return { overall_code: 'OK', statuses: request.descriptors.map(() => ADMITTED), response_headers_to_add: [] };
    }
    const hits = domain.hitsOf(request);
    const asked = await Promise.all(hits.map((hit) => hit && domain.askedOf(hit)));
    const nowMs = this.#context.clock.now();
    const decisions = await Promise.all(asked.map((one) => one && this.#decide(one, nowMs)));
    return responseOf(hits, decisions, nowMs);
  }

  async #decide(asked: DecisionRequest, nowMs: number): Promise<Decision | Uncounted> {
    const outcome = await this.#context.counting.decide(asked, nowMs);
    if (outcome instanceof Failure) throw outcome;
    if (!asked.peek) this.#context.counts.took(outcome.decision);
    return outcome.decision;
  }

  /** Undefined if none is needed, and none named. @throws Failure `credential_missing`, `credential_invalid`, `scope_missing` */
  #callerOf(metadata: Metadata): Caller | undefined {
    const { access, clock } = this.#context;
    const [header] = metadata.get('authorization');
    if (header === undefined && !this.#wantsKey) return undefined;
    return access.callerByKey(header === undefined ? undefined : String(header), 'gate', clock.now());
  }

  #noteUnknown(domain: string): void {
    if (this.#unknown.size >= MOST_NOTED || this.#unknown.has(domain)) return;
    this.#unknown.add(domain);
    this.#log.warn({ domain: domain.slice(0, 256) }, 'no limits for this domain: everything is admitted');
  }

  refusalOf(error: unknown): { code: status; details: string } {
    if (!(error instanceof Failure)) {
      this.#log.error({ err: error }, 'internal error');
      return { code: status.INTERNAL, details: 'Internal error of the node' };
    }
    const { code, message } = error;
    return { code: statusOf(error), details: `${code}: ${message}` };
  }
}

function statusOf({ code, status: http }: Failure): status {
  if (code === 'limit_reached' || http === 429) return status.RESOURCE_EXHAUSTED;
  if (http === 401) return status.UNAUTHENTICATED;
  if (http === 403 || http === 404) return status.PERMISSION_DENIED;
  return http >= 500 ? status.UNAVAILABLE : status.INVALID_ARGUMENT;
}

function twice(domain: string): Failure {
  return new Failure('wrong_usage', {
    what: 'The node was not started.',
    why: `Two files have limits of the domain "${domain}".`,
    fix: 'Put all limits of a domain into one file.',
  });
}

// The part of Envoy's API, version 3, and of gRPC's health check that a node uses: names, numbers and types are theirs.

const field = (id: number, type: string) => ({ id, type });
const repeated = (id: number, type: string) => ({ id, type, rule: 'repeated' });

const rateLimit = {
  Unit: { values: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6, WEEK: 7 } },
  Code: { values: { UNKNOWN_CODE: 0, OK: 1, OVER_LIMIT: 2 } },
  RateLimitRequest: {
    fields: {
      domain: field(1, 'string'),
      descriptors: repeated(2, 'Descriptor'),
      // For descriptors without hits of their own; 0 means 1.
      hits_addend: field(3, 'uint32'),
    },
  },
  Descriptor: {
    fields: {
      entries: repeated(1, 'Entry'),
      limit: field(2, 'Override'),
      hits_addend: field(3, 'Count'),
      is_negative_hits: field(4, 'bool'),
    },
  },
  Entry: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  Override: { fields: { requests_per_unit: field(1, 'uint32'), unit: field(2, 'Unit') } },
  Count: { fields: { value: field(1, 'uint64') } },
  RateLimitResponse: {
    fields: {
      overall_code: field(1, 'Code'),
      statuses: repeated(2, 'Status'),
      response_headers_to_add: repeated(3, 'Header'),
    },
  },
  Status: {
    fields: {
      code: field(1, 'Code'),
      current_limit: field(2, 'RateLimit'),
      limit_remaining: field(3, 'uint32'),
      duration_until_reset: field(4, 'Duration'),
    },
  },
  RateLimit: { fields: { requests_per_unit: field(1, 'uint32'), unit: field(2, 'Unit'), name: field(3, 'string') } },
  Duration: { fields: { seconds: field(1, 'int64'), nanos: field(2, 'int32') } },
  Header: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  RateLimitService: {
    methods: { ShouldRateLimit: { requestType: 'RateLimitRequest', responseType: 'RateLimitResponse' } },
  },
};

const health = {
  ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 } },
  HealthCheckRequest: { fields: { service: field(1, 'string') } },
  HealthCheckResponse: { fields: { status: field(1, 'ServingStatus') } },
  Health: { methods: { Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' } } },
};

const within = (path: string, nested: object): object =>
  path.split('.').reduceRight((inner, name) => ({ nested: { [name]: inner } }), { nested });

const services = {
  ...load(within('envoy.service.ratelimit.v3', rateLimit)),
  ...load(within('grpc.health.v1', health)),
};

function load(json: object): ReturnType<typeof fromJSON> {
  return fromJSON(json, { keepCase: true, longs: Number, enums: String, defaults: true });
}
