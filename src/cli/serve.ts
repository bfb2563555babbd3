// `weir serve`: runs a node until it is interrupted.
import { isIP } from 'node:net';
import { isLoopback } from '../api/loopback.js';
import { Failure } from '../core/schema/failure.js';
import { partOf } from '../core/schema/optional-package.js';
import { VERSION } from '../core/version.js';
import type { RunningNode } from '../node/node.js';
import type { NodeStorage } from '../node/node-storage.js';
import { choice, command, flag, type GivenTo, several, text, value, whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { stopSignal, untilStopped } from '../report/command/interrupt.js';
import { allow, jsonOf, readMs } from '../report/command/options.js';
import { say, warn } from '../report/command/say.js';
import { facts } from '../report/command/terminal.js';

const DEFAULT_PORT = 7770;

const DAY_MS = 24 * 3_600_000;

/**
 * Longest retention of deleted machines' records, in days. The shortest is a day: nodes of a network keep answers under idempotency keys
 * that long, and the next owner of the slug must not get them.
 */
const MOST_DAYS = 3_650;

const LONGEST_CYCLE_MS = 3_600_000;

/** Balancers ask every few seconds. Docker kills a container ten seconds after its SIGTERM. */
const DRAIN_MS = 5_000;
const MOST_DRAIN_MS = 600_000;

const options = {
  port: whole(0, 65_535, '0 takes any free port', { default: DEFAULT_PORT }),
  host: text('address to listen on; 0.0.0.0 accepts connections from everywhere', { default: '127.0.0.1' }),
  data: text('folder of the store, made when missing (default: ./weir-data); with --store: of the key of this node'),
  store: text(
    'memory: all data is lost when the node ends; or one node of many, with all in Redis (redis://, redis+sentinel://, redis+cluster://; rediss for TLS; REDIS_AUTH for the password)',
  ),
  durability: choice(['cycle', 'strict'], 'when counts are on disk: once a cycle, or before each answer', {
    default: 'cycle',
    without: ['store'],
  }),
  keep: several(
    value(
      'rows=number, or deleted=days from 1 to 3650',
      keepIn,
      'rows=N: of each record, a signed statement takes the place of older ones (default: all); deleted=N: days for which the record of a deleted machine is kept and its slug is taken (default: 30), the same on all nodes of a network',
    ),
  ),
  cycleMs: whole(1, LONGEST_CYCLE_MS, 'length of a cycle in ms (default: 777, or that of the data)'),
  trustProxy: several(
    value(
      'addresses and networks',
      (text) => (isNetwork(text) ? text : undefined),
      'address or network of a proxy whose X-Forwarded-* headers are trusted; repeat for several',
    ),
  ),
  metrics: value(
    'open, or a port from 0 to 65535',
    metricsIn,
    'serve GET /metrics: on a port of its own, or open beside the API, to anyone (default: closed)',
  ),
  grpc: whole(0, 65_535, "serve Envoy's rate limit service on a port of its own; takes --limit", {
    needs: 'limit',
  }),
  limit: several(text('file with the limits of a domain, by descriptors', { needs: 'grpc' })),
  hostName: several(text("additional Host name to accept, for example the proxy's: `weir help security`")),
  bound: several(
    text(
      'a bound of GET /api/limits, by its name: rows=20000000 for an owner, rows.on_node=200000000 for all, `mint=10 in 1h` for the free keys that an address may mint, or mint=off (as with --host beyond loopback)',
    ),
  ),
  logLevel: choice(
    ['silent', 'error', 'warn', 'info', 'requests', 'debug'],
    'what is logged, as JSON on standard error; admin actions, start and end at info, with requests every request, too',
    { default: 'info' },
  ),
  drain: value(
    'a time up to 10m, for example 5s, or 0',
    drainIn,
    'how long a node that ends still takes connections while GET /readyz is 503, for balancers to turn away (default: 0 on loopback, 5s elsewhere)',
  ),
  rotateKey: flag('start with a new key, signed by the current one', { without: ['store'] }),
  allow: allow({ 'lost-rows': 'a start although acknowledged rows are missing from the data; it says which' }),
  json: jsonOf('serve'),
};

type Given = GivenTo<typeof options>;

/** The first SIGINT or SIGTERM finishes requests in progress; the second ends the process immediately. */
export const serve = command({
  options,
  examples: [
    ['serve', `on http://127.0.0.1:${DEFAULT_PORT}, data in ./weir-data`],
    ['serve --port 0 --store memory --cycle-ms 50', 'for a try: fast cycles, nothing kept'],
    ['serve --data /var/lib/weir --durability strict', 'no acknowledged event is ever lost'],
    ['serve --trust-proxy 127.0.0.1 --host-name api.example.org', 'behind a proxy with TLS on this machine'],
    ['serve --grpc 8081 --limit shop.yaml', "as Envoy's rate limit service"],
    ['serve --keep rows=1000000', 'some 700 MB for each machine, however long it runs'],
    ['serve --bound contracts=50000 --bound contracts.on_node=500000', 'more than an owner has by default'],
    ['serve --metrics 7771', 'figures for Prometheus, where only this machine reads them'],
  ],
  more: 'From the environment: REDIS_AUTH, REDIS_SENTINEL_AUTH, REDIS_TLS_CACERT, REDIS_TLS_CLIENT_CERT and _KEY, REDIS_TLS_SERVERNAME for --store; GRPC_SERVER_USE_TLS, GRPC_SERVER_TLS_CERT and _KEY, GRPC_CLIENT_TLS_CACERT for --grpc. scenarios/recipes/grafana.json of the package shows these figures in Grafana.',
  run: async (given) => {
    const { limitsFrom } = await import('../node/limit-settings.js');
    checkStore(given);
    const kept = Object.fromEntries(given.keep ?? []);
    const isOpen = !isLoopback(given.host);
    const limits = {
      noticeMs: given.drain ?? (isOpen ? DRAIN_MS : 0),
      ...limitsFrom([...(isOpen ? ['mint=off'] : []), ...(given.bound ?? [])]),
      ...(kept['deleted'] === undefined ? {} : { retentionMs: kept['deleted'] * DAY_MS }),
    };
    const [{ openStorage }, { createLog, startNode }, { openOperatorSocket }, { leaves }] = await Promise.all([
      import('../node/node-storage.js'),
      import('../node/node.js'),
      import('../node/operator-socket.js'),
      import('../node/leaves.js'),
    ]);
    const { logLevel, host, port, durability, trustProxy = [] } = given;
    const requests = logLevel === 'requests';
    const log = { level: requests ? 'info' : logLevel, requests, destination: process.stderr };
    const logger = createLog(log);
    const onError = (err: unknown) => logger.error({ err }, err instanceof Failure ? err.message : 'internal error');
    stopSignal();
    const { data, store: place, cycleMs, rotateKey } = given;
    const acceptLoss = given.allow !== undefined;
    const inMemory = place === 'memory';
    const dir = inMemory ? undefined : (data ?? './weir-data');
    const storage =
      place === undefined || inMemory
        ? openStorage({ dir, cycleMs, rotateKey, acceptLoss, onError })
        : await (await partOf('network', leaves.network))({ url: place, dir: data, cycleMs, acceptLoss, onError });
    const { store, credentials, clock, network, identity, lost } = storage;
    const { signer, successions } = identity;
    const { metrics, hostName: hostNames = [] } = given;
    const door = given.grpc === undefined ? undefined : await doorOf(given.grpc, given.limit, identity.cycleMs);
    const options = {
      ...{ store, credentials, clock, network, lost, signer, successions },
      ...{ host, port, hostNames, durability, trustProxy, limits, log, keepRows: kept['rows'] },
      openMetrics: metrics === 'open',
      ...(typeof metrics === 'number' && { metricsPort: metrics }),
      ...(door && { door }),
    };
    const node = await startNode(options).catch((error: unknown) => {
      store.close();
      throw error;
    });
    const socket = storage.dir && (await openOperatorSocket(storage.dir, storage.stored, logger, node.evict));
    for (const note of storage.notes) warn(`weir: ${note}\n`);
    if (storage.lost.length > 0) logger.warn({ lost: storage.lost }, 'acknowledged rows are missing from the data');
    const mints = limits.mint?.threshold !== 0;
    say(given.json ? `${JSON.stringify(factsOf(node, storage))}\n` : startText(node, storage, given, mints));
    await untilStopped();
    if (!given.json) warn('weir: finishing requests in progress; press again to end immediately\n');
    if (socket) socket.close();
    await node.close();
    if (node.host.failure !== undefined) throw node.host.failure;
  },
});

async function doorOf(port: number, names: readonly string[] = [], cycleMs: number) {
  const [{ leaves }, { readSource }] = await Promise.all([
    import('../node/leaves.js'),
    import('../harness/scenario/file-source.js'),
  ]);
  const envoyDoor = await partOf('grpc', leaves.envoy);
  const files = [];
  for (const name of names) files.push({ name, text: await readSource(name) });
  return envoyDoor({ port, files, cycleMs });
}

function factsOf(
  { url, metricsUrl, doorAddress }: RunningNode,
  { dir, lost, identity: { signer, cycleMs } }: NodeStorage,
): object {
  const { fingerprint, publicKey } = signer;
  return {
    ok: true,
    url,
    metrics_url: metricsUrl ?? null,
    grpc: doorAddress ?? null,
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

/** Checks options that depend on the store. @throws Failure `wrong_usage` */
function checkStore({ store, data, allow, grpc, keep = [] }: Given): void {
  const kind = store === 'memory' ? 'memory' : 'Redis';
  const [option] = [
    ...(kind === 'memory' && data !== undefined ? ['data'] : []),
    ...(kind === 'memory' && allow !== undefined ? ['allow'] : []),
    ...(kind === 'Redis' && grpc !== undefined ? ['grpc'] : []),
    ...(kind === 'Redis' && keep.some(([what]) => what === 'rows') ? ['keep rows'] : []),
  ];
  if (store !== undefined && option !== undefined)
    throw usageFailure(`--${option} has no effect with a store in ${kind}.`, 'Leave one of the two out.');
}

const REACHED = 'other computers reach it, and what they send is not encrypted: put a proxy with TLS before it';

function startText(node: RunningNode, storage: NodeStorage, given: Given, mints: boolean): string {
  const { dir, lost, identity } = storage;
  const { signer, cycleMs, isNew } = identity;
  const { rows } = Object.fromEntries(given.keep ?? []);
  const kept =
    given.store !== undefined && given.store !== 'memory'
      ? `in Redis, ${given.store.replace(/:\/\/[^@/]*@/, '://')}`
      : dir === undefined
        ? 'in memory: all is gone when the node ends'
        : `${dir}, durability ${given.durability}`;
  const words = facts([
    ['data', `${kept}${rows === undefined ? '' : `, the last ${rows} rows of each record`}`],
    ['key', `${signer.fingerprint}${isNew ? ', made now' : ''}`],
    ['cycles', `of ${cycleMs} ms`],
    ['metrics', node.metricsUrl],
    ['envoy', node.doorAddress],
    ...lost.map(
      ({ machine, fromSeq, toSeq }) =>
        ['lost', `rows ${fromSeq} to ${toSeq} of ${machine}: acknowledged, and missing from the data`] as const,
    ),
    ['mint', mints ? undefined : 'off: it gives no free keys, unless it is started with --bound mint=10'],
    ['note', isLoopback(given.host) ? undefined : REACHED],
  ]);
  return `weir ${VERSION} listens on ${node.url}\n${words}\nready; Ctrl-C ends it\n`;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function keepIn(text: string): readonly [what: 'rows' | 'deleted', n: number] | undefined {
  const [, what, number] = /^(rows|deleted)=(\d{1,15})$/.exec(text) ?? [];
  const n = Number(number);
  return what === undefined || n < 1 || (what === 'deleted' && n > MOST_DAYS) ? undefined : [what as 'rows', n];
}

function drainIn(text: string): number | undefined {
  const ms = text === '0' ? 0 : readMs(text, 'drain');
  return ms <= MOST_DRAIN_MS ? ms : undefined;
}

function metricsIn(text: string): number | 'open' | undefined {
  if (text === 'open') return text;
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}
