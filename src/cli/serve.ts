// `weir serve`: runs a node until it is interrupted.
import { isIP } from 'node:net';
import type { Argv } from 'yargs';
import { isLoopback } from '../api/loopback.js';
import type { Ground } from '../node/ground.js';
import type { NetworkGround } from '../node/network/network-ground.js';
import type { RunningNode } from '../node/node.js';
import { Failure } from '../schema/failure.js';
import { VERSION } from '../version.js';
import type { GivenTo, OptionRules } from './command.js';
import { usageFailure } from './ending.js';
import { aborted, interruptible } from './interrupt.js';
import { jsonOption } from './options.js';
import { say, warn } from './say.js';

const DEFAULT_PORT = 7770;

export const options = (yargs: Argv) =>
  yargs
    .option('port', { type: 'number', default: DEFAULT_PORT, requiresArg: true, describe: '0 takes any free port' })
    .option('host', {
      type: 'string',
      default: '127.0.0.1',
      requiresArg: true,
      describe: 'address to listen on; 0.0.0.0 accepts connections from everywhere',
    })
    .option('data', {
      type: 'string',
      requiresArg: true,
      describe: 'folder of the store, made when missing (default: ./weir-data); with --store: of the key of this node',
    })
    .option('memory', {
      type: 'boolean',
      default: false,
      describe: 'store nothing: all data is lost when the node ends',
    })
    .option('store', {
      type: 'string',
      requiresArg: true,
      describe:
        'one node of many: all is kept in Redis (redis://, redis+sentinel://, redis+cluster://; rediss for TLS; REDIS_AUTH for the password)',
    })
    .option('durability', {
      choices: ['cycle', 'strict'] as const,
      default: 'cycle' as const,
      requiresArg: true,
      describe: 'when counts are on disk: once a cycle, or before each answer',
    })
    .option('keep-rows', {
      type: 'number',
      requiresArg: true,
      describe: 'rows of each record that are kept: a signed statement takes the place of older ones (default: all)',
    })
    .option('cycle-ms', {
      type: 'number',
      requiresArg: true,
      describe: 'length of a cycle in ms (default: 777, or that of the data)',
    })
    .option('trust-proxy', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'address or network of a proxy whose X-Forwarded-* headers are trusted',
    })
    .option('metrics-port', {
      type: 'number',
      requiresArg: true,
      describe: 'serve GET /metrics, which is closed by default, on a port of its own',
    })
    .option('open-metrics', {
      type: 'boolean',
      default: false,
      describe: 'serve GET /metrics beside the API, to anyone',
    })
    .option('grpc', {
      type: 'number',
      requiresArg: true,
      describe: "serve Envoy's rate limit service on a port of its own; takes --grpc-limits",
    })
    .option('grpc-limits', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'file with the limits of a domain, by descriptors',
    })
    .option('host-name', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: "additional Host name to accept, for example the proxy's (default: those of loopback)",
    })
    .option('mint', {
      type: 'string',
      requiresArg: true,
      describe:
        'free keys that an address may mint within 60 cycles, or off (default: 10; off with --host beyond loopback)',
    })
    .option('limit', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'a bound of GET /api/limits, by its name: rows=20000000 for an owner, rows.on_node=200000000 for all',
    })
    .option('log-level', {
      choices: ['silent', 'error', 'warn', 'info', 'debug'] as const,
      default: 'info' as const,
      requiresArg: true,
      describe: 'what is logged, as JSON on standard error; admin actions, start and end at info',
    })
    .option('log-requests', { type: 'boolean', default: false, describe: 'log every request, at info' })
    .option('rotate-key', {
      type: 'boolean',
      default: false,
      describe: 'start with a new key, signed by the current one',
    })
    .option('accept-lost-rows', {
      type: 'boolean',
      default: false,
      describe: 'start although acknowledged rows are missing from the data, and say which',
    })
    .option('json', jsonOption)
    .example('$0 serve', `on http://127.0.0.1:${DEFAULT_PORT}, data in ./weir-data`)
    .example('$0 serve --port 0 --memory --cycle-ms 50', 'for a try: fast cycles, nothing kept')
    .example('$0 serve --data /var/lib/weir --durability strict', 'no acknowledged event is ever lost')
    .example('$0 serve --trust-proxy 127.0.0.1 --host-name api.example.org', 'behind a proxy with TLS on this machine')
    .example('$0 serve --grpc 8081 --grpc-limits shop.yaml', "as Envoy's rate limit service")
    .example('$0 serve --keep-rows 1000000', 'some 700 MB for each machine, however long it runs')
    .example('$0 serve --limit contracts=50000 --limit contracts.on_node=500000', 'more than an owner has by default')
    .example('$0 serve --metrics-port 7771', 'figures for Prometheus, where only this machine reads them')
    .epilogue(
      'From the environment: REDIS_AUTH, REDIS_SENTINEL_AUTH, REDIS_TLS_CACERT, REDIS_TLS_CLIENT_CERT and _KEY, REDIS_TLS_SERVERNAME for --store; GRPC_SERVER_USE_TLS, GRPC_SERVER_TLS_CERT and _KEY, GRPC_CLIENT_TLS_CACERT for --grpc. scenarios/recipes/grafana.json of the package shows these figures in Grafana. OTEL_EXPORTER_OTLP_ENDPOINT sends them to an OpenTelemetry collector.',
    );

