// Envoy's rate limit service, asked by a real client of gRPC. The messages are written and read by Envoy's numbers of fields, stated here, and
// not by those of the node.
import { readFileSync } from 'node:fs';
import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { grpcCredentials } from '../../../src/node/envoy/door.js';
import { readDescriptorLimits } from '../../../src/node/envoy/limits-file.js';
import { startRateLimitService } from '../../../src/node/envoy/rate-limit-service.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';
import { afterTest, temporaryFolder } from '../../left-behind.js';
import { Caller, inTurn } from '../caller.js';
import { certified, hasOpenssl } from '../network/redis/certificates.js';
import { type Start, startRunning } from '../running.js';

/** Fields in the order of their numbers. A name with `[]` is repeated; an enum is its number. */
const fieldsOf = (text: string) => {
  const fields = text.split(', ').map((field, index) => {
    const [name = '', type = ''] = field.split(': ');
    const rule = name.endsWith('[]') ? { rule: 'repeated' } : {};
    return [name.replace('[]', ''), { type, id: index + 1, ...rule }];
  });
  return { fields: Object.fromEntries(fields) };
};
const messages = {
  nested: {
    Service: { methods: { ShouldRateLimit: { requestType: 'Request', responseType: 'Response' } } },
    Request: fieldsOf('domain: string, descriptors[]: Descriptor, hits: uint32'),
    Descriptor: fieldsOf('entries[]: Text, limit: Limit, hits: Hits'),
    Text: fieldsOf('key: string, value: string'),
    Limit: fieldsOf('requests: uint32, unit: int32, name: string'),
    Hits: fieldsOf('value: uint64'),
    Response: fieldsOf('overall: int32, statuses[]: Status, headers[]: Text'),
    Status: fieldsOf('code: int32, limit: Limit, remaining: uint32'),
  },
};
const { ShouldRateLimit: wire } = fromJSON(messages as never, { defaults: true })['Service'] as ServiceDefinition;

const limits = `
domain: shop
is_public: true
descriptors:
  - key: user
    rate_limit: { name: each-user, unit: year, requests_per_unit: 3 }
  - key: user
    value: banned
    rate_limit: { unit: year, requests_per_unit: 0 }
  - key: user
    value: free
    rate_limit: { unlimited: true }
  - key: path
    shadow_mode: true
    rate_limit: { unit: year, requests_per_unit: 1 }
  - key: wide
    rate_limit: { name: wide, unit: year, requests_per_unit: 1 }
  - key: narrow
    rate_limit: { unit: year, requests_per_unit: 9, replaces: [{ name: wide }] }
  - key: own
    rate_limit: { limiter: { threshold: 2, within: 100000 } }
`;

/** @param tls credentials of the service, and those of its client */
async function start(options: Start = {}, text = limits, tls: Tls = {}) {
  const domains = [readDescriptorLimits(text, 'limits.yaml', 777)];
  const given = tls.client ?? credentials.createInsecure();
  const node = await startRunning({
    door: (context, host, log) =>
      startRateLimitService(context, { host, port: 0, domains, credentials: tls.service }, log),
    ...options,
  });
  // Node 26 refuses an address as the name of a server, which is what the client's library would ask for.
  const client = new Client(node.doorAddress!, given, { 'grpc.ssl_target_name_override': 'localhost' });
  afterTest(() => client.close());
  const ask = (request: Buffer, metadata = new Metadata()) =>
    new Promise<Response>((resolve, reject) => {
      const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
      const done = (error: ServiceError | null, answer?: Response) => (error ? reject(error) : resolve(answer!));
      client.makeUnaryRequest(path, (bytes: Buffer) => bytes, readResponse, request, metadata, done);
    });
  /** The code of the decision, or that of the error, negative. */
  const codeOf = (request: Buffer, metadata?: Metadata): Promise<number> =>
    ask(request, metadata).then(
      ({ overall }) => overall,
      ({ code }) => -code,
    );
  /** The codes of requests with some descriptors, one request after the other. */
  const codesOf = (...requests: Descriptor[][]) => inTurn(requests, (one) => codeOf(request('shop', one)));
  return { node, client, ask, codeOf, codesOf };
}

