// `weir serve`: runs a node until it is interrupted.
import { isIP } from 'node:net';
import { isLoopback } from '../api/loopback.js';
import type { Ground } from '../node/ground.js';
import type { NetworkGround } from '../node/network/network-ground.js';
import type { RunningNode } from '../node/node.js';
import { Failure } from '../schema/failure.js';
import { needing } from '../schema/optional-package.js';
import { VERSION } from '../version.js';
import { choice, command, flag, type GivenTo, several, text, value, whole } from './command.js';
import { aborted, interruptible } from './interrupt.js';
import { json } from './options.js';
import { say, warn } from './say.js';

const DEFAULT_PORT = 7770;

const DAY_MS = 24 * 3_600_000;

/**
 * For how long records of deleted machines may be kept, in days. The shortest is a day: for as long nodes of a network keep answers under
 * idempotency keys, and whoever takes the slug must not get those.
 */
const MOST_DAYS = 3_650;

const LONGEST_CYCLE_MS = 3_600_000;

const options = {
  port: whole(0, 65_535, '0 takes any free port', { default: DEFAULT_PORT }),
  host: value(
    'an address, for example 0.0.0.0',
    (text) => text || undefined,
    'address to listen on; 0.0.0.0 accepts connections from everywhere',
    { default: '127.0.0.1' },
  ),
  data: text('folder of the store, made when missing (default: ./weir-data); with --store: of the key of this node', {
    without: ['memory'],
  }),
  memory: flag('store nothing: all data is lost when the node ends', { without: ['store'] }),
  store: text(
    'one node of many: all is kept in Redis (redis://, redis+sentinel://, redis+cluster://; rediss for TLS; REDIS_AUTH for the password)',
  ),
  durability: choice(['cycle', 'strict'], 'when counts are on disk: once a cycle, or before each answer', {
    default: 'cycle',
    without: ['memory', 'store'],
  }),
  keepRows: whole(
    1,
    Number.MAX_SAFE_INTEGER,
    'rows of each record that are kept: a signed statement takes the place of older ones (default: all)',
    { without: ['store'] },
  ),
  keepDeleted: whole(
    1,
    MOST_DAYS,
    'days for which the record of a deleted machine is kept and its slug is taken (default: 30); the same on all nodes of a network',
  ),
  cycleMs: whole(1, LONGEST_CYCLE_MS, 'length of a cycle in ms (default: 777, or that of the data)'),
  trustProxy: several(
    value(
      'addresses and networks',
      (text) => (isNetwork(text) ? text : undefined),
      'address or network of a proxy whose X-Forwarded-* headers are trusted',
    ),
  ),
  metrics: value(
    'open, or a port from 0 to 65535',
    metricsIn,
    'serve GET /metrics: on a port of its own, or open beside the API, to anyone (default: closed)',
  ),
  grpc: whole(0, 65_535, "serve Envoy's rate limit service on a port of its own; takes --grpc-limits", {
    needs: ['grpcLimits'],
    without: ['store'],
  }),
  grpcLimits: several(text('file with the limits of a domain, by descriptors', { needs: ['grpc'] })),
  hostName: several(text("additional Host name to accept, for example the proxy's (default: those of loopback)")),
  mint: text(
    'free keys that an address may mint within 60 cycles, or off (default: 10; off with --host beyond loopback)',
  ),
  bound: several(
    text('a bound of GET /api/limits, by its name: rows=20000000 for an owner, rows.on_node=200000000 for all'),
  ),
  logLevel: choice(
    ['silent', 'error', 'warn', 'info', 'requests', 'debug'],
    'what is logged, as JSON on standard error; admin actions, start and end at info, with requests every request, too',
    { default: 'info' },
  ),
  rotateKey: flag('start with a new key, signed by the current one', { without: ['memory', 'store'] }),
  acceptLostRows: flag('start although acknowledged rows are missing from the data, and say which', {
    without: ['memory', 'store'],
  }),
  json,
};

type Given = GivenTo<typeof options>;

/** Serves until the first SIGINT or SIGTERM, then finishes requests in progress; the second one ends the process immediately. */
export const serve = command({
  options,
  examples: [
    ['serve', `on http://127.0.0.1:${DEFAULT_PORT}, data in ./weir-data`],
    ['serve --port 0 --memory --cycle-ms 50', 'for a try: fast cycles, nothing kept'],
    ['serve --data /var/lib/weir --durability strict', 'no acknowledged event is ever lost'],
    ['serve --trust-proxy 127.0.0.1 --host-name api.example.org', 'behind a proxy with TLS on this machine'],
    ['serve --grpc 8081 --grpc-limits shop.yaml', "as Envoy's rate limit service"],
    ['serve --keep-rows 1000000', 'some 700 MB for each machine, however long it runs'],
    ['serve --bound contracts=50000 --bound contracts.on_node=500000', 'more than an owner has by default'],
    ['serve --metrics 7771', 'figures for Prometheus, where only this machine reads them'],
  ],
  more: 'From the environment: REDIS_AUTH, REDIS_SENTINEL_AUTH, REDIS_TLS_CACERT, REDIS_TLS_CLIENT_CERT and _KEY, REDIS_TLS_SERVERNAME for --store; GRPC_SERVER_USE_TLS, GRPC_SERVER_TLS_CERT and _KEY, GRPC_CLIENT_TLS_CACERT for --grpc. scenarios/recipes/grafana.json of the package shows these figures in Grafana.',
  run: async (given) => {
    const { limitsFrom, mintFrom } = await import('../node/limit-settings.js');
    const limits = {
      ...limitsFrom(given.bound ?? []),
      ...mintFrom(given.mint),
      ...(given.keepDeleted === undefined ? {} : { retentionMs: given.keepDeleted * DAY_MS }),
    };
    const [{ openGround }, { createLog, startNode }, { openOperatorDoor }] = await Promise.all([
      import('../node/ground.js'),
      import('../node/node.js'),
      import('../node/operator-door.js'),
    ]);
    const { logLevel, host, port, durability, trustProxy = [] } = given;
    const requests = logLevel === 'requests';
    const log = { level: requests ? 'info' : logLevel, requests, destination: process.stderr };
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
      const { metrics, hostName: hostNames = [] } = given;
      const grpc =
        given.grpc === undefined ? undefined : await grpcOptions(given.grpc, given.grpcLimits, identity.cycleMs);
      const ports = {
        ...{ host, port, openMetrics: metrics === 'open', hostNames },
        ...(typeof metrics === 'number' ? { metricsPort: metrics } : {}),
        ...(grpc === undefined ? {} : { grpc }),
      };
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
  },
});

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
    credentials: (await needing('grpc', import('../node/envoy/server-credentials.js'))).grpcCredentials(process.env),
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

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function metricsIn(text: string): number | 'open' | undefined {
  if (text === 'open') return text;
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}
