// Starts a node, opens its ports, and closes everything in order.
//
//   close:   not ready, answers close their connections ─► (notice) ─► streams end ─► no new connections ─► requests finish ─►
//            counts, signed heads; other nodes hear of it ─► store closed
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type HostCheck, hostCheck, refuseHostLines } from '../api/host-names.js';
import { isLoopback } from '../api/loopback.js';
import { packageFile } from '../core/files/package-file.js';
import { Failure } from '../core/schema/failure.js';
import { VERSION } from '../core/version.js';
import type { GateRequest } from './any-method.js';
import { Connections } from './connections.js';
import type { Counting } from './counting/counting.js';
import { startHeartbeat } from './heartbeat.js';
import type { Host } from './host/host.js';
import { defaultLimits, type Limits } from './limits.js';
import { createNodeContext, type NodeContext, type NodeContextOptions } from './node-context.js';
import { type Evicted, evict } from './operator-socket.js';
import { routes } from './route-list.js';
import { showMetrics } from './routes/node.js';
import { createServer } from './server.js';
import type { MissingRows } from './store/head-mark.js';

/** A way to ask the node beside its API, on a port of its own. */
export interface Door {
  readonly address: string;
  close(): Promise<void>;
}

export interface DoorOptions {
  readonly port: number;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly cycleMs: number;
}

export type OpenDoor = (context: NodeContext, host: string, log: Logger) => Promise<Door>;

/** The node owns the store, the credentials and the clock: it starts the clock and closes all three. */
export interface NodeOptions extends NodeContextOptions {
  /** Acknowledged rows that the store lacks: each remaining machine's record gets a row about them. */
  readonly lost?: readonly MissingRows[];
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** A port for metrics alone, on the same address. Without it and `openMetrics` they are not served. */
  readonly metricsPort?: number;
  /** Whether the API's port serves GET /metrics to anyone; ignored with `metricsPort`. Default: false. */
  readonly openMetrics?: boolean;
  readonly door?: OpenDoor;
  /** Further names to answer to, beside those of loopback. */
  readonly hostNames?: readonly string[];
  readonly log?: NodeLogOptions;
}

export interface RunningNode {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly doorAddress: string | undefined;
  readonly host: Host;
  /** Another object after a full disk. */
  readonly counting: Counting;
  evict(named: string): Promise<Evicted>;
  /** Takes no new requests, finishes pending ones, and closes everything. A second call waits for the first. */
  close(): Promise<void>;
}

interface Serving {
  readonly checkHost: HostCheck;
  readonly connections: Connections;
  readonly log: Logger;
}

const quiet: NodeLogOptions = { level: 'silent', requests: false };

const withoutMetrics = routes.filter(({ path }) => path !== showMetrics.path);

/**
 * Starts a node; it answers once this resolves. @throws Failure `port_in_use`, what the store throws, and
 * `wrong_usage` (an address that is not of this machine, keys that do not follow from each other, a proxy that is no address)
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { clock, host: address = '127.0.0.1', hostNames = [], trustProxy = [], log: logOptions = quiet } = options;
  refuseUnknownProxies(trustProxy);
  const log = createLog(logOptions);
  const checkHost = hostCheck(address, hostNames);
  const served = showsMetrics(options) ? routes : withoutMetrics;
  let isDraining = false;
  let document: Buffer | undefined;
  const openApi = () => {
    document ??= readDocument(options);
    return document;
  };
  const surface = { routes: served, openApi, isDraining: () => isDraining };
  const onError = (err: unknown) => log.error({ err }, err instanceof Failure ? err.message : 'internal error');
  const context = createNodeContext({ ...options, limits: withMint(options.limits, address), onError }, surface);
  const end = await begin(context, options, onError);
  const connections = new Connections(context);
  const serving = { log, logRequests: logOptions.requests, trustProxy, checkHost, connections };
  const app = await createServer(context, served, serving);
  const ports = await openPorts(context, app, { ...options, host: address }, serving).catch((error) => {
    end();
    throw listenFailure(error, address);
  });
  const { skewMs, cycleMs } = clock;
  if (skewMs > cycleMs)
    log.warn({ skewMs }, 'the clock of this machine is behind the stored data: cycles go on from there');
  log.info({ url: ports.url, version: VERSION, contracts: context.host.contracts.size }, 'listening');

  const close = async () => {
    const { limits, streams, registry } = context;
    isDraining = true;
    connections.drain();
    log.info('closing');
    await clock.sleep(limits.noticeMs);
    streams.close();
    await ports.drain();
    try {
      await registry.leave();
    } finally {
      end();
      log.info('closed');
    }
  };
  let closing: Promise<void> | undefined;
  return {
    url: ports.url,
    metricsUrl: ports.metricsUrl,
    doorAddress: ports.doorAddress,
    host: context.host,
    get counting() {
      return context.counting;
    },
    evict: (named) => evict(context, named),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** The build makes it of all routes: see openapi.ts. */
