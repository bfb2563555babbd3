// A node from start to end: it opens its port, and closes everything in order.
//
//   close:   not ready ─► (notice) ─► streams end ─► no new connections ─► requests finish ─► counts, signed heads ─► store closed
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { interval } from 'rxjs';
import { isLoopback } from '../api/loopback.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { bytesOfRow } from '../record/row.js';
import { Failure } from '../schema/failure.js';
import type { MissingRows } from '../store/head-mark.js';
import { whileStarting } from '../store/redis/away.js';
import { Rank } from '../time/rank.js';
import { AgendaScheduler } from '../time/rx-scheduler.js';
import type { WallClock } from '../time/wall.js';
import type { RateLimitService, RateLimitServiceOptions } from './envoy/rate-limit-service.js';
import { startHeartbeat } from './heartbeat.js';
import { hostCheck } from './host-names.js';
import { defaultLimits, type Limits } from './limits.js';
import { openMetricsPort } from './metrics-port.js';
import { documentsOf } from './openapi.js';
import { assemble, type Parts, type PartsOptions } from './parts.js';
import { type Evicted, evict } from './removal.js';
import { routes } from './route-list.js';
import { showMetrics } from './routes/metrics.js';
import { createServer } from './server.js';

/** The node takes over the store, the credentials and the clock: it starts the clock and closes all three. */
export interface NodeOptions extends PartsOptions {
  /** Address to listen on; loopback when absent. */
  readonly host?: string;
  /** 0, or absent: any that is free. */
  readonly port?: number;
  /** A port of their own for the figures, on the same address. Without it, and without `openMetrics`, nobody sees them. */
  readonly metricsPort?: number;
  /** Whether GET /metrics is served beside the API, to anyone; not with a port of their own. Default: false. */
  readonly openMetrics?: boolean;
  /** Envoy's rate limit service on a port of its own, on the same address. */
  readonly grpc?: Omit<RateLimitServiceOptions, 'host'>;
  /** Further names that requests may be for, beside those of loopback. */
  readonly hostNames?: readonly string[];
  /** Addresses or networks of proxies whose `X-Forwarded-*` is believed; none when absent. */
  readonly trustProxy?: readonly string[];
  /** Nothing is logged when absent. */
  readonly log?: LogOptions;
  /** The environment of the process, whose `OTEL_*` say whether and where metrics are sent. Absent: nowhere. */
  readonly environment?: Environment;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface RunningNode {
  /** For example `http://127.0.0.1:8777`. */
  readonly url: string;
  /** Where the figures are; undefined where they are closed. */
  readonly metricsUrl: string | undefined;
  /** Where Envoy's rate limit service is, for example `127.0.0.1:8081`; undefined without one. */
  readonly grpcAddress: string | undefined;
  readonly host: Host;
  /** Ends an owner: see removal.ts. */
  evict(named: string): Promise<Evicted>;
  /** Takes no new requests, finishes those under way, and closes everything. A second call waits for the first. */
  close(): Promise<void>;
}

const quiet: LogOptions = { level: 'silent', requests: false };

const withoutMetrics = routes.filter((route) => route !== showMetrics);

/** How often a closing node looks for connections that have become idle, in ms. */
const SWEEP_MS = 50;

/**
 * Starts a node; it answers once this resolves.
 * @throws Failure `port_in_use`, `wrong_usage` (keys that do not follow from each other, a proxy that is no address), and what
 * the store throws
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const {
    clock,
    store,
    host: address = '127.0.0.1',
    port = 0,
    metricsPort,
    openMetrics = false,
    grpc,
    hostNames = [],
    trustProxy = [],
    log: logOptions = quiet,
    environment = {},
  } = options;
  refuseUnknownProxies(trustProxy);
  const log = createLog(logOptions);
  const isOpen = openMetrics && metricsPort === undefined;
  const served = isOpen ? routes : withoutMetrics;
  const checkHost = hostCheck(address, hostNames);
  let isDraining = false;
  const onError = (err: unknown) => log.error({ err }, err instanceof Failure ? err.message : 'internal error');
  const parts = assemble({ ...options, limits: withMint(options.limits, address), onError }, served, () => isDraining);
  await joinNetwork(parts, options.lost).catch((error) => {
    store.close();
    options.network?.mark?.close();
    options.network?.connection.close();
    throw whileStarting(error);
  });
  const heartbeat = startHeartbeat(parts, onError);
  const memoryWatch = parts.memory.watch();
  clock.start();
  const app = await createServer(parts, served, { log, logRequests: logOptions.requests, trustProxy, checkHost });
  documentsOf(app, served);
  const release = () => {
    heartbeat.unsubscribe();
    memoryWatch.close();
    clock.stop();
    parts.metrics.close();
    store.close();
    parts.network?.heads.close();
    parts.network?.connection.close();
  };

  let rateLimitService: RateLimitService | undefined;
  const listen = async () => {
    // What came to life, or was made now, is durable before anyone can ask for it.
    await parts.durability.commit();
    const url = await app.listen({ host: address, port });
    await parts.network?.presence.come(isLoopback(address) ? url : undefined);
    if (grpc !== undefined) {
      const { startRateLimitService } = await import('./envoy/rate-limit-service.js');
      rateLimitService = await startRateLimitService(parts, { host: address, ...grpc }, log);
    }
    if (metricsPort === undefined)
      return { url, metricsUrl: isOpen ? `${url}/metrics` : undefined, closeMetrics: () => {} };
    const figures = await openMetricsPort(parts.metrics, address, metricsPort, checkHost);
    return { url, metricsUrl: figures.url, closeMetrics: figures.close };
  };
  const { url, metricsUrl, closeMetrics } = await listen().catch(async (error) => {
    await Promise.all([app.close(), rateLimitService?.close()]);
    release();
    throw listenFailure(error, address);
  });
  const otlp = await otlpOf(parts, environment, log);
  const { skewMs, cycleMs } = clock;
  if (skewMs > cycleMs)
    log.warn({ skewMs }, 'the clock of this machine is behind the stored data: cycles go on from there');
  log.info({ url, version: parts.version, contracts: parts.host.contracts.size }, 'listening');

  const close = async () => {
    const { host, limits, streams, checkpoints, durability } = parts;
    isDraining = true;
    log.info('closing');
    await clock.sleep(limits.noticeMs);
    streams.close();
    // While Redis is away nobody is told: the others see that it is silent.
    await parts.network?.presence.leave().catch(() => {});
    await Promise.all([drain(app, clock, limits.drainMs), rateLimitService?.close()]);
    closeMetrics();
    await otlp?.close();
    try {
      if (host.failure === undefined && parts.network === undefined) {
        checkpoints.signAll(clock.cycle());
        host.saveWindows();
        await durability.commit();
      }
    } finally {
      release();
      log.info('closed');
    }
  };
  let closing: Promise<void> | undefined;
  return {
    url,
    metricsUrl,
    grpcAddress: rateLimitService?.address,
    host: parts.host,
    evict: (named) => evict(parts, named),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Free keys are for those on this machine, unless they are asked for. */
function withMint(limits: Partial<Limits> = {}, address: string): Partial<Limits> {
  if (limits.mint !== undefined || isLoopback(address)) return limits;
  return { ...limits, mint: { ...defaultLimits.mint, threshold: 0 } };
}

/** Learns what there is on a network of nodes, and hears of it from then on. */
async function joinNetwork(parts: Parts, lost: readonly MissingRows[] = []): Promise<void> {
  const { network, host, ownership, usage, access, streams, active } = parts;
  if (network === undefined) return;
  const { directory } = network;
  const recordBytes = new WeakMap<Machine, number>();
  network.happenings.subscribe((happening) => {
    const machine = happening.kind === 'row' && host.machines.get(happening.row.machine);
    if (machine) recordBytes.set(machine, (recordBytes.get(machine) ?? 0) + bytesOfRow(happening.row));
  });
  directory.onMachine = (machine, bytes) => {
    ownership.add(machine);
    recordBytes.set(machine, bytes);
    usage.add(machine.image.owner, machine.head.seq, bytes);
  };
  directory.onContractsDeleted = (machine, contracts) => void usage.free(machine, contracts);
  directory.onMachineDeleted = (machine) => {
    ownership.disown(machine);
    active.remove(machine);
  };
  directory.onRemoved = (machine) => {
    ownership.remove(machine);
    usage.add(machine.image.owner, -machine.head.seq, -(recordBytes.get(machine) ?? 0));
    network.heads.forget(machine);
  };
  directory.onKey = (key) => {
    access.forget(key.id);
    if (key.isRevoked) streams.endOf(key.id);
  };
  await directory.load(host);
  await network.stock.begin(host, usage, directory);
  await network.start();
  for (const { machine, toSeq } of lost) if (host.machines.has(machine)) await network.entries.noteLoss(machine, toSeq);
}

/** Whether the variables ask for metrics to be sent. */
function wantsOtlp(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_METRICS_EXPORTER: exporter = 'otlp' } = environment;
  if (disabled?.toLowerCase() === 'true' || !exporter.split(',').some((one) => one.trim() === 'otlp')) return false;
  return ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'].some((name) => environment[name]);
}

