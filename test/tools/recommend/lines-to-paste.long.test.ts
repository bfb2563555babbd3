// The lines that `weir recommend` prints, pasted into real servers: the limit is there.
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { ratePerMs } from '../../../src/core/limiter/rule/rule-definition.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { linesToPaste } from '../../../src/tools/recommend/lines-to-paste.js';
import { linesAs, otherProducts } from '../../../src/tools/recommend/other-products.js';
import { isInstalled, startHaproxy, startNginx } from '../../harness/live/real-servers.js';
import type { Loopback } from '../../loopback.js';

const keys = [undefined, 'client', 'forwarded', 'path', 'method', 'user'] as const;
const linesOf = (product: string, key: string | undefined) =>
  linesToPaste({ threshold: 5, within: 60, cycleMs: 777, key }).find((one) => one.product === product)!.lines;

let server: Loopback | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Statuses of eight requests at once after each other, of one client. */
async function statuses(path = '/a'): Promise<number[]> {
  const headers = { 'x-forwarded-for': '203.0.113.9', authorization: `Basic ${btoa('ann:secret')}` };
  const seen: number[] = [];
  for (let i = 0; i < 8; i += 1) {
    const { status, body } = await fetch(`${server!.url}${path}`, { headers, signal: AbortSignal.timeout(20_000) });
    await body?.cancel();
    seen.push(status);
  }
  return seen;
}

const fiveOfEight = [...Array(5).fill(200), ...Array(3).fill(429)];

describe.skipIf(!isInstalled('nginx'))('lines for nginx', () => {
  it.each(keys)('nginx limits what it is told, by %s', async (key) => {
    const [zone = '', ...rest] = linesOf('nginx', key);
    server = await startNginx([zone], { '/a': rest.join(' ') });
    expect(await statuses()).toEqual(fiveOfEight);
  });
});

describe.skipIf(!isInstalled('haproxy'))('lines for HAProxy', () => {
  it.each(keys)('HAProxy limits what it is told, by %s', async (key) => {
    server = await startHaproxy([], linesOf('HAProxy', key));
    expect(await statuses()).toEqual(fiveOfEight);
  });
});

/** As envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit and its parts are documented. */
const bucket = { max_tokens: 5, tokens_per_fill: 5, fill_interval: '46.62s' };
const always = { default_value: { numerator: 100, denominator: 'HUNDRED' } };
const common = {
  '@type': 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
  stat_prefix: 'weir',
  filter_enabled: always,
  filter_enforced: always,
};

it.each([
  [undefined, { ...common, token_bucket: bucket }],
  [
    'client',
    {
      ...common,
      // The interval of a descriptor is a multiple of this one.
      token_bucket: { max_tokens: 1_000_000, tokens_per_fill: 1_000_000, fill_interval: '46.62s' },
      rate_limits: [{ actions: [{ remote_address: {} }] }],
      descriptors: [{ entries: [{ key: 'remote_address' }], token_bucket: bucket }],
    },
  ],
])('the filter of Envoy has the documented shape, by %s', (key, typed_config) => {
  const filter = parse(linesOf('Envoy', key).join('\n'));
  expect(filter).toEqual({ name: 'envoy.filters.http.local_ratelimit', typed_config });
});

const limits = [
  { threshold: 5, within: 60, cycleMs: 777 },
  { threshold: 100, within: 1, cycleMs: 1000 },
  { threshold: 75, within: 1, cycleMs: 250 },
  { threshold: 221, within: 2, cycleMs: 650 },
  { threshold: 2000, within: 60, cycleMs: 60_000 },
];
const fileOf = (product: string) => `limit.${product.startsWith('terraform') ? 'tf' : 'yaml'}`;
it.each(Object.keys(otherProducts))('the file of %s is read as the limit, at its rate or a little above', (product) => {
  for (const limit of limits)
    for (const key of ['client', undefined]) {
      const { lines, differs } = linesAs(product, { ...limit, key });
      const { limiters, notApplied } = limitersIn(lines.join('\n'), fileOf(product));
      const perMs = limit.threshold / (limit.within * limit.cycleMs);
      const share = ratePerMs(definitionOf(limiters[0]!.limit, 777))! / perMs;
      expect([limiters.length, notApplied.length, /^(?!.* a hour).{20}/.test(differs)]).toEqual([1, 0, true]);
      // Keys of an API are in no log; Traefik knows no key for all but the host.
      const all = product === 'traefik' ? ['host'] : [];
      const { parts } = limiters[0]!.key;
      if (parts !== undefined) expect(parts).toEqual(key === undefined ? all : ['client']);
      // Whole requests per second, or per the nearest unit; whole seconds of a window.
      expect(share).toBeGreaterThan(0.98);
      expect(share * perMs * 1000).toBeLessThan(perMs * 1000 * 1.05 + 1);
    }
});

it('a file says what is to be put where the key is another', () => {
  const differs = (product: string, key: string) => linesAs(product, { ...limits[0]!, key }).differs;
  expect(differs('kong', 'user')).toContain('what "user" is there');
  expect(differs('kong', 'client')).not.toContain('put in');
  expect(differs('traefik', 'client')).toContain('for 10 s is forgotten, and has all 5');
  // 385 at once and a request each minute of the day: nginx knows no slower rate.
  const [, nginx] = linesToPaste({ threshold: 385, within: 86_400, cycleMs: 1000, key: 'client' });
  expect(nginx!.differs).toContain('up to 1825 in a window');
});
