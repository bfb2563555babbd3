import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { findLimit, keyOf } from '../../../src/node/envoy/descriptor-limits.js';
import { readDescriptorLimits } from '../../../src/node/envoy/limits-file.js';
import { failureOf } from '../../failures.js';

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
])('the descriptor %s has the limit %s', (descriptor, path) => {
  expect(findLimit(root, entriesOf(descriptor))?.path).toBe(path);
});

it('a limit is a window that begins at multiples of its unit, everything, nothing, or another limiter', () => {
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

interface Action {
  readonly remote_address?: object;
  readonly header_value_match?: {
    readonly descriptor_key: string;
    readonly descriptor_value: string;
    readonly headers: readonly { readonly string_match: { readonly safe_regex: { readonly regex: string } } }[];
  };
}

const recipe = (name: string) => readFileSync(new URL(`../../../scenarios/recipes/${name}`, import.meta.url), 'utf8');
const { root: ofRecipe, domain } = readDescriptorLimits(recipe('envoy-limits.yaml'), 'envoy-limits.yaml', 777);
const [chain] = parse(recipe('envoy-rate-limit.yaml')).static_resources.listeners[0].filter_chains;
const { route_config: routes, ...manager } = chain.filters[0].typed_config;
const actions: Action[][] = routes.virtual_hosts[0].routes[0].route.rate_limits.map(
  (one: { actions: Action[] }) => one.actions,
);

/** What the Envoy of the recipe sends for a path, after it has normalised it: a header that does not match leaves its descriptor out. */
function sent(path: string): string[] {
  return actions.flatMap((all) => {
    const entries = all.map(({ remote_address: address, header_value_match: match }) => {
      if (address !== undefined) return 'remote_address=10.0.0.1';
      const { descriptor_key: key, descriptor_value: value, headers } = match!;
      // Envoy matches the whole value.
      const isMatch = headers.every(({ string_match: { safe_regex: of } }) =>
        new RegExp(`^(?:${of.regex})$`).test(path),
      );
      return isMatch ? `${key}=${value}` : undefined;
    });
    return entries.includes(undefined) ? [] : [entries.join(' ')];
  });
}

it.each([
  ['/', ['edge.remote_address']],
  ['/pay', ['edge.remote_address', 'edge.path_/pay.remote_address']],
  ['/pay?x=1', ['edge.remote_address', 'edge.path_/pay.remote_address']],
  ['/pay/', ['edge.remote_address', 'edge.path_/pay.remote_address']],
  ['/payments', ['edge.remote_address']],
  ['/search?q=a', ['edge.remote_address', 'edge.path_/search']],
])('the limits of the recipe hold for what its Envoy sends for %s', (path, limits) => {
  expect(sent(path).map((descriptor) => findLimit(ofRecipe, entriesOf(descriptor))?.path)).toEqual(limits);
});

it('the limits of the recipe are for its domain, and for one spelling of each path', () => {
  expect(manager).toMatchObject({ normalize_path: true, merge_slashes: true });
  expect(manager.http_filters[0].typed_config.domain).toBe(domain);
});

it('the key of a count is its value or all values, a hash for long ones, and that of no other descriptor', () => {
  const long = 'x'.repeat(1_000);
  const descriptors = ['a=1', `a=${long}`, 'a=', 'a=1,b=2 b=3', 'a=1 b=2,b=3', 'a=1 b=2', `a=${long} b=1`].map(
    entriesOf,
  );
  const keys = descriptors.map(keyOf);
  expect(keys[0]).toBe('1');
  expect(new Set(keys).size).toBe(descriptors.length);
  // A value that looks like the hash of another is no way into its count.
  expect(keyOf([{ key: 'a', value: keyOf(entriesOf(`a=${long}`)) }])).not.toBe(keyOf(entriesOf(`a=${long}`)));
  for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(256);
});

const one = (rest: string) => `domain: shop\ndescriptors:\n  - key: a\n    ${rest}\n`;

// biome-ignore format: one case a line
it.each([
    ['no domain', 'descriptors: []\n', /line 1, column 1.*(domain|descriptors)/],
    ['an unknown field', one('rate_limits: {}'), /line 4, column 5 .*rate_limits/],
    ['an unknown unit', one('rate_limit: { unit: fortnight, requests_per_unit: 1 }'), /line 4, .*must be one of "second", "minute"/],
    ['no number', one('rate_limit: { unit: second }'), /line 4, .*is required/],
    ['a number below 0', one('rate_limit: { unit: second, requests_per_unit: -1 }'), /line 4, /],
    ['a limit and none', one('rate_limit: { unlimited: true, unit: day }'), /cannot be combined/],
    ['a limiter that is none', one('rate_limit: { limiter: { primitive: gcra } }'), /line 4, .*limiter/],
    ['an entry twice', 'domain: shop\ndescriptors:\n  - key: a\n  - key: a\n', /line 4, .*twice/],
    ['a domain that is no slug', 'domain: Shop\ndescriptors:\n  - key: a\n', /line 1, .*machine/],
    ['too deep', `domain: a\ndescriptors: ${'[{key: a, descriptors: '.repeat(17)}[{key: a}]${'}]'.repeat(17)}\n`, /more than 16 deep/],
  ])('limits that cannot be read are refused with the line: %s', (_, text, why) => {
    expect(failureOf(() => readDescriptorLimits(text, 'shop.yaml', 777))?.why).toMatch(why);
  });