interface Tls {
  readonly service?: ServerCredentials | undefined;
  readonly client?: ChannelCredentials;
}

type Descriptor = Readonly<Record<string, string>>;

const times = (count: number, ...descriptors: Descriptor[]) => Array<Descriptor[]>(count).fill(descriptors);

const OK = 1;
const OVER = 2;

/** For tests that count keys of their own. */
const shared = await start();

it('a descriptor is admitted up to its limit in each window, and each value has a count of its own', async () => {
  const { ask, codesOf } = shared;
  expect(await codesOf(...times(5, { user: 'ann' }))).toEqual([OK, OK, OK, OVER, OVER]);
  const other = await ask(request('shop', [{ user: 'bob' }]));
  const status = { code: OK, limit: [3, 6, 'each-user'], remaining: 2 };
  expect(other).toMatchObject({ overall: OK, statuses: [status] });
  expect(other.headers['ratelimit-policy']).toBe('"each-user";q=3;w=31536000');
  expect(other.headers['ratelimit']).toMatch(/^"each-user";r=2;t=\d+$/);
  expect(other.headers['retry-after']).toBeUndefined();
  expect((await ask(request('shop', [{ user: 'ann' }]))).headers['retry-after']).toMatch(/^\d+$/);
});

it('a descriptor has as many hits as the request says, or it says itself; with none, it is over if its limit was exceeded', async () => {
  const { ask, codeOf } = shared;
  for (const [hits, own, overall, remaining] of [
    [2, undefined, OK, 1],
    [0, 0, OK, 1],
    [9, 1, OK, 0],
    [0, 0, OK, 0],
    [1, undefined, OVER, 0],
    [0, 0, OVER, 0],
  ] as const)
    expect(await ask(request('shop', [{ user: 'cat' }], hits, own))).toMatchObject({
      overall,
      statuses: [{ remaining }],
    });
  expect(await codeOf(request('shop', [{ user: 'dan' }], 4))).toBe(OVER);
});

it('a descriptor beside others is counted by itself, and one that is over is enough', async () => {
  const { ask } = shared;
  const answer = await ask(request('shop', [{ user: 'eve' }, { user: 'banned' }, { user: 'free' }, { unknown: 'x' }]));
  expect(answer.overall).toBe(OVER);
  expect(answer.statuses.map(({ code, remaining }) => [code, remaining])).toEqual([
    [OK, 2],
    [OVER, 0],
    [OK, 4_294_967_295],
    [OK, 0],
  ]);
});

it('a descriptor with an empty value is counted, and so are the others of its request', async () => {
  const { codesOf } = shared;
  const codes = await codesOf(...times(4, { user: '' }), [{ user: '' }, { user: 'banned' }], [{ user: 'fay' }]);
  expect(codes).toEqual([OK, OK, OK, OVER, OVER, OK]);
});

it('a descriptor in shadow mode counts and is admitted; one that is replaced does not count', async () => {
  const { node, codesOf } = await start();
  expect(await codesOf(...times(3, { path: '/' }))).toEqual([OK, OK, OK]);
  const figures = String((await node.ask('GET', '/metrics')).body);
  expect(figures).toContain('weir_decisions_total{decision="would_limit"} 2');
  expect(figures).toContain('weir_decisions_total{decision="limited"} 0');
  expect(await codesOf(...times(3, { wide: 'a' }, { narrow: 'a' }))).toEqual([OK, OK, OK]);
  expect(await codesOf(...times(2, { wide: 'a' }))).toEqual([OK, OVER]);
});

it('limits whose names would be alike are counted apart, each by its own numbers', async () => {
  const [three, one] = [3, 1].map((most) => `rate_limit: { unit: year, requests_per_unit: ${most} } }`);
  const alike = ['{ key: a, value: b,', '{ key: a.b,', '{ key: a b,'].map((one) => `\n  - ${one} ${three}`).join('');
  const { codesOf } = await start({}, `domain: shop\ndescriptors:${alike}\n  - { key: a_b, ${one}`);
  for (const key of ['a', 'a.b', 'a b']) expect(await codesOf(...times(4, { [key]: 'b' }))).toEqual([OK, OK, OK, OVER]);
  expect(await codesOf(...times(2, { a_b: 'b' }))).toEqual([OK, OVER]);
});

