// Owns a node from start to end: puts its parts together, opens its port, and lets go of everything in order. Leaves what it answers
// to routes/, what it does by itself to heartbeat.ts, making the store, the clock and the key to whoever starts it.
//
//   close:   not ready ─► streams end ─► no new connections ─► requests finish ─► counts, signed heads ─► store closed
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { WallClock } from '../clock/wall.js';
import { Bug, Failure } from '../core/failure.js';
import { type OperatorRegistry, standardOperators } from '../core/operator/registry.js';
import { KeyRing } from '../core/record/key-ring.js';
import type { Signer, Succession } from '../core/record/signing.js';
import { Host } from '../host/host.js';
import type { Credentials } from '../store/credentials.js';
import type { Store } from '../store/store.js';
import { Access } from './access.js';
import { ActiveMachines } from './active-machines.js';
import { Checkpoints } from './checkpoints.js';
import { Counts } from './counts.js';
import { Durability, type DurabilityMode } from './durability.js';
import { startHeartbeat } from './heartbeat.js';
import { defaultLimits, type Limits } from './limits.js';
import { createLog, type LogOptions } from './log.js';
import { Metrics } from './metrics.js';
import { MintLimit } from './mint-limit.js';
import { mount } from './mount.js';
import { registerOpenApi } from './openapi.js';
import { Ownership } from './ownership.js';
import type { Parts } from './parts.js';
import { RateLimitWriter } from './rate-limit-fields.js';
import { routes } from './registry.js';
import { createServer } from './server.js';
import { Streams } from './stream.js';
import { Verifications } from './verifications.js';
import { VERSION } from './version.js';

/** The store, the credentials and the clock belong to the node from here on: it starts the clock, and closes all three. */
export interface NodeOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly clock: WallClock;
  readonly signer: Signer;
  /** How the present key followed from earlier ones, oldest first. */
  readonly successions?: readonly Succession[];
  /** Address to listen on; loopback when absent. */
  readonly host?: string;
  /** 0 for any that is free. */
  readonly port?: number;
  readonly durability?: DurabilityMode;
  readonly operators?: OperatorRegistry;
  /** Addresses or networks of proxies whose `X-Forwarded-*` is believed; none when absent. */
  readonly trustProxy?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly log?: LogOptions;
}

export interface RunningNode {
  /** For example `http://127.0.0.1:8777`. */
  readonly url: string;
  readonly host: Host;
  /** Takes no new requests, finishes those under way, and lets go of everything. A second call waits for the first. */
  close(): Promise<void>;
}

/**
 * Starts a node; it answers once this resolves.
 * @throws Failure `port_in_use`, `wrong_usage` (keys that do not follow from each other), and what the store throws
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { clock, store, host: address = '127.0.0.1', port = 0, log: logOptions = quiet } = options;
  const log = createLog(logOptions);
  let isDraining = false;
  const { parts, checkpoints } = assemble(options, () => isDraining);
  const { host, streams, durability, metrics, limits } = parts;
  const onError = (error: unknown) => log.error({ err: error }, 'a mistake of ours');
  const heartbeat = startHeartbeat(parts, checkpoints, onError);
  clock.start();
  const app = await serve(parts, options, log, logOptions.requests);
  const letGo = () => {
    heartbeat.unsubscribe();
    clock.stop();
    metrics.close();
    store.close();
  };
  let url: string;
  try {
    await durability.commit();
    url = await app.listen({ host: address, port });
  } catch (error) {
    await app.close();
    letGo();
    throw listenFailure(error, address, port);
  }
  log.info({ url, version: parts.version, contracts: host.contracts.size }, 'listening');

  const close = async () => {
    isDraining = true;
    log.info('closing');
    streams.close();
    const drained = new AbortController();
    void clock.sleep(limits.drainMs, drained.signal).then(() => app.server.closeAllConnections());
    await app.close();
    drained.abort();
    try {
      if (host.failure === undefined) {
        checkpoints.signAll(clock.cycle());
        host.saveWindows();
        await durability.commit();
      }
    } finally {
      letGo();
      log.info('closed');
    }
  };
  let closing: Promise<void> | undefined;
  return {
    url,
    host,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

const quiet: LogOptions = { level: 'silent', requests: false };

function assemble(options: NodeOptions, isDraining: () => boolean): { parts: Parts; checkpoints: Checkpoints } {
  const { clock, store, credentials, signer, successions = [], operators = standardOperators() } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const keys = keysOf(signer, successions);
  const host = new Host({ clock, store, findOperator: (id) => operators.get(id) });
  const counts = new Counts();
  const monotonicMs = () => clock.monotonicMs();
  const onCommit = (tookMs: number) => counts.commitSeconds.observe(tookMs / 1000);
  const durability = new Durability(host, clock, options.durability ?? 'cycle', monotonicMs, onCommit);
  const access = new Access(credentials);
  const holds = access.holdsAt.bind(access);
  const streams = new Streams({ store, clock, counts, limits, holds: (caller) => holds(caller, clock.now()) });
  const checkpoints = new Checkpoints(host, store, signer);
  const mintLimit = new MintLimit(host, limits.mint);
  const active = new ActiveMachines(host);
  active.load(store, clock.cycle());
  const parts: Parts = {
    version: VERSION,
    limits,
    clock,
    host,
    store,
    credentials,
    operators,
    signer,
    successions,
    access,
    ownership: new Ownership(host),
    durability,
    rateLimits: new RateLimitWriter(clock.cycleMs),
    mintLimit,
    active,
    verifications: new Verifications(store, keys, clock, limits.verifications),
    streams,
    counts,
    metrics: new Metrics({ counts, host, clock, readers: () => streams.size, version: VERSION }),
    routes,
    isDraining,
  };
  return { parts, checkpoints };
}

async function serve(parts: Parts, options: NodeOptions, log: Logger, logRequests: boolean): Promise<FastifyInstance> {
  const { limits, counts, version } = parts;
  const app = createServer({ limits, counts, log, logRequests, trustProxy: options.trustProxy ?? [], routes });
  await registerOpenApi(app, version);
  for (const route of routes.filter(({ takesStream }) => !takesStream)) mount(app, parts, route);
  await app.register(async (streaming) => {
    streaming.removeAllContentTypeParsers();
    const types = ['application/json', 'application/x-ndjson', 'application/ndjson', 'application/jsonl'];
    streaming.addContentTypeParser(types, (_request, payload, done) => done(null, payload));
    for (const route of routes.filter(({ takesStream }) => takesStream)) mount(streaming, parts, route);
  });
  await app.ready();
  return app;
}

function keysOf(signer: Signer, successions: readonly Succession[]): KeyRing {
  const read = KeyRing.read({ named: signer.publicKey, successions });
  if ('ring' in read) return read.ring;
  throw new Failure('wrong_usage', {
    what: 'The node was not started.',
    why: read.fault,
    fix: 'Start it with the key that the last succession names.',
  });
}

function listenFailure(error: unknown, address: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || error instanceof Bug || code === undefined) return error;
  return new Failure('port_in_use', {
    what: `The node cannot listen on ${address}, port ${port}.`,
    why: code === 'EADDRINUSE' ? 'Another process does already.' : `${(error as Error).message}.`,
    fix: 'Choose another address or port; 0 takes any port that is free.',
    cause: error,
  });
}
