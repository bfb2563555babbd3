// Files of nginx and HAProxy, as they are run and as they are read: each place of a file lets through what the reader says of it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveTo } from '../../../src/tools/gateway/limit-move.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { run, scenario, told } from '../../harness/live/asking.js';
import { type FileAt, haproxyFile, isInstalled, nginxFile, startedWith } from '../../harness/live/real-servers.js';
import { temporaryFolder } from '../../left-behind.js';
import type { Loopback } from '../../loopback.js';

interface Case {
  readonly program: 'nginx' | 'haproxy';
  readonly preset: string;
  readonly file: FileAt;
  /** Which place of the file each path meets. */
  readonly places: Readonly<Record<string, string>>;
}

const cases: Readonly<Record<string, Case>> = {
  'nginx: one zone in several locations, one that inherits, and one with its own': {
    program: 'nginx',
    preset: 'nginx',
    file: nginxFile(
      `limit_req_zone $binary_remote_addr zone=api:1m rate=8r/s;
  limit_req_zone $binary_remote_addr zone=login:1m rate=120r/m; # 5 a minute
  limit_req_status 429;`,
      `limit_req zone=api burst=9 nodelay;
    try_files /none @done;
    location = /api/login { limit_req zone=login nodelay; try_files /none @done; }
    location /slow/ {
      limit_req zone=api burst=4;
      location ~ \\.css$ { try_files /none @done; }
    }`,
    ),
    places: { '/api/login': 'location = /api/login', '/slow/a.css': 'location /slow/', '/other': 'server' },
  },
  'nginx: two zones in one location, and a key that is the same for all': {
    program: 'nginx',
    preset: 'nginx',
    file: nginxFile(
      `map $http_x_none $one { default 1; }
  limit_req_zone $binary_remote_addr zone=flood:1m rate=20r/s;
  limit_req_zone $one zone=all:1m rate=360r/m;
  limit_req_status 429;`,
      `location / {
      limit_req zone=flood burst=3 nodelay;
      limit_req zone=all burst=12 nodelay;
      try_files /none @done;
    }`,
    ),
    places: { '/': 'location /' },
  },
  'HAProxy: tables in backends, acls, gt and ge by path': {
    program: 'haproxy',
    preset: 'haproxy',
    file: haproxyFile(
      `acl is_api path_beg /api
  acl too_fast sc0_http_req_rate(api) gt 6
  http-request track-sc0 src table api if is_api
  http-request track-sc1 src table rest if !is_api
  http-request deny deny_status 429 if is_api too_fast
  http-request deny deny_status 429 if { sc1_http_req_rate(rest) ge 10 } { path / }`,
      `backend api
  stick-table type ipv6 size 1k expire 10s store http_req_rate(1s)
backend rest
  stick-table type ipv6 size 1k expire 10s store http_req_rate(1500ms)`,
    ),
    places: { '/api/a': 'frontend front, /api', '/': 'frontend front, /' },
  },
  'HAProxy: one table of a frontend': {
    program: 'haproxy',
    preset: 'haproxy',
    file: haproxyFile(
      `stick-table type ip size 100k expire 30s store http_req_rate(2s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 15 }`,
      '',
    ),
    places: { '/': 'frontend front' },
  },
};

const arrivals = {
  'a burst, silence, and a burst': `duration: 45\narrivals: [{ model: counts, counts: [0, 0, 25, 0, 0, 1, 0, 2, 0, 3, ${'0, '.repeat(15)}20, 0, 0, 0, 0, 12, 0, 0, 4, 4, 4] }]`,
  'a client that hammers': 'duration: 20\narrivals: [{ model: constant, rate: 3 }]',
};

const ATTEMPTS = 12;

// They wait most of the time; the places of one file are asked one after the other.
describe.concurrent.each(Object.entries(cases))('%s', (_, { program, preset, file, places }) => {
  let server: Loopback;
  let text = '';
  let wasAsked = false;
  beforeAll(async () => {
    if (!isInstalled(program)) return;
    server = await startedWith(program, (port, folder) => {
      text = file(port, folder);
      return text;
    });
  });
  afterAll(() => server?.close());

  (isInstalled(program) ? it.sequential : it.skip).each(Object.entries(places))(
    '%s is limited as %s',
    async (path, place) => {
      const read = limitersIn(text, program === 'nginx' ? 'nginx.conf' : 'haproxy.cfg');
      const own = read.places.find(({ where }) => where === place)!.limiters;
      expect(read.appliesTo({ host: '127.0.0.1', path })).toEqual(own);
      for (const asks of Object.values(arrivals))
        for (let tried = 1; ; tried += 1) {
          // What was sent before is forgotten: a counter of HAProxy has two periods.
          await new Promise((resolve) => setTimeout(resolve, wasAsked ? 4_200 : 0));
          wasAsked = true;
          const limiter = JSON.stringify({ paste: text, ...(read.places.length > 1 && { location: place }) });
          const target = `target: { preset: ${preset}, limited_status: [429], transport_ms: 60 }`;
          const asked = scenario(`cycle_ms: 100\ndrain: 5\n${target}\nlimiter: ${limiter}\n${asks}`);
          const { comparison } = told(await run(asked, { url: `${server.url}${path}` }));
          // A machine that is too busy says nothing of the target; a difference is one at once.
          expect(comparison.verdict, comparison.reason).not.toBe('node differs');
          if (comparison.verdict === 'agrees' || tried === ATTEMPTS) {
            expect(`${comparison.verdict} ${comparison.reason}`).toMatch(/^agrees|would fit too many limiters/);
            break;
          }
        }
    },
  );
});

describe.each([
  ['nginx', ['-t', '-c'], (text: string) => `events {}\nhttp {\n${text}}\n`],
  ['haproxy', ['-c', '-f'], (text: string) => text],
] as const)('%s', (as, words, whole) => {
  const limit = 'nginx.ingress.kubernetes.io/limit';
  const annotations = `{ ${limit}-rps: "5", ${limit}-rpm: "600", ${limit}-whitelist: 10.0.0.0/8 }`;
  const paths = '{ paths: [{ path: /a }, { path: /b, pathType: Exact }] }';
  const ingress = `kind: Ingress\nmetadata: { name: a, annotations: ${annotations} }\nspec: { rules: [{ host: a.example, http: ${paths} }] }\n`;
  const zone = 'limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;';
  const odd = `server_name .a.example www.* ~^x{2}[.]; location "/it's a" { limit_req zone=a; } location ~ '^/v\\d{1,2}/"(a|b)$' { limit_req zone=a; }`;
  it.runIf(isInstalled(as)).each([
    ['a.yaml', ingress],
    ['odd.conf', `${zone} server { ${odd} } server { location / { limit_req zone=a; } }`],
  ])('the program takes what `weir diff --as` writes for it, without a warning: %s', async (name, old) => {
    const { text } = await moveTo(as, limitersIn(old, name), 1, async () => undefined);
    const file = join(temporaryFolder(), 'written.conf');
    writeFileSync(file, whole(text));
    const { stderr } = spawnSync(as, [...words, file], { encoding: 'utf8' });
    const faults = stderr.split('\n').filter((line) => /\[(?:emerg|warn|ALERT|WARNING)\]/.test(line));
    expect(faults.filter((line) => !/bind\(\)|open\(\)|"user"/.test(line))).toEqual([]);
  });
});