export const rules: OptionRules = {
  needs: { grpc: ['grpc-limits'], 'grpc-limits': ['grpc'] },
  without: {
    data: ['memory'],
    durability: ['memory', 'store'],
    'accept-lost-rows': ['memory', 'store'],
    memory: ['store'],
    'rotate-key': ['memory', 'store'],
    grpc: ['store'],
    'keep-rows': ['store'],
  },
};

type Given = GivenTo<typeof options>;

/** Serves until the first SIGINT or SIGTERM, then finishes requests in progress; the second one ends the process immediately. */
export async function run(given: Given): Promise<void> {
  check(given);
  const { limitsFrom, mintFrom } = await import('../node/limit-settings.js');
  const limits = { ...limitsFrom(given.limit ?? []), ...mintFrom(given.mint) };
  const [{ openGround }, { createLog, startNode }, { openOperatorDoor }] = await Promise.all([
    import('../node/ground.js'),
    import('../node/node.js'),
    import('../node/operator-door.js'),
  ]);
  const { logLevel: level, logRequests: requests, host, port, durability, trustProxy = [] } = given;
  const log = { level, requests, destination: process.stderr };
  const logger = createLog(log);
  const onError = (err: unknown) => logger.error({ err }, err instanceof Failure ? err.message : 'internal error');
  const interrupt = interruptible();
  try {
    const { data, memory, cycleMs, rotateKey, acceptLostRows: acceptLoss } = given;
    const dir = memory ? undefined : (data ?? './weir-data');
    const ground: Ground & Partial<NetworkGround> =
      given.store === undefined
        ? openGround({ dir, cycleMs, rotateKey, acceptLoss, onError })
        : await (await import('../node/network/network-ground.js')).openNetworkGround({
            url: given.store,
            dir: data,
            cycleMs,
            acceptLoss,
            onError,
          });
    const { store, credentials, clock, identity, lost } = ground;
    const { signer, successions } = identity;
    const { metricsPort, openMetrics, hostName: hostNames = [] } = given;
    const grpc =
      given.grpc === undefined ? undefined : await grpcOptions(given.grpc, given.grpcLimits, identity.cycleMs);
    const ports = {
      ...{ host, port, openMetrics, hostNames },
      ...(metricsPort === undefined ? {} : { metricsPort }),
      ...(grpc === undefined ? {} : { grpc }),
    };
    const { env: environment } = process;
    const options = {
      ...(ground.network && { network: ground.network }),
      store,
      credentials,
      clock,
      lost,
      signer,
      successions,
      ...ports,
      durability,
      keepRows: given.keepRows,
      trustProxy,
      limits,
      log,
      environment,
    };
    const node = await startNode(options).catch((error: unknown) => {
      store.close();
      throw error;
    });
    const door = ground.dir && (await openOperatorDoor(ground.dir, ground.stored, logger, node.evict));
    for (const note of ground.notes) warn(`weir: ${note}\n`);
    if (ground.lost.length > 0) logger.warn({ lost: ground.lost }, 'acknowledged rows are missing from the data');
    say(given.json ? `${JSON.stringify(factsOf(node, ground))}\n` : startText(node, ground, given));
    await aborted(interrupt.signal);
    if (!given.json) warn('weir: finishing requests in progress; press again to end immediately\n');
    if (door) door.close();
    await node.close();
    if (node.host.failure !== undefined) throw node.host.failure;
  } finally {
    interrupt.release();
  }
}

