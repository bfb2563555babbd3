// `weir diff` as a gate: what a change newly refuses where conditions, includes and keys decide, and what could not be judged.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { weirHere } from '../../cli/command-line.js';
import { temporaryFiles } from '../../left-behind.js';

const { folder, file: write } = temporaryFiles();
const weir = (...args: string[]) => weirHere(['diff', ...args], {}, '', folder);
const gate = (old: string, fresh: string, log = 'access.log') =>
  weir(old, fresh, '--log', log, '--newly-refused-below', '1%', '--json');

/** Forty requests of one client, ten a second, every fourth a POST. */
const row = (i: number, url = '/a') =>
  `192.0.2.7 - - [01/Jan/2026:00:00:0${Math.floor(i / 10)} +0000] "${i % 4 === 0 ? 'POST' : 'GET'} ${url} HTTP/1.1" 200 10 "-" "x"`;
const forty = Array.from({ length: 40 }, (_, i) => i);
const nginx = (key: string, burst: number, location = '') =>
  `limit_req_zone ${key} zone=z:10m rate=1r/m;\nserver { ${location} location / { limit_req zone=z burst=${burst} nodelay; } }\n`;

write('access.log', `${forty.map((i) => row(i)).join('\n')}\n`);
write('paths.log', `${forty.map((i) => row(i, `/p${i % 20}?q=${i % 5}`)).join('\n')}\n`);
write('none.conf', 'server { location / { return 200; } }\n');

const map = (from: string, rows: string) => `map ${from} $key { ${rows} }\n`;

// biome-ignore format: one case a line
it.each([
  ['a map of methods', 'a.conf', map('$request_method', 'default ""; POST $binary_remote_addr;') + nginx('$key', 4), 5],
  ['a map of agents', 'a.conf', map('$http_user_agent', 'default ""; ~bot $binary_remote_addr;') + nginx('$key', 4), 0],
  ['what is counted of all and refused of some', 'a.cfg', 'frontend f\n  stick-table type ip size 1k expire 2m store http_req_rate(60s)\n  http-request track-sc0 src\n  http-request deny if METH_POST { sc_http_req_rate(0) gt 20 }\n', 5],
])('a condition that the log shows decides request by request: %s', async (_, name, text, newly_refused) => {
  write(name, text);
  const { out, code } = await gate('none.conf', name);
  expect([JSON.parse(out).newly_refused, code]).toEqual([newly_refused, newly_refused > 0 ? 1 : 0]);
});

it.each([
  ['$binary_remote_addr$uri', 40 - 20],
  ['$binary_remote_addr$request_uri', 40 - 20],
  ['$server_name$binary_remote_addr', 40 - 1],
  ['$request_method$http_user_agent', 40 - 2],
  ['$arg_q', 40 - 5],
  ['$http_referer', 0],
])('requests are counted by a key of several parts: %s', async (key, newly_refused) => {
  write('key.conf', nginx(key, 1).replace('burst=1 nodelay', ''));
  const { out } = await gate('none.conf', 'key.conf', 'paths.log');
  expect(JSON.parse(out)).toMatchObject({ newly_refused, unjudged: [] });
});

it.each([
  ['a key', nginx('$cookie_id', 4), 'its key is a cookie, which this log has not'],
  [
    'a condition',
    map('$http_x_key', '"" $binary_remote_addr;') + nginx('$key', 4),
    'its key is the header x-key, which this log has not',
  ],
  [
    'requests in flight',
    'limit_conn_zone $binary_remote_addr zone=c:1m;\nserver { limit_conn c 1; }',
    'it limits requests in flight, and a log does not say how long each took',
  ],
])('what could not be judged is said first, and is never green: %s', async (_, text, why) => {
  write('dark.conf', text);
  const { out, code } = await weir('none.conf', 'dark.conf', '--log', 'access.log', '--newly-refused-below', '1%');
  const lines = out.split('\n').join(' ').replace(/\s+/g, ' ');
  expect(code).toBe(4);
  expect(lines).toContain(`Limits of dark.conf 1 limit could not be judged: ${why}. 1 limit added.`);
  expect(lines).not.toContain('Newly refused: nothing');
});

it('a limit that stays as it is, and one that is removed, need no judgement', async () => {
  write('dark.conf', nginx('$cookie_id', 4));
  expect((await gate('dark.conf', 'dark.conf')).code).toBe(0);
  expect((await gate('dark.conf', 'none.conf')).code).toBe(0);
});

