import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { GatewayDefinition } from '../../src/core/limiter/gateway-definition.js';
import { Failure } from '../../src/core/schema/failure.js';
import { keyIn } from '../../src/node/gateway-headers.js';
import { forAll } from '../draws.js';

type Source = NonNullable<GatewayDefinition['key']>;

/** @param lines as they were sent; several of one name are joined as Node.js joins them */
function read(lines: Record<string, string | readonly string[]>, source: Source): string {
  const each = Object.entries(lines).map(([name, value]) => [name, [value].flat()] as const);
  const headers = Object.fromEntries(each.map(([name, values]) => [name, values.join(', ')]));
  const rawHeaders = each.flatMap(([name, values]) => values.flatMap((value) => [name, value]));
  try {
    return keyIn({ headers, rawHeaders }, source);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.code}: ${error.why}`;
  }
}

const missing = 'gate_header_unusable: Its header x-forwarded-for is missing.';
const none = 'gate_header_unusable: Its header x-forwarded-for holds no key.';

it.each([
  [1, '198.51.100.2', '198.51.100.2'],
  [1, 'whatever a client sends, 198.51.100.2', '198.51.100.2'],
  [1, '203.0.113.7,198.51.100.2 ', '198.51.100.2'],
  [2, '10.0.0.1, 203.0.113.7, 198.51.100.2', '203.0.113.7'],
  [3, '10.0.0.1,203.0.113.7,198.51.100.2', '10.0.0.1'],
  [4, '10.0.0.1, 203.0.113.7, 198.51.100.2', missing],
  [2, ',198.51.100.2', none],
  [1, '198.51.100.2,', none],
  [1, '', none],
  [1, 'unknown', none],
  [1, '198.51.100.2:4711', '198.51.100.2'],
  [1, '[2001:db8:1:2:3::4]:4711', '2001:db8:1:2::/64'],
  [1, '[2001:db8:1:2:3::4]', '2001:db8:1:2::/64'],
  [1, '2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  [1, '::ffff:198.51.100.2', '198.51.100.2'],
  [1, '198.51.100.2.3', none],
  [1, "'; drop table", none],
])('%d trusted hops of "%s" give %s', (hops, list, key) => {
  expect(read({ 'x-forwarded-for': list }, { forwarded: { hops } })).toBe(key);
});

it('a missing address gives the key that the deploy names, if it names one; a wrong one never does', () => {
  const source: Source = { forwarded: { hops: 1 }, absent: 'anyone' };
  expect([read({}, source), read({ 'x-forwarded-for': 'x' }, source), read({}, { forwarded: { hops: 1 } })]).toEqual([
    'anyone',
    none,
    missing,
  ]);
});

it('a forwarded address may be in another header', () => {
  const source: Source = { forwarded: { hops: 1, header: 'X-Real-IP' } };
  expect(read({ 'x-real-ip': '198.51.100.2', 'x-forwarded-for': '10.0.0.1' }, source)).toBe('198.51.100.2');
});

const source: Source = { header: 'X-Api-Key' };

it.each([
  [{ 'x-api-key': 'alpha' }, 'alpha'],
  [{ 'x-api-key': ' alpha ' }, 'alpha'],
  [{ 'x-api-key': '' }, 'gate_header_unusable: Its header X-Api-Key holds no key.'],
  [{ 'x-api-key': ['alpha', 'x1'] }, 'gate_header_unusable: Its header X-Api-Key is sent 2 times.'],
  [{ 'x-api-key': ['alpha', 'alpha'] }, 'gate_header_unusable: Its header X-Api-Key is sent 2 times.'],
  [{ 'x-api-key': 'alpha, x1' }, 'gate_header_unusable: Its header X-Api-Key holds several values.'],
  [{ 'x-api-key': ',alpha' }, 'gate_header_unusable: Its header X-Api-Key holds several values.'],
  [{ 'x-api-key': 'a'.repeat(257) }, 'gate_header_unusable: Its header X-Api-Key holds no key.'],
  [{}, 'gate_header_unusable: Its header X-Api-Key is missing.'],
  [{ __proto__: 'x' }, 'gate_header_unusable: Its header X-Api-Key is missing.'],
])('the headers %j give %s', (headers, key) => {
  expect(read(headers, source)).toBe(key);
});

it.each([
  [undefined, '/orders/7?page=2', '/orders/7'],
  [undefined, 'https://shop.example/orders/7?page=2#top', '/orders/7'],
  [undefined, 'https://shop.example', 'gate_header_unusable: Its header X-Original-URI holds no key.'],
  [undefined, '/', '/'],
  [undefined, `/${'a'.repeat(400)}`, `/${'a'.repeat(255)}`],
  [1, '/orders/7/lines', '/orders'],
  [2, '/orders/7/lines', '/orders/7'],
  [5, '/orders/7', '/orders/7'],
  [1, '/?a=/b', '/'],
  [1, '//x', '/x'],
  [1, '//api', '/api'],
  [1, '/%61pi', '/api'],
  [1, '/%61%70%69/7', '/api'],
  [1, '/x/../api', '/api'],
  [1, '/x/%2e%2E/api', '/api'],
  [1, '/x%2f..%2Fapi', '/api'],
  [1, '/../../api', '/api'],
  [1, '/./%2e/api/.', '/api'],
  [undefined, '/api/', '/api'],
  [undefined, '/api/./v1/../', '/api'],
  [undefined, '/caf\u00c3\u00a9', '/caf%C3%A9'],
  [undefined, '/caf%c3%a9', '/caf%C3%A9'],
  [undefined, '/a%00b%0A', '/a%00b%0A'],
  [undefined, '/a%zz', '/a%zz'],
  [undefined, `/${'x/../'.repeat(2_000)}api`, '/api'],
  [undefined, '/API', '/API'],
  [undefined, '*', 'gate_header_unusable: Its header X-Original-URI holds no key.'],
  [undefined, '', 'gate_header_unusable: Its header X-Original-URI holds no key.'],
])('the path with %s segments of "%s" gives %s', (segments, uri, key) => {
  const source: Source = { uri: { header: 'X-Original-URI', ...(segments === undefined ? {} : { segments }) } };
  expect(read({ 'x-original-uri': uri }, source)).toBe(key);
});

it('a path that is sent twice is refused as a key', () => {
  expect(read({ 'x-original-uri': ['/a', '/b'] }, { uri: { header: 'X-Original-URI' } })).toBe(
    'gate_header_unusable: Its header X-Original-URI is sent 2 times.',
  );
});

it('a key by the path has one spelling, which is its own', () => {
  const source: Source = { uri: { header: 'X-Original-URI' } };
  const parts = ['api', '%61pi', 'x', '.', '..', '%2e', '', 'a%20b', '\u00e9', '%C3%A9'];
  forAll([fc.array(fc.constantFrom(...parts), { maxLength: 12 })], (drawn) => {
    const once = read({ 'x-original-uri': `/${drawn.join('/')}` }, source);
    expect(once).toMatch(/^\/(?!.*\/\/)/);
    expect(once.split('/').some((part) => part === '.' || part === '..')).toBe(false);
    expect(read({ 'x-original-uri': once }, source)).toBe(once);
  });
});
