// Owns making requests that nobody should send: what fits the schemas of a route and what nearly fits, valid HTTP with something done to
// it, and plain noise. Each is the bytes of one connection. Leaves sending them, and what may be answered, to the tests.
//
//   schema, example ─► params, query, body ─┐
//                      odd targets, headers ─┴─► HTTP ─► as it is, or with bytes changed, lost, doubled, put in
//   noise ────────────────────────────────────────────► as it is
import fc from 'fast-check';
import type { Route } from '../../src/node/route.js';
import { routes } from '../../src/node/route-list.js';
import { anyCharacter } from '../draws.js';
import { mostly, nasty, type Schema } from '../schema-values.js';
import { type About, bodyOf, pathOf } from './route-request.js';

type Bytes = fc.Arbitrary<Buffer>;

/** Who asks, and about what. */
export interface Hostile extends About {
  /** Values of `Authorization` and `Cookie`. */
  readonly credentials: readonly Readonly<Record<string, string>>[];
}

/** The requests of one kind in a run, by name. */
export function hostileRequests(about: Hostile): Readonly<Record<string, Bytes>> {
  // Most of them to where most can go wrong.
  const weighed = (make: (route: Route) => Bytes) =>
    fc.oneof(...routes.map((route) => ({ weight: route.shapes?.body === undefined ? 1 : 10, arbitrary: make(route) })));
  const requests = weighed((route) => requestTo(route, about));
  const valid = weighed((route) => fc.constant(exampleOf(route, about)));
  return {
    'from the schemas': requests,
    'valid ones with something done to their bytes': fc.oneof(valid, requests).chain(mangled),
    'of odd targets, headers and bodies': oddRequest(about),
    'that are noise': fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: anyCharacter, minLength: 1 }).map((text) => Buffer.from(text)),
      fc
        .array(fc.constantFrom('GET ', '/ ', 'HTTP/1.1', '\r\n', '\n', '\r', ':', ' ', '\0', 'Host'), { minLength: 1 })
        .map((parts) => Buffer.from(parts.join(''))),
    ),
  };
}

/** A request to one route: params, query and body made from its schemas or its example. */
function requestTo(route: Route, about: Hostile): Bytes {
  const { params, querystring, body } = route.shapes ?? {};
  return fc
    .record({
      params:
        params === undefined
          ? fc.constant({})
          : fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, mostly(params)),
      query: querystring === undefined ? fc.constant({}) : fc.oneof(fc.constant(undefined), mostly(querystring)),
      body: body === undefined ? fc.constant(undefined) : bodyLike(route, body, about),
      // One that ends its session would leave the others without.
      credential: fc.constantFrom(...about.credentials.filter((one) => route.auth !== 'session' || !('Cookie' in one))),
    })
    .map(({ params, query, body, credential }) => {
      const [path = '', asked] = pathOf(route, about).split('?');
      const filled =
        params === undefined
          ? path
          : route.path.replace(/\{(\w+)\}/g, (whole, name) => encoded(Object(params)[name] ?? whole));
      const search =
        query === undefined
          ? asked
          : Object.entries(Object(query))
              .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
              .join('&');
      const target = search === undefined || search === '' ? filled : `${filled}?${search}`;
      return http(
        route.method,
        target,
        { ...credential, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        body ?? '',
      );
    });
}

function bodyLike(route: Route, schema: Schema, about: Hostile): fc.Arbitrary<string> {
  const example = bodyOf(route, about) ?? '';
  const json = mostly(schema).map((value) => JSON.stringify(withSlug(value, about)) ?? '');
  const changed = fc
    .tuple(fc.constantFrom(...pathsIn(parsed(example))), nasty)
    .map(([path, value]) => JSON.stringify(replaced(parsed(example), path, value)) ?? '');
  return fc.oneof(fc.constant(example), json, json, changed, changed, fc.string());
}

/** What is about a machine should be about the one that there is, or most of it would end at "not found". */
function withSlug(value: unknown, { slug }: About): unknown {
  return typeof value === 'object' &&
    value !== null &&
    'slug' in value &&
    typeof value.slug === 'string' &&
    value.slug.length % 2 === 0
    ? { ...value, slug }
    : value;
}

