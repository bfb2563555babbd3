// `weir replay --limit FILE` with a file of a gateway: each request meets the limits that it would meet there, as `weir diff` has it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { temporaryFiles } from '../left-behind.js';
import { weirHere } from './command-line.js';

const { folder, file: write } = temporaryFiles();
const weir = (...args: string[]) => weirHere(args, {}, '', folder);

/** Sixty requests of three clients, twenty a second: every third a POST, every fifth to /login. */
const rows = Array.from({ length: 60 }, (_, i) => {
  const time = `2026-03-01T09:00:0${Math.floor(i / 20)}.${String((i % 20) * 50).padStart(3, '0')}Z`;
  const client = `192.0.2.${1 + (i % 4 === 0 ? 0 : i % 2)}`;
  return {
    time,
    client,
    method: i % 3 === 0 ? 'POST' : 'GET',
    path: i % 5 === 0 ? '/login' : `/p/${i % 7}`,
    status: 200,
  };
});

write('access.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
write('none.conf', 'server { location / { return 200; } }\n');
mkdirSync(join(folder, 'deploy'));
mkdirSync(join(folder, 'deploy/sites-enabled'));
write(
  'deploy/nginx.conf',
  'http {\n limit_req_zone $binary_remote_addr zone=in:1m rate=1r/m;\n include sites-enabled/*;\n}\n',
);
write('deploy/sites-enabled/shop', 'server { location / { limit_req zone=in burst=6 nodelay; } }\n');

const outcomeOf = async (...args: string[]): Promise<Outcome> => {
  const { out, err } = await weir('replay', 'access.ndjson', ...args, '--json', '--out', 'none');
  expect(err).toBe('');
  return JSON.parse(out);
};

const zone = (key: string, name = 'z') => `limit_req_zone ${key} zone=${name}:1m rate=1r/m;\n`;
const ofLocation = (path: string, burst: number, name = 'z') =>
  `location ${path} { limit_req zone=${name} ${burst === 0 ? '' : `burst=${burst} nodelay`}; }`;
const ADDRESS = '$binary_remote_addr';
const TWO = `${zone(ADDRESS, 'all')}${zone(ADDRESS, 'login')}server {\n ${ofLocation('/', 9, 'all')}\n ${ofLocation('/login', 1, 'login')}\n}\n`;

const clients = new Set(rows.map(({ client }) => client)).size;
const of = (fits: (row: (typeof rows)[number]) => boolean) => rows.filter(fits).length;
/** Refused of a limit that admits `most` of each client. */
const beyond = (most: number, fits: (row: (typeof rows)[number]) => boolean = () => true) =>
  [...new Set(rows.map(({ client }) => client))].reduce(
    (sum, client) => sum + Math.max(0, of((row) => row.client === client && fits(row)) - most),
    0,
  );
const isLogin = ({ path }: { path: string }) => path === '/login';
const isPost = ({ method }: { method: string }) => method === 'POST';

it.each<[what: string, name: string, text: string, refused: number]>([
  ['each client by its own', 'a.conf', `${zone(ADDRESS)}server { ${ofLocation('/', 4)} }`, beyond(5)],
  ['all together', 'a.conf', `${zone('"all"')}server { ${ofLocation('/', 4)} }`, rows.length - 5],
  ['one location', 'a.conf', `${zone(ADDRESS)}server { ${ofLocation('= /login', 2)} }`, beyond(3, isLogin)],
  ['two locations', 'a.conf', TWO, beyond(2, isLogin) + beyond(10, (row) => !isLogin(row))],
  [
    'a map of methods',
    'a.conf',
    `map $request_method $k { default ""; POST ${ADDRESS}; }\n${zone('$k')}server { ${ofLocation('/', 2)} }`,
    beyond(3, isPost),
  ],
  [
    'a key of two parts',
    'a.conf',
    `${zone(`${ADDRESS}$uri`)}server { ${ofLocation('= /login', 0)} }`,
    of(isLogin) - clients,
  ],
  ['no request', 'a.conf', `${zone(ADDRESS)}server { ${ofLocation('/other', 4)} }`, 0],
  [
    'an acl',
    'a.cfg',
    'frontend f\n  stick-table type ip size 1k expire 9m store http_req_rate(5m)\n  http-request track-sc0 src if METH_POST\n  http-request deny if METH_POST { sc_http_req_rate(0) gt 4 }\n',
    beyond(4, isPost),
  ],
  [
    'a router',
    'a.yml',
    'http:\n  middlewares: { m: { rateLimit: { average: 1, period: 1h, burst: 3 } } }\n  routers:\n    r: { rule: "Path(`/login`)", middlewares: [m] }\n',
    beyond(3, isLogin),
  ],
  ['a dry run', 'a.conf', `${zone(ADDRESS)}server { limit_req_dry_run on; ${ofLocation('/', 4)} }`, 0],
])('a replay and a difference to no limits refuse the same requests: %s', async (_, name, text, refused) => {
  write(name, text);
  const { limited, limits = [], contracts } = await outcomeOf('--limit', name);
  const { out } = await weir('diff', 'none.conf', name, '--log', 'access.ndjson', '--json');
  expect([limited, JSON.parse(out).newly_refused]).toEqual([refused, refused]);
  expect([limits.reduce((sum, one) => sum + one.limited, 0), contracts]).toEqual([refused, clients]);
});

it('weir replay --limit follows includes of a file, and reads a folder', async () => {
  for (const path of ['deploy/nginx.conf', './deploy', 'deploy'])
    expect((await outcomeOf('--limit', path)).limited).toBe(beyond(7));
});

it('weir replay --limit takes one place of several', async () => {
  write('a.conf', TWO);
  const { limited, limits } = await outcomeOf('--limit', 'a.conf at location /login');
  expect([limited, limits?.map(({ where }) => where)]).toEqual([beyond(2, isLogin), ['location /login']]);
  const { out } = await weir('replay', 'access.ndjson', '--limit', 'a.conf at location /nowhere', '--json');
  expect(JSON.parse(out)).toMatchObject({
    code: 'invalid_definition',
    why: expect.stringContaining('location /login'),
  });
});

it('weir replay --limit holds requests that nginx delays', async () => {
  write(
    'a.conf',
    `limit_req_zone ${ADDRESS} zone=z:1m rate=5r/s;\nserver { location / { limit_req zone=z burst=50; } }\n`,
  );
  const { limited, delayed, delay_ms } = await outcomeOf('--limit', 'a.conf');
  expect([limited, delayed! > 0, delay_ms!.max > 100]).toEqual([0, true, true]);
});

it('the answer of a replay is titled by its limit, and names it with its place, key and line', async () => {
  write(
    'api.conf',
    `limit_req_zone ${ADDRESS} zone=api:1m rate=1r/s;\n\nserver { ${ofLocation('/login', 2, 'api')} }\n`,
  );
  const { out } = await weir('replay', 'access.ndjson', '--limit', 'api.conf', '--out', 'none');
  expect(out).toMatch(/^api: 1r\/s burst 2 nodelay \(api\.conf:3\), access\.ndjson$/m);
  expect(out).toMatch(/^\d+ of 60 \([\d.]+ %\) refused, all of 2 clients, 09:00\.$/m);
  expect(out).toMatch(/^api: 1r\/s burst 2 nodelay +location \/login +\$binary_remote_addr +api\.conf:3 +12 +\d$/m);
  expect(out).not.toMatch(/limit_req|window count|threshold/);
});

it('the answer of a replay lists the limits that refuse most first', async () => {
  write('a.conf', TWO);
  const { out } = await weir('replay', 'access.ndjson', '--limit', 'a.conf', '--out', 'none');
  expect(out).toContain('Limits of a.conf, access.ndjson\n');
  const { limits } = await outcomeOf('--limit', 'a.conf');
  expect(limits?.map(({ name, requests, limited }) => [name, requests, limited])).toEqual([
    ['all', of((row) => !isLogin(row)), beyond(10, (row) => !isLogin(row))],
    ['login', of(isLogin), beyond(2, isLogin)],
  ]);
});

it('the answer of a replay begins with what could not be judged', async () => {
  write(
    'a.conf',
    `${zone('$cookie_user', 'users')}${zone(ADDRESS, 'all')}server { ${ofLocation('/', 4, 'all')} ${ofLocation('/login', 1, 'users')} }`,
  );
  const { out } = await weir('replay', 'access.ndjson', '--limit', 'a.conf', '--out', 'none');
  const words = out.replaceAll(/\s+/g, ' ');
  const n = beyond(5, (row) => !isLogin(row));
  expect(words).toContain(
    `access.ndjson 1 limit could not be judged: its key is a cookie, which this log has not. ${n} of 60`,
  );
  expect(words).toContain('refused by the other limits, all of 2 clients');
  expect((await outcomeOf('--limit', 'a.conf')).limits).toMatchObject([
    { name: 'all', limited: n },
    { name: 'users', limited: 0, not_judged: 'its key is a cookie, which this log has not' },
  ]);
  write('a.conf', `${zone('$cookie_user')}server { ${ofLocation('/', 1)} }`);
  const { out: none } = await weir('replay', 'access.ndjson', '--limit', 'a.conf', '--out', 'none');
  expect(none).toMatch(
    /^1 limit could not be judged: its key is a cookie, which this log has not\. 60 requests read\.$/m,
  );
  expect((await outcomeOf('--limit', 'a.conf', '--key', 'client')).limited).toBe(beyond(2));
});

it('the answer of a replay says which lines are not understood', async () => {
  write('a.conf', `${zone(ADDRESS)}limit_req_zone oops;\nserver { ${ofLocation('/', 4)} }`);
  expect((await outcomeOf('--limit', 'a.conf')).notes).toEqual([expect.stringMatching(/^a\.conf:2: /)]);
});

it('the answer of a replay is a report that weir report shows', async () => {
  write('a.conf', TWO);
  const { code } = await weir('replay', 'access.ndjson', '--limit', 'a.conf', '--out', 'report');
  const shown = await weir('report', 'report/outcome.json');
  expect([code, shown.code]).toEqual([0, 0]);
  expect(shown.out).toContain('Limits of a.conf');
});

it.each([
  ['several limits', ['--limit', 'b.conf'], 'weir diff a.conf b.conf --log'],
  ['words beside it', ['--limit', '5 in 60s'], 'weir diff'],
  ['a live node', ['--live'], '--live has no effect with a file of a gateway'],
  ['lines to write', ['--refused', 'x.ndjson'], '--refused has no effect with'],
  ['costs', ['--count', 'tokens'], '--count tokens has no effect with files of gateways'],
])('a file of a gateway is refused with %s', async (_, args, words) => {
  for (const name of ['a.conf', 'b.conf']) write(name, TWO);
  const { code, err } = await weir('replay', 'access.ndjson', '--limit', 'a.conf', ...args);
  expect([code, err.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(words)]);
});

it('a file without a limit is refused', async () => {
  const { code, err } = await weir('replay', 'access.ndjson', '--limit', 'none.conf');
  expect([code, err]).toEqual([2, expect.stringContaining('No limit is read from none.conf.')]);
  write('bad.conf', `limit_req_zone $remote_addr zone=z:1m rate=0r/s;\nserver { location / { limit_req zone=z; } }\n`);
  const bad = await weir('replay', 'access.ndjson', '--limit', 'bad.conf');
  expect([bad.code, bad.err]).toEqual([
    2,
    expect.stringMatching(/^weir: bad\.conf:1: the rate 0r\/s .*No limit is read/s),
  ]);
});