/** Its packages are loaded by those who use it alone. */
async function otlpOf({ metrics, clock, version, signer }: Parts, environment: Environment, log: Logger) {
  if (!wantsOtlp(environment)) return undefined;
  const { startOtlp } = await import('./otlp.js');
  return startOtlp(environment, { registry: metrics.registry, clock, version, instance: signer.fingerprint, log });
}

/** Closes the port; connections end with the request they are at, and after `drainMs` whatever they are at. */
async function drain(app: FastifyInstance, clock: WallClock, drainMs: number): Promise<void> {
  const drained = new AbortController();
  void clock.sleep(drainMs, drained.signal).then(() => app.server.closeAllConnections());
  // Closing the port ends those that are idle at that moment; others become so later.
  const sweep = interval(SWEEP_MS, new AgendaScheduler(clock, Rank.report));
  const sweeping = sweep.subscribe(() => app.server.closeIdleConnections());
  await app.close();
  sweeping.unsubscribe();
  drained.abort();
}

function refuseUnknownProxies(addresses: readonly string[]): void {
  const unknown = addresses.find((address) => isIP(address.split('/', 1)[0]!) === 0);
  if (unknown === undefined) return;
  throw new Failure('wrong_usage', {
    what: 'The node was not started.',
    why: `"${unknown}" is not the address of a proxy.`,
    fix: 'Give an IP address, or a network such as 10.0.0.0/8.',
  });
}

/** What the operating system said to listening, as a failure; anything else as it is. */
function listenFailure(error: unknown, address: string): unknown {
  const { code, syscall, port } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error;
  return new Failure('port_in_use', {
    what: `The node cannot listen on ${address}${port === undefined ? '' : `, port ${port}`}.`,
    why: code === 'EADDRINUSE' ? 'Another process does already.' : `${(error as Error).message}.`,
    fix: 'Choose another address or port; 0 takes any port that is free.',
    cause: error,
  });
}

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Whether every request is logged; it costs speed. */
  readonly requests: boolean;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
}

/** What is said of a request: no header, and no query, since people put secrets there. */
interface RequestLine {
  readonly method: string;
  readonly url: string;
  readonly ip?: string;
}

export function createLog({ level, destination }: LogOptions): Logger {
  const options = {
    name: 'weir',
    level,
    redact: { paths: ['*.authorization', '*.cookie', '*.key', 'authorization', 'cookie', 'key'], censor: '[secret]' },
    serializers: {
      req: ({ method, url, ip }: RequestLine) => ({ method, path: url.split('?', 1)[0], ip }),
      res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