/** @throws Failure `unreadable_file`, and for limits that cannot be read */
async function grpcOptions(port: number, files: readonly string[] = [], cycleMs: number) {
  const [{ readDescriptorLimits }, { readSource }] = await Promise.all([
    import('../node/envoy/limits-file.js'),
    import('../scenario/file-source.js'),
  ]);
  const domains = [];
  for (const file of files) domains.push(readDescriptorLimits(await readSource(file), file, cycleMs));
  return {
    port,
    domains,
    credentials: await (await import('../node/envoy/server-credentials.js')).grpcCredentials(process.env),
  };
}

function factsOf(
  { url, metricsUrl, grpcAddress }: RunningNode,
  { dir, lost, identity: { signer, cycleMs } }: Ground,
): object {
  const { fingerprint, publicKey } = signer;
  return {
    ok: true,
    url,
    metrics_url: metricsUrl ?? null,
    grpc: grpcAddress ?? null,
    data: dir ?? null,
    fingerprint,
    public_key: publicKey,
    cycle_ms: cycleMs,
    version: VERSION,
    pid: process.pid,
    ...(lost.length === 0
      ? {}
      : { lost: lost.map(({ machine, fromSeq: from_seq, toSeq: to_seq }) => ({ machine, from_seq, to_seq })) }),
  };
}

function startText(
  { url, metricsUrl, grpcAddress }: RunningNode,
  { dir, lost, identity }: Ground,
  given: Given,
): string {
  const { signer, cycleMs, isNew } = identity;
  const kept =
    given.store !== undefined
      ? `in Redis, ${given.store.replace(/:\/\/[^@/]*@/, '://')}`
      : dir === undefined
        ? 'in memory: all is gone when the node ends'
        : `${dir}, durability ${given.durability}`;
  const lines = [
    `weir ${VERSION} listens on ${url}`,
    `  data    ${kept}${given.keepRows === undefined ? '' : `, the last ${given.keepRows} rows of each record`}`,
    `  key     ${signer.fingerprint}${isNew ? ', made now' : ''}`,
    `  cycles  of ${cycleMs} ms`,
  ];
  if (metricsUrl !== undefined) lines.push(`  figures ${metricsUrl}`);
  if (grpcAddress !== undefined) lines.push(`  envoy   ${grpcAddress}`);
  for (const { machine, fromSeq, toSeq } of lost) {
    lines.push(`  lost    rows ${fromSeq} to ${toSeq} of ${machine}: acknowledged, and missing from the data`);
  }
  if (!isLoopback(given.host)) {
    lines.push(
      `  note    other computers reach it, and what they send is not encrypted: put a proxy with TLS before it`,
    );
  }
  return `${[...lines, 'ready; Ctrl-C ends it'].join('\n')}\n`;
}

/** @throws Failure `wrong_usage` */
function check(given: Given): void {
  const { port, metricsPort = 0, grpc = 0, cycleMs, trustProxy = [], host } = given;
  for (const [name, value] of Object.entries({ port, 'metrics-port': metricsPort, grpc })) {
    if (Number.isInteger(value) && value >= 0 && value <= 65_535) continue;
    throw usageFailure(`--${name} takes a number from 0 to 65535.`);
  }
  const { keepRows = 1 } = given;
  if (!(Number.isSafeInteger(keepRows) && keepRows >= 1)) {
    throw usageFailure('--keep-rows takes a whole number of rows, from 1.');
  }
  if (cycleMs !== undefined && !(Number.isInteger(cycleMs) && cycleMs >= 1 && cycleMs <= LONGEST_CYCLE_MS)) {
    throw usageFailure(`--cycle-ms takes a whole number from 1 to ${LONGEST_CYCLE_MS}.`);
  }
  if (host === '') throw usageFailure('--host takes an address, for example 0.0.0.0.');
  for (const proxy of trustProxy) {
    if (!isNetwork(proxy)) throw usageFailure(`--trust-proxy takes addresses and networks, and "${proxy}" is neither.`);
  }
  if (given.logRequests && given.logLevel !== 'info' && given.logLevel !== 'debug')
    throw usageFailure(
      '--log-requests has no effect without --log-level info.',
      'Add it, or leave --log-requests out.',
    );
}

/** One hour. */
const LONGEST_CYCLE_MS = 3_600_000;

/** For example 10.0.0.1 or 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
