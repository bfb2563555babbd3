import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findLimit, keyOf } from '../../../src/node/envoy/descriptor-limits.js';
import { readDescriptorLimits } from '../../../src/node/envoy/limits-file.js';
import { Failure } from '../../../src/schema/failure.js';

const shop = `
domain: shop
descriptors:
  - key: path
    value: /pay
    rate_limit: { unit: second, requests_per_unit: 7 }
    descriptors:
      - key: user
        rate_limit: { unit: minute, requests_per_unit: 5 }
      - key: user
        value: banned
        rate_limit: { unit: day, requests_per_unit: 0 }
  - key: path
    value: /p*
    rate_limit: { unit: HOUR, requests_per_unit: 100 }
  - key: path
    value: /po*
    rate_limit: { unlimited: true }
  - key: path
    shadow_mode: true
    rate_limit: { name: any, unit: day, requests_per_unit: 9 }
  - key: tenant
    descriptors:
      - key: path
        rate_limit: { limiter: { primitive: gcra, params: { T_ms: 100, tau_ms: 0 } } }
`;

const entriesOf = (text: string) =>
  text.split(' ').map((entry) => {
    const [key = '', value = ''] = entry.split('=');
    return { key, value };
  });

describe('the limit of a descriptor', () => {
  const { root } = readDescriptorLimits(shop, 'shop.yaml', 777);

  it.each([
    ['path=/pay', 'shop.path_/pay'],
    ['path=/pay user=ann', 'shop.path_/pay.user'],
    ['path=/pay user=banned', 'shop.path_/pay.user_banned'],
    ['path=/pa', 'shop.path_/p*'],
    ['path=/pot', 'shop.path_/po*'],
    ['path=/other', 'shop.path'],
    ['tenant=a path=/pay', 'shop.tenant.path'],
    // Only the last entry decides, and every entry has to be there.
    ['tenant=a', undefined],
    ['path=/pay user=ann more=1', undefined],
    ['path=/other user=ann', undefined],
    ['user=ann', undefined],
    ['constructor=a', undefined],
  ])('%s', (descriptor, path) => {
    expect(findLimit(root, entriesOf(descriptor))?.path).toBe(path);
  });

  it('is a window that begins at multiples of its unit, everything, nothing, or another limiter', () => {
    const of = (descriptor: string) => findLimit(root, entriesOf(descriptor));
    const params = { limit: 5, window_ms: 60_000, align: 'epoch', count_refused: true };
    expect(of('path=/pay user=ann')).toMatchObject({
      perUnit: { requests: 5, unit: 'minute' },
      isShadow: false,
      definition: { name: 'shop_path__pay_user', rule: { primitive: 'fixed_window', params } },
    });
    expect(of('path=/pot')).toMatchObject({ perUnit: undefined, definition: undefined });
    expect(of('path=/pay user=banned')).toMatchObject({ perUnit: { requests: 0 }, definition: undefined });
    expect(of('path=/other')).toMatchObject({ name: 'any', isShadow: true });
    expect(of('tenant=a path=/')).toMatchObject({ perUnit: undefined, definition: { rule: { primitive: 'gcra' } } });
  });
});

describe('the limits of the recipe', () => {
  it('fit what the Envoy of the recipe sends for a request', () => {
    const file = new URL('../../../scenarios/recipes/envoy-limits.yaml', import.meta.url);
    const { root, domain } = readDescriptorLimits(readFileSync(file, 'utf8'), 'envoy-limits.yaml', 777);
    const sent = ['remote_address=10.0.0.1', 'path=/pay remote_address=10.0.0.1', 'path=/pay', 'path=/search'];
    expect([domain, ...sent.map((descriptor) => findLimit(root, entriesOf(descriptor))?.path)]).toEqual([
      'edge',
      'edge.remote_address',
      'edge.path_/pay.remote_address',
      undefined,
      'edge.path_/search',
    ]);
  });
});

describe('the key of a count', () => {
  it('is the value, or all values, and for long ones a hash; no two descriptors of a limit have the same', () => {
    const long = 'x'.repeat(1_000);
    const descriptors = ['a=1', `a=${long}`, 'a=1,b=2 b=3', 'a=1 b=2,b=3', 'a=1 b=2', `a=${long} b=1`].map(entriesOf);
    const keys = descriptors.map(keyOf);
    expect(keys[0]).toBe('1');
    expect(new Set(keys).size).toBe(descriptors.length);
    // A value that looks like the hash of another is no way into its count.
    expect(keyOf([{ key: 'a', value: keyOf(entriesOf(`a=${long}`)) }])).not.toBe(keyOf(entriesOf(`a=${long}`)));
    for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(256);
  });
});

describe('limits that cannot be read are refused with the line', () => {
  const one = (rest: string) => `domain: shop\ndescriptors:\n  - key: a\n    ${rest}\n`;

  it.each([
    ['no domain', 'descriptors: []\n', /line 1, column 1.*(domain|descriptors)/],
    ['an unknown field', one('rate_limits: {}'), /line 4, column 5 .*rate_limits/],
    [
      'an unknown unit',
      one('rate_limit: { unit: fortnight, requests_per_unit: 1 }'),
      /line 4, .*must be one of second/,
    ],
    ['no number', one('rate_limit: { unit: second }'), /line 4, .*is required/],
    ['a number below 0', one('rate_limit: { unit: second, requests_per_unit: -1 }'), /line 4, /],
    ['a limit and none', one('rate_limit: { unlimited: true, unit: day }'), /cannot be combined/],
    ['a limiter that is none', one('rate_limit: { limiter: { primitive: gcra } }'), /line 4, .*limiter/],
    ['an entry twice', 'domain: shop\ndescriptors:\n  - key: a\n  - key: a\n', /line 4, .*twice/],
    ['a domain that is no slug', 'domain: Shop\ndescriptors:\n  - key: a\n', /line 1, .*machine/],
    [
      'too deep',
      `domain: a\ndescriptors: ${'[{key: a, descriptors: '.repeat(17)}[{key: a}]${'}]'.repeat(17)}\n`,
      /more than 16 deep/,
    ],
  ])('%s', (_, text, why) => {
    let failure: unknown;
    try {
      readDescriptorLimits(text, 'shop.yaml', 777);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Failure);
    expect((failure as Failure).why).toMatch(why);
  });
});