it('a descriptor may bring its limit along, and follows any limiter', async () => {
  const { codeOf, codesOf } = shared;
  const brought = request('shop', [{ any: 'a' }], 0, undefined, [2, 6]);
  expect(await inTurn(Array(3).keys(), () => codeOf(brought))).toEqual([OK, OK, OVER]);
  expect(await codesOf(...times(3, { own: 'a' }))).toEqual([OK, OK, OVER]);
});

describe.skipIf(!hasOpenssl)('the port, with TLS (needs openssl)', () => {
  const folder = temporaryFolder();
  const server = hasOpenssl ? certified(folder, 'server', 'DNS:localhost,IP:127.0.0.1') : undefined!;
  const client = hasOpenssl ? certified(folder, 'client', 'DNS:client') : undefined!;
  const tls = { GRPC_SERVER_USE_TLS: 'true', GRPC_SERVER_TLS_CERT: server?.cert, GRPC_SERVER_TLS_KEY: server?.key };

  /** What a client with these credentials is answered: the code of the decision, or that of the error, negative. */
  async function answered(environment: Record<string, string>, given: ChannelCredentials): Promise<number> {
    const { codeOf } = await start({}, limits, { service: grpcCredentials(environment), client: given });
    return codeOf(request('shop', [{ user: 'ann' }]));
  }

  it('the port answers who trusts its certificate and, where it names an authority, has one of that', async () => {
    const [ca, cert, key] = [server.ca, client.cert, client.key].map((path) => readFileSync(path));
    const mutual = { ...tls, GRPC_CLIENT_TLS_CACERT: server.ca };
    const away = -status.UNAVAILABLE;
    expect(await answered(tls, credentials.createSsl(ca))).toBe(OK);
    expect(await answered(tls, credentials.createSsl())).toBe(away);
    expect(await answered(tls, credentials.createInsecure())).toBe(away);
    expect(await answered(mutual, credentials.createSsl(ca, key, cert))).toBe(OK);
    expect(await answered(mutual, credentials.createSsl(ca))).toBe(away);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ GRPC_SERVER_USE_TLS: 'true' }, /needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY/],
    [{ GRPC_SERVER_USE_TLS: 'on' }, /neither true nor false/],
    [{ GRPC_SERVER_TLS_CERT: 'x' }, /GRPC_SERVER_TLS_CERT is set, and GRPC_SERVER_USE_TLS is not true/],
    [{ GRPC_CLIENT_TLS_CACERT: 'x' }, /GRPC_CLIENT_TLS_CACERT is set, and GRPC_SERVER_USE_TLS is not true/],
    [{ ...tls, GRPC_CLIENT_TLS_SAN: 'x' }, /GRPC_CLIENT_TLS_SAN is set/],
    [{ ...tls, GRPC_SERVER_TLS_KEY: client?.key }, /do not fit/],
    [{ ...tls, GRPC_SERVER_TLS_CERT: '/dev/zero' }, /not a regular file/],
  ])('the port is not opened with %j', (environment, why) => {
    expect(() => grpcCredentials(environment)).toThrow(expect.objectContaining({ why: expect.stringMatching(why) }));
  });
});

it('a request of a domain without limits is admitted', async () => {
  const { ask } = shared;
  expect(await ask(request('other', [{ user: 'banned' }]))).toMatchObject({ overall: OK, statuses: [{ code: OK }] });
});