it('a change of what is not understood is said, and is never green', async () => {
  write('lost.conf', 'include lost/*.conf;\nserver { location / { return 200; } }\n');
  const { out, code } = await weir('none.conf', 'lost.conf', '--log', 'access.log', '--newly-refused-below', '1%');
  expect([code, out]).toEqual([
    4,
    expect.stringMatching(/lost\.conf:1\s+lost\/\*\.conf is included, and was not read/),
  ]);
});

const main = (included: string) =>
  `events {}\nhttp { limit_req_zone $binary_remote_addr zone=z:10m rate=1r/m; ${included} }\n`;
const site = (burst: number) => `server { location / { limit_req zone=z burst=${burst} nodelay; } }\n`;
const newlyRefused = async (old: string, fresh: string) => JSON.parse((await gate(old, fresh)).out).newly_refused;

it.each([
  ['beside the main file', 'include sites-enabled/*;', { 'sites-enabled/shop': site(1) }],
  ['by its place on the server', 'include /etc/nginx/sites-enabled/*;', { 'sites-enabled/shop': site(1) }],
  ['a part of a name, and a class', 'include "s?tes-[de]nabled/sh*.site";', { 'sites-enabled/shop.site': site(1) }],
  [
    'from the prefix, not from the file',
    'include conf.d/*.conf;',
    {
      'conf.d/a.conf': 'server { include parts/api.location; }',
      'parts/api.location': 'location / { limit_req zone=z burst=1 nodelay; }',
      'conf.d/parts/api.location': 'location / { return 200; }',
    },
  ],
  [
    'nested three deep',
    'include a/one;',
    { 'a/one': 'include b/two;', 'b/two': 'include c/three;', 'c/three': site(1) },
  ],
  [
    'rows of a map',
    `map $request_method $key { include rows/methods; }\nlimit_req_zone $key zone=m:1m rate=1r/m; server { limit_req zone=m burst=1 nodelay; }`,
    { 'rows/methods': 'GET $binary_remote_addr;\nPOST $binary_remote_addr;\n' },
  ],
])('files of any name that nginx includes are read: %s', async (name, included, files) => {
  const place = name.replace(/\W+/g, '-');
  write(`${place}/nginx.conf`, main(included));
  for (const [path, text] of Object.entries(files)) write(`${place}/${path}`, text);
  expect(await newlyRefused('none.conf', place)).toBe(38);
  expect(await newlyRefused('none.conf', `${place}/nginx.conf`)).toBe(38);
});

it('links within the folder are followed, and what is only available is not read', async () => {
  write('linked/nginx.conf', main('include sites-enabled/*;'));
  write('linked/sites-available/shop.conf', site(1));
  write('linked/sites-available/old.conf', site(0).replace('z burst=0', 'z burst=30'));
  mkdirSync(join(folder, 'linked/sites-enabled'));
  symlinkSync('../sites-available/shop.conf', join(folder, 'linked/sites-enabled/shop'));
  expect(readdirSync(join(folder, 'linked/sites-enabled'))).toEqual(['shop']);
  expect(await newlyRefused('none.conf', 'linked')).toBe(38);
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'ignore' });
  git('init', '-b', 'main', '.');
  git('add', 'linked', 'none.conf');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-m', 'limits');
  expect(await newlyRefused('none.conf', 'git:main:linked')).toBe(38);
});

it('a file that includes itself is said with its line', async () => {
  write('round/nginx.conf', main('include a;'));
  write('round/a', `${site(1)}\ninclude b;`);
  write('round/b', 'include a;');
  const { out } = await weir('none.conf', 'round');
  expect(out).toMatch(/round\/b:1\s+nginx refuses the include of round\/a in itself/);
});

it('an empty folder, and an old one that is not there yet, have no limits', async () => {
  mkdirSync(join(folder, 'empty'));
  write('first/nginx.conf', main(site(1)));
  expect(await newlyRefused('empty', 'first')).toBe(38);
  expect(await newlyRefused('not-yet', 'first')).toBe(38);
  expect((await weir('first', 'not-yet')).code).toBe(2);
  expect((await weir('empty', 'first', '--out', 'none')).code).toBe(0);
  expect(readdirSync(folder)).not.toContain('none');
});