function pathsIn(value: unknown, path: readonly string[] = []): string[][] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[...path], ...inner.flatMap(([name, one]) => pathsIn(one, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy: any = Array.isArray(value) ? [...value] : { ...Object(value) };
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}

const named = (name: string, value: string): [string, string] => [name, value];

/** What the router, Node's parser or the proxy rules might stumble over. */
function oddRequest({ credentials, slug, contractId }: Hostile): Bytes {
  const methods = 'GET POST DELETE HEAD OPTIONS PUT PATCH TRACE CONNECT PRI QUERY get M-SEARCH';
  const method = fc.constantFrom(...methods.split(' '));
  const paths = routes.map(({ path }) => path);
  const target = fc.oneof(
    fc.constantFrom(...paths, ...'* // /..// /% /%ff /api/%2e%2e/ /api/clock? /api/clock?a=1&a=2 /?%'.split(' ')),
    fc.constant('http://127.0.0.1/api/clock'),
    fc.webPath(),
    fc.webPath().map((path) => `/api/chain/${slug}/contracts/${contractId}/gate/${path}?n=5&key=a&deny=503`),
    fc.string({ unit: 'grapheme-ascii', maxLength: 200 }).map((text) => `/${text.replaceAll(' ', '+')}`),
    fc.tuple(fc.constantFrom(...paths), fc.webQueryParameters()).map(([path, query]) => `${path}?${query}`),
  );
  const header = fc.oneof(
    fc.constantFrom(
      ...['chunked', 'gzip, chunked', 'x'].map((value) => named('Transfer-Encoding', value)),
      ...['-1', '99999999999999999999', '5', '0x1'].map((value) => named('Content-Length', value)),
      ...['100-continue', 'x'].map((value) => named('Expect', value)),
      ...['upgrade', 'close'].map((value) => named('Connection', value)),
      ...['application/json', 'application/json; charset=x', 'application/x-ndjson', '/'].map((value) =>
        named('Content-Type', value),
      ),
      ...['-1', '999999999999999'].map((value) => named('Last-Event-ID', value)),
      ...['weir_session=', ';;=;'].map((value) => named('Cookie', value)),
      ...['Bearer', 'Bearer \u00ff'].map((value) => named('Authorization', value)),
      ...['', 'a:b:c'].map((value) => named('Host', value)),
      ...Object.entries({
        ...{ Upgrade: 'websocket', 'Content-Encoding': 'gzip', Accept: 'text/event-stream', Origin: 'null' },
        ...{ 'X-Forwarded-For': '1.2.3.4, x', Range: 'bytes=0-', 'If-None-Match': '*', Forwarded: 'for="' },
      }),
    ),
    fc.constantFrom(...credentials.flatMap((of) => Object.entries(of))),
    fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,20}$/), fc.string({ unit: 'grapheme-ascii' })),
    fc.constant<[string, string]>(['X-Long', 'x'.repeat(20_000)]),
  );
  const body = fc.oneof(
    fc.constantFrom('', '{}', '{', '{"type":"request"}', 'fffffffffffffffff\r\n'),
    fc.constantFrom('0\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n'),
    fc.string(),
  );
  const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP', '');
  return fc
    .tuple(method, target, version, fc.array(header, { maxLength: 3 }), body)
    .map(([method, target, version, headers, body]) => {
      const head = [
        `${method} ${target} ${version}`,
        'Host: localhost',
        ...headers.map(([name, value]) => `${name}: ${value}`),
      ];
      return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
    });
}

/** Some places of the bytes changed, cut out, doubled, or with others put in. */
function mangled(bytes: Buffer): Bytes {
  const place = fc.nat(bytes.length);
  type Edit = (all: Buffer) => Buffer;
  /** What is before `end`, then `more`, then what is from `start` on. */
  const joined =
    (end: number, start: number, more = new Uint8Array()): Edit =>
    (all) =>
      Buffer.concat([all.subarray(0, end), more, all.subarray(start)]);
  const flipped =
    (at: number, bit: number): Edit =>
    (all) =>
      Buffer.from(all.map((byte, index) => (index === at ? byte ^ (1 << bit) : byte)));
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.tuple(place, fc.nat(7)).map(([at, bit]) => flipped(at, bit)),
    fc.tuple(place, fc.nat(40)).map(([at, n]) => joined(at, at + n)),
    fc.tuple(place, fc.nat(40)).map(([at, n]) => joined(at + n, at)),
    fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 8 })).map(([at, more]) => joined(at, at, more)),
    place.map((at) => joined(at, bytes.length)),
  );
  return fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) => edits.reduce<Buffer>((all, change) => Buffer.from(change(all)), bytes));
}

function exampleOf(route: Route, about: Hostile): Buffer {
  const body = bodyOf(route, about) ?? '';
  return http(
    route.method,
    pathOf(route, about),
    { ...about.credentials[0], ...(body === '' ? {} : { 'Content-Type': 'application/json' }) },
    body,
  );
}

function http(method: string, target: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const fields = {
    Host: 'localhost',
    ...headers,
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  const head = [`${method} ${target} HTTP/1.1`, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function encoded(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd'));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