it.each<[string, Buffer, status]>([
  ['without a domain', request('', [{ user: 'a' }]), status.INVALID_ARGUMENT],
  ['without a descriptor', request('shop', []), status.INVALID_ARGUMENT],
  ['with an entry without a key', request('shop', [{ '': 'a' }]), status.INVALID_ARGUMENT],
  ['without entries', request('shop', [{}]), status.INVALID_ARGUMENT],
  ['with too many descriptors', request('shop', Array(101).fill({ user: 'a' })), status.INVALID_ARGUMENT],
  ['with too many hits', request('shop', [{ user: 'a' }], 0, 1_001), status.INVALID_ARGUMENT],
  ['with a limit of no unit', request('shop', [{ user: 'a' }], 0, undefined, [1, 0]), status.INVALID_ARGUMENT],
  ['with a limit of an unknown unit', request('shop', [{ user: 'a' }], 0, undefined, [1, 99]), status.INVALID_ARGUMENT],
  ['with a limit of unit -1', request('shop', [{ user: 'a' }], 0, undefined, [1, -1]), status.INVALID_ARGUMENT],
  ['that is too long', request('shop', [{ user: 'a'.repeat(1 << 19) }]), status.RESOURCE_EXHAUSTED],
])('a request %s is refused, and counts nothing', async (_, bytes, code) => {
  const { ask } = shared;
  await expect(ask(bytes)).rejects.toMatchObject({ code });
  expect((await ask(request('shop', [{ user: 'a' }], 0, 0))).statuses[0]!.remaining).toBe(3);
});

it('a request with bytes that are no message is refused', async () => {
  const { ask } = shared;
  await expect(ask(Buffer.from('0affffffffff', 'hex'))).rejects.toHaveProperty('code');
  expect((await ask(request('shop', [{ user: 'none' }]))).overall).toBe(OK);
});

it('a request with a limit by the week is decided by it', async () => {
  const { ask } = shared;
  const answer = await ask(request('shop', [{ any: 'a' }], 0, undefined, [5, 7]));
  expect(answer).toMatchObject({ overall: OK, statuses: [{ limit: [5, 7, ''], remaining: 4 }] });
});

it('a request with one limit too many is refused before a contract is made of it', async () => {
  const { codeOf } = await start();
  const asked = Array.from({ length: 101 }, (_, n) => request('shop', [{ any: 'a' }], 0, undefined, [n + 1, 6]));
  const codes = await inTurn(asked, (one) => codeOf(one));
  expect(codes).toEqual([...Array(100).fill(OK), -status.RESOURCE_EXHAUSTED]);
});

it('a request needs a key beyond loopback, and one that it brings has to be good', async () => {
  const { node, codeOf } = await start({}, limits.replace('is_public: true', 'owner: ann'));
  const as = (key: string) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    return codeOf(request('shop', [{ user: 'a' }]), metadata);
  };
  expect([
    await as('weir_none'),
    await as(node.keyOf('bob')),
    await as(node.keyOf('ann', undefined, { scopes: ['read'] })),
    await as(node.keyOf('ann', undefined, { scopes: ['gate'] })),
  ]).toEqual([-status.UNAUTHENTICATED, -status.PERMISSION_DENIED, -status.PERMISSION_DENIED, OK]);
  const open = await start({ host: '0.0.0.0', hostNames: [] }, limits.replace('is_public: true', 'owner: ann'));
  expect(await open.codesOf([{ user: 'a' }])).toEqual([-status.UNAUTHENTICATED]);
});

it.each([
  ['without an owner', 'is_public: true', /belongs to owner_stranger, and the file names no owner/],
  ['with another owner', 'owner: ann', /belongs to owner_stranger, and the file names the owner ann/],
  ['with the owner of the machine', 'owner: owner_stranger', undefined],
])('the service starts on a machine that somebody has made only for its owner: a file %s', async (_, line, why) => {
  const dir = temporaryFolder();
  // In cycles so long that no node deletes what an owner without a key has.
  const ground = () => ({ store: openSqliteStore({ dir }), cycleMs: 3_600_000 });
  const before = await startRunning(ground());
  before.host.createMachine({ slug: 'shop', owner: 'owner_stranger' });
  await before.close();
  const starting = start(ground(), limits.replace('is_public: true', line));
  if (why === undefined) {
    await starting;
    return;
  }
  await expect(starting).rejects.toMatchObject({ code: 'invalid_input', why: expect.stringMatching(why) });
  const store = openSqliteStore({ dir });
  expect([...store.machines()].find(({ machine }) => machine.slug === 'shop')?.contracts).toEqual([]);
  store.close();
});