function readDocument(options: NodeOptions): Buffer {
  const bytes = readFileSync(packageFile('dist/openapi.json'));
  if (showsMetrics(options)) return bytes;
  const document = JSON.parse(bytes.toString());
  delete document.paths[showMetrics.path];
  return Buffer.from(JSON.stringify(document));
}

function showsMetrics({ openMetrics = false, metricsPort }: NodeOptions): boolean {
  return openMetrics && metricsPort === undefined;
}

async function begin(context: NodeContext, { clock, lost = [] }: NodeOptions, onError: (error: unknown) => void) {
  const heartbeat = startHeartbeat(context, onError);
  const memoryWatch = context.memory.watch();
  const end = () => {
    heartbeat.unsubscribe();
    memoryWatch.close();
    clock.stop();
    context.metrics.close();
    context.registry.close();
  };
  await context.registry.start(lost).catch((error) => {
    end();
    throw error;
  });
  clock.start();
  return end;
}

/** Opens the ports of the API, of metrics and of the door: all or none. */
async function openPorts(
  context: NodeContext,
  app: FastifyInstance,
  options: NodeOptions & { readonly host: string },
  { checkHost, connections, log }: Serving,
) {
  const { host, port = 0, metricsPort } = options;
  const { registry } = context;
  let door: Door | undefined;
  try {
    const url = await app.listen({ host, port });
    await registry.join(isLoopback(host) ? url : undefined);
    door = await options.door?.(context, host, log);
    const figures =
      metricsPort === undefined ? undefined : await openMetricsPort(context, host, metricsPort, checkHost);
    const metricsUrl = Object.assign(new URL('/metrics', url), figures && { port: figures.port }).href;
    return {
      url,
      metricsUrl: figures !== undefined || showsMetrics(options) ? metricsUrl : undefined,
      doorAddress: door?.address,
      async drain(): Promise<void> {
        await Promise.all([connections.close(), door?.close()]);
        await app.close();
        figures?.close();
      },
    };
  } catch (error) {
    await Promise.all([app.close(), door?.close()]);
    throw error;
  }
}

/** Nothing but GET /metrics. Rejects with the error of `listen`. */
async function openMetricsPort({ metrics, sockets }: NodeContext, host: string, port: number, checkHost: HostCheck) {
  const server = createHttpServer((request, response) => {
    try {
      refuseHostLines(request);
      checkHost(request.headers.host);
    } catch (error) {
      response.writeHead(error instanceof Failure ? error.status : 500).end();
      return;
    }
    if (!/^\/metrics(\?|$)/.test(request.url ?? '')) response.writeHead(404).end();
    else void metrics.text().then((text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text));
  });
  server.prependListener('connection', (socket) => sockets.admit(socket));
  await once(server.listen({ host, port }), 'listening');
  return {
    port: String((server.address() as AddressInfo).port),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** By default only nodes on loopback mint free keys. */
function withMint(limits: Partial<Limits> = {}, address: string): Partial<Limits> {
  if (limits.mint !== undefined || isLoopback(address)) return limits;
  return { ...limits, mint: { ...defaultLimits.mint, threshold: 0 } };
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

function listenFailure(error: unknown, address: string): unknown {
  const { code, syscall, port } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error;
  const isInUse = code === 'EADDRINUSE';
  return new Failure(isInUse ? 'port_in_use' : 'wrong_usage', {
    what: `The node cannot listen on ${address}${port === undefined ? '' : `, port ${port}`}.`,
    why: isInUse ? 'Another process does already.' : `${(error as Error).message}.`,
    fix: 'Choose another address or port; 0 takes any port that is free.',
    cause: error,
  });
}

interface NodeLogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  readonly requests: boolean;
  readonly destination?: DestinationStream;
}

/** What is logged of a request: no header and no query, because they may hold secrets. */
interface RequestLine {
  readonly method: string;
  readonly url: string;
  readonly ip?: string;
  readonly raw?: GateRequest;
}

export function createLog({ level, destination }: NodeLogOptions): Logger {
  const options = {
    name: 'weir',
    level,
    redact: { paths: ['*.authorization', '*.cookie', '*.key', 'authorization', 'cookie', 'key'], censor: '[secret]' },
    serializers: {
      req: ({ method, url, ip, raw }: RequestLine) => ({
        ...{ method: raw?.askedMethod ?? method, path: url.split('?', 1)[0], ip },
      }),
      res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
