// Real limiters, each with what an identification has to find.
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isInstalled,
  startExpress,
  started,
  startFastify,
  startFlexible,
  startFlexibleOnRedis,
  startHaproxy,
  startNginx,
} from '../../harness/live/real-servers.js';
import { freePort, type Loopback } from '../../loopback.js';
import { gateOf } from '../../node/caller.js';
import { startRunning } from '../../node/running.js';

export interface Real {
  readonly name: string;
  readonly start: () => Promise<Loopback & { readonly headers?: Readonly<Record<string, string>> }>;
  /** Statuses that mean limited. */
  readonly status?: readonly number[];
  /** Structure, limit, and window or time of a token in ms. */
  readonly is: readonly [structure: string, limit: number, spanMs: number];
}

const nginx = (rate: string, more: string, is: Real['is']): Real => ({
  name: `nginx rate=${rate} ${more}`,
  start: () =>
    startNginx([`limit_req_zone $request_uri zone=z:1m rate=${rate};`], { '/': `limit_req zone=z ${more};` }),
  status: [503],
  is,
});

const haproxy = (name: string, store: string, rules: readonly string[], is: Real['is']): Real => ({
  name: `HAProxy ${name}`,
  start: () =>
    startHaproxy(
      [`backend table\n  stick-table type string size 1k ${store}`],
      ['http-request track-sc0 path table table', ...rules],
    ),
  is,
});

const deny = 'http-request deny deny_status 429 if';

// biome-ignore format: one limiter a line
export const reals: readonly Real[] = [
  ...when('nginx', () => [
    nginx('10r/s', '', ['bucket', 1, 100]),
    nginx('10r/s', 'burst=5 nodelay', ['bucket', 6, 100]),
    nginx('10r/s', 'burst=5', ['queue/0', 6, 100]),
    nginx('10r/s', 'burst=5 delay=2', ['queue/2', 6, 100]),
    nginx('60r/m', 'burst=2 nodelay', ['bucket', 3, 1000]),
    nginx('5r/s', 'burst=20 nodelay', ['bucket', 21, 200]),
  ]),
  ...when('haproxy', () => [
    haproxy('http_req_rate', 'expire 60s store http_req_rate(1s)',
      [`${deny} { sc0_http_req_rate(table) gt 10 }`], ['counter-refused', 10, 1000]),
    haproxy('gpc0_rate', 'expire 60s store gpc0,gpc0_rate(1s)',
      [`${deny} { sc0_gpc0_rate(table) ge 10 }`, 'http-request sc-inc-gpc0(0)'], ['counter-floor', 10, 1000]),
    haproxy('http_req_cnt', 'expire 1s store http_req_cnt',
      [`${deny} { sc0_http_req_cnt(table) gt 10 }`], ['fixed-elastic', 10, 1000]),
  ]),
  { name: 'express-rate-limit', start: () => startExpress(1000, 10), is: ['fixed', 10, 1000] },
  { name: '@fastify/rate-limit', start: () => startFastify(1000, 10), is: ['fixed', 10, 1000] },
  { name: 'rate-limiter-flexible in memory', start: () => startFlexible(10, 1), is: ['fixed', 10, 1000] },
  ...when('redis-server', () => [
    { name: 'rate-limiter-flexible on Redis', start: startFlexibleOnRedis, is: ['fixed', 10, 1000] },
  ]),
  { name: 'the gate of our own node', start: () => startGate(10, 4, 500), is: ['cycles/4', 10, 2000] },
  ...(hasVsthrottle() ? [{ name: 'Varnish vsthrottle', start: startVarnish, is: ['bucket-whole', 10, 100] as const }] : []),
];

function when(program: string, limiters: () => Real[]): Real[] {
  return isInstalled(program) ? limiters() : [];
}

/** The gate of our own node: a threshold within a rolling window of so many cycles. */
async function startGate(threshold: number, within: number, cycleMs: number) {
  const node = await startRunning({ cycleMs });
  const owner = node.owner();
  const gate = gateOf('gate', await owner.contractOn('gate', { threshold, within }));
  return {
    url: `${node.url}${gate}`,
    headers: { authorization: `Bearer ${owner.key}` },
    close: () => node.close(),
  };
}

function hasVsthrottle(): boolean {
  return isInstalled('varnishd') && spawnSync('find', ['/usr/lib', '-name', 'libvmod_vsthrottle.so']).stdout.length > 0;
}

async function startVarnish(): Promise<Loopback> {
  const port = await freePort();
  return started(
    'varnishd',
    (folder) => {
      // Its child is another user.
      chmodSync(folder, 0o755);
      const file = join(folder, 'own.vcl');
      writeFileSync(
        file,
        `vcl 4.1;
import vsthrottle;
backend none none;
sub vcl_recv {
  if (vsthrottle.is_denied("key", 10, 1s)) { return (synth(429, "limited")); }
  return (synth(200, "done"));
}
`,
      );
      return ['-F', '-a', `127.0.0.1:${port}`, '-f', file, '-n', folder, '-s', 'malloc,16m'];
    },
    port,
  );
}