it('the service does not start on a machine that the node keeps for itself', async () => {
  const reserved = limits.replace('domain: shop', 'domain: shop\nmachine: weir-node');
  await expect(start({}, reserved)).rejects.toMatchObject({ code: 'invalid_input' });
});

it('the service finds its contracts again after a restart, with their counts, and makes those that are new', async () => {
  const dir = temporaryFolder();
  const first = await start({ store: openSqliteStore({ dir }) });
  await first.codesOf(...times(3, { user: 'ann' }));
  const made = first.node.host.machine('shop').contracts.map(({ id }) => id);
  await first.node.close();
  const second = await start(
    { store: openSqliteStore({ dir }) },
    `${limits}  - key: more\n    rate_limit: { unit: day, requests_per_unit: 1 }\n`,
  );
  expect(await second.codesOf([{ user: 'ann' }])).toEqual([OVER]);
  expect(second.node.host.machine('shop').contracts.map(({ id }) => id)).toEqual([...made, expect.any(String)]);
});

it('the service records which key was limited', async () => {
  const { node, codesOf } = await start();
  await codesOf(...times(4, { user: 'ann' }));
  expect(await new Caller(node.url).rows('shop', 'kind=transition')).toMatchObject([
    { to: 'limiting', key: expect.stringMatching(/^[0-9a-f]{32}$/), emitted: ['rate_limited'] },
  ]);
});

it('the service decides two hundred calls at once as one after the other', async () => {
  const { codeOf } = shared;
  const asked = Array.from({ length: 200 }, (_, n) => codeOf(request('shop', [{ user: `u${n % 10}` }])));
  expect((await Promise.all(asked)).filter((code) => code === OK)).toHaveLength(30);
});

it('the service finishes calls when it closes, and takes no more', async () => {
  const { node, codeOf, codesOf } = await start();
  await codesOf([{ user: 'a' }]);
  const asked = Array.from({ length: 50 }, () => codeOf(request('shop', [{ user: 'free' }])));
  await node.close();
  const others = (await Promise.all(asked)).filter((code) => code !== OK && code !== -status.UNAVAILABLE);
  expect(others).toEqual([]);
  expect(await codesOf([{ user: 'a' }])).toEqual([-status.UNAVAILABLE]);
});

it('the service says by the health check of gRPC that it serves', async () => {
  const { client } = shared;
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const same = (bytes: Buffer) => bytes;
    client.makeUnaryRequest('/grpc.health.v1.Health/Check', same, same, Buffer.alloc(0), (error, bytes) =>
      error === null ? resolve(bytes!) : reject(error),
    );
  });
  expect(answer).toEqual(Buffer.from([0x08, 0x01]));
});

/** @param hits of the request; `own`: of each descriptor; `limit`: requests and unit that each brings along */
function request(
  domain: string,
  descriptors: readonly Descriptor[],
  hits = 0,
  own?: number,
  limit?: readonly [number, number],
): Buffer {
  const more = {
    ...(limit !== undefined && { limit: { requests: limit[0], unit: limit[1] } }),
    ...(own !== undefined && { hits: { value: own } }),
  };
  const each = descriptors.map((entries) => ({
    entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
    ...more,
  }));
  return wire!.requestSerialize({ domain, descriptors: each, hits });
}

interface Response {
  readonly overall: number;
  readonly statuses: readonly { code: number; limit: unknown[]; remaining: number }[];
  readonly headers: Readonly<Record<string, string>>;
}

function readResponse(bytes: Buffer): Response {
  const { overall, statuses, headers } = wire!.responseDeserialize(bytes) as any;
  return {
    overall,
    statuses: statuses.map(({ code, limit, remaining }: any) => ({
      ...{ code, remaining, limit: limit === null ? [] : [limit.requests, limit.unit, limit.name] },
    })),
    headers: Object.fromEntries(headers.map(({ key, value }: any) => [key, value])),
  };
}
