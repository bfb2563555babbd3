import { describe, expect, it } from 'vitest';
import type { GatewayDefinition } from '../../src/limiter/gateway-definition.js';
import { keyIn } from '../../src/node/gateway-headers.js';
import { Failure } from '../../src/schema/failure.js';

type Source = NonNullable<GatewayDefinition['key']>;

function read(headers: Record<string, string>, source: Source): string {
  try {
    return keyIn(headers, source);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.code}: ${error.why}`;
  }
}

describe('a key by the address that was forwarded', () => {
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
  ])('%d trusted hops of "%s": %s', (hops, list, key) => {
    expect(read({ 'x-forwarded-for': list }, { forwarded: { hops } })).toBe(key);
  });

  it('that is missing is that of the deploy, if it names one, and never a way around one that is wrong', () => {
    const source: Source = { forwarded: { hops: 1 }, absent: 'anyone' };
    expect([read({}, source), read({ 'x-forwarded-for': 'x' }, source), read({}, { forwarded: { hops: 1 } })]).toEqual([
      'anyone',
      none,
      missing,
    ]);
  });

  it('may be in another header', () => {
    const source: Source = { forwarded: { hops: 1, header: 'X-Real-IP' } };
    expect(read({ 'x-real-ip': '198.51.100.2', 'x-forwarded-for': '10.0.0.1' }, source)).toBe('198.51.100.2');
  });
});

describe('a key by a header', () => {
  const source: Source = { header: 'X-Api-Key' };

  it.each([
    [{ 'x-api-key': 'alpha' }, 'alpha'],
    [{ 'x-api-key': ' alpha ' }, 'alpha'],
    [{ 'x-api-key': '' }, 'gate_header_unusable: Its header X-Api-Key holds no key.'],
    [{ 'x-api-key': 'a'.repeat(257) }, 'gate_header_unusable: Its header X-Api-Key holds no key.'],
    [{}, 'gate_header_unusable: Its header X-Api-Key is missing.'],
    [{ __proto__: 'x' }, 'gate_header_unusable: Its header X-Api-Key is missing.'],
  ])('of %j: %s', (headers, key) => {
    expect(read(headers, source)).toBe(key);
  });
});

describe('a key by the path', () => {
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
    [1, '//x', '/'],
    [undefined, '*', 'gate_header_unusable: Its header X-Original-URI holds no key.'],
    [undefined, '', 'gate_header_unusable: Its header X-Original-URI holds no key.'],
  ])('with %s segments of "%s": %s', (segments, uri, key) => {
    const source: Source = { uri: { header: 'X-Original-URI', ...(segments === undefined ? {} : { segments }) } };
    expect(read({ 'x-original-uri': uri }, source)).toBe(key);
  });
});
