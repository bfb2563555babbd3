// `weir diff`: files, folders and revisions of git, with and without a log.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { weirHere } from '../../cli/command-line.js';
import { temporaryFiles } from '../../left-behind.js';

const { folder, file: write } = temporaryFiles();
const weir = (args: readonly string[]) => weirHere(['diff', ...args], {}, '', folder);

const zones = (rate: string) => `limit_req_zone $binary_remote_addr zone=api:10m rate=${rate};\n`;
const server = (burst: number) => `server {\n  location /api { limit_req zone=api burst=${burst} nodelay; }\n}\n`;
const office = (network: string) =>
  `geo $who { default 1; ${network} 0; }\nmap $who $key { 0 ""; 1 $binary_remote_addr; }\n${zones('1r/s').replace('$binary_remote_addr', '$key')}${server(9)}`;
const haproxy = (network: string) => `frontend web
  acl office src ${network}
  stick-table type ip size 1m expire 10s store http_req_rate(10s)
  http-request track-sc0 src
  http-request deny if { sc_http_req_rate(0) gt 20 } !office
`;
const START = 1_767_600_000_000;
const rows = (n: number, who: string) => Array.from({ length: n }, () => `${START},${who},/api/a`);

const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'ignore' });
git('init', '-b', 'main', '.');
write('deploy/zones.conf', zones('1r/s'));
write('deploy/site.conf', server(9));
write('deploy/readme.txt', 'limit_req zone=none;');
write('gone/nginx.conf', zones('1r/s') + server(9));
git('add', '.');
git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-m', 'limits');
rmSync(join(folder, 'gone'), { recursive: true });
write('deploy/zones.conf', `# slower\n${zones('30r/m')}`);
write('deploy/site.conf', server(4));
write('one.conf', zones('1r/s') + server(9));
write('two.conf', zones('1r/s') + server(4));
write('office.conf', office('10.0.0.0/8'));
write('offices.conf', office('10.0.0.0/7'));
write('moved.conf', `# offices\n${office('10.0.0.0/8')}`);
write('office.cfg', haproxy('10.0.0.0/8'));
write('offices.cfg', haproxy('10.0.0.0/7'));
write('misspelt.conf', `${zones('1r/s')}server { location / { limit_req zone=api bursts=9 nodelay; } }`);
write('log.csv', `ms,client,path\n${[...rows(12, 'many'), ...rows(3, 'few')].join('\n')}\n`);

it.each([
  [['one.conf', 'two.conf'], 'burst 9 → 4', '10 → 5'],
  [['git:main', 'deploy'], 'rate 1r/s → 30r/m; burst 9 → 4', 'deploy/site.conf:2'],
  [['git:main', 'one.conf'], '1 limit added', 'added: nginx rate=1r/s burst=9 nodelay'],
  [['git:main', 'gone'], '1 limit removed', 'removed: nginx rate=1r/s burst=9 nodelay'],
  [['one.conf', 'misspelt.conf'], '1 limit removed; what is not understood changes, too.', 'nginx refuses bursts=9'],
  [['office.conf', 'moved.conf'], 'No limit differs'],
  [['office.conf', 'offices.conf'], '1 limit changed', 'client is in 10.0.0.0/8', 'client is in 10.0.0.0/7'],
  [['office.cfg', 'offices.cfg'], '1 limit changed', 'client is not in 10.0.0.0/8 → client is not in 10.0.0.0/7'],
  [['one.conf', '--as', 'traefik'], '1 limit changed', '10 → 10 at once', 'average: 1', 'burst: 10'],
  [
    ['one.conf', 'two.conf', '--as', 'kgateway'],
    'burst 9 → 4',
    'As kgateway',
    'requests_per_unit: 60',
    '10 → 60 at once',
  ],
  [['one.conf', 'two.conf', '--replicas', '3'], 'limits are counted in each, 3 times as much in all', '30 → 15'],
  [['git:main:deploy/site.conf', 'deploy/site.conf'], 'No limit was found', 'no limit_req_zone defines the zone'],
])('weir diff %j says what changes: %s', async (args, ...words) => {
  const { code, out } = await weir(args);
  expect(code).toBe(0);
  for (const one of words) expect(out.replace(/\s+/g, ' ')).toContain(one);
});

it('weir diff without new limits and without a product to write them for is refused', async () => {
  const { code, err } = await weir(['one.conf']);
  expect(code).toBe(2);
  expect(err).toContain('diff has no new limits');
});

it('weir diff puts what it writes through the log as well', async () => {
  const { out } = await weir(['one.conf', 'two.conf', '--as', 'traefik', '--log', 'log.csv', '--time', 'ms', '--json']);
  const { written, ...traffic } = JSON.parse(out);
  expect(written.traffic).toMatchObject({ requests: 15, newly_refused: 0 });
  expect(traffic).toMatchObject({ requests: 15, newly_refused: 5, newly_admitted: 0, newly_refused_share: 1 / 3 });
  const many = { key: 'many', requests: 12, old: 2, new: 7, newly_refused: 5, newly_admitted: 0 };
  expect([traffic.share, traffic.keys]).toEqual([[2 / 15, 7 / 15], [many]]);
});

it('weir diff prints JSON, too', async () => {
  const { out } = await weir(['one.conf', 'two.conf', '--json']);
  const place = { name: 'api', where: 'location /api', file: 'two.conf', line: 3 };
  expect(JSON.parse(out)).toMatchObject({
    kind: 'diff',
    limiters: [{ kind: 'changed', ...place, burst: [10, 5], burst_of: 100 }],
    not_understood: [],
    new: { limiters: [{ name: 'api', status: 503 }], not_understood: [], not_applied: [] },
  });
});

describe('a file in a format that is not read', () => {
  const apisix = (count: number) =>
    `routes:\n- uri: /a\n  plugins:\n    limit-count: { count: ${count}, time_window: 60 }\n`;
  beforeAll(() => {
    for (const [name, count] of [
      ['a', 9],
      ['b', 1],
    ] as const) {
      write(`${name}/apisix.yaml`, apisix(count));
      write(`${name}-with-nginx/apisix.yaml`, apisix(count));
      write(`${name}-with-nginx/nginx.conf`, zones('1r/s') + server(9));
    }
  });
  const NAMED =
    "APISIX files are not read: give the limit with --limit, or as limiter: of a scenario, as in 'apisix-limit-count";

  it.each([
    [['a', 'b'], 'No limit was found in a, and none in b: files of APISIX are not read.'],
    [['a-with-nginx', 'b-with-nginx'], 'No limit that is understood differs, but what is not understood does.'],
    [['a-with-nginx', 'a-with-nginx'], 'No limit differs.'],
  ])('a file that is not read is named, and its change is no unchanged limit: %j', async (args, words) => {
    const { code, out } = await weir(args);
    expect(code).toBe(0);
    const shown = out.replace(/\s+/g, ' ');
    expect(shown).toContain(words);
    expect(shown).toContain(`${args[1]}/apisix.yaml:4 ${NAMED}`);
  });

  it('a file that is not read is annotated where it changed', async () => {
    const notices = async (...args: string[]) => (await weir([...args, '--annotate'])).out.match(/^::notice.*$/gm);
    execFileSync('git', ['add', 'a-with-nginx'], { cwd: folder });
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-m', 'a'], { cwd: folder });
    expect(await notices('git:main', 'a-with-nginx')).toBeNull();
    write('a-with-nginx/apisix.yaml', apisix(5));
    expect(await notices('git:main', 'a-with-nginx')).toEqual([
      expect.stringMatching(/^::notice file=a-with-nginx\/apisix\.yaml,line=4::APISIX files are not read/),
    ]);
  });
});

const log = ['--log', 'log.csv', '--time', 'ms'];

it.each([
  ['50%', 0, 'within the budget'],
  ['0.1%', 1, 'over the budget'],
])('weir diff ends by the budget: %s', async (below, code, words) => {
  const ran = await weir(['one.conf', 'two.conf', ...log, '--newly-refused-below', below]);
  expect(ran.code).toBe(code);
  expect(ran.out).toContain(words);
  expect(ran.out.replace(/\s+/g, ' ')).toContain('Newly refused: 5 requests of 1 client (33.3 %).');
});

it.each([
  ['90%', 0, 'within the budget'],
  ['10%', 4, 'newly refused: below 10 % → 0 % or 80 %'],
  ['20%', 4, 'times of whole seconds leave the budget open'],
])('a log of whole seconds is judged if both readings of a second say the same: %s', async (below, code, words) => {
  const lines = Array.from({ length: 5 }, () => '10.0.0.1 - - [05/Jan/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 1');
  write('seconds.log', `${lines.join('\n')}\n`);
  write('tens.conf', `${zones('10r/s')}server { location / { limit_req zone=api; } }\n`);
  const ran = await weir(['one.conf', 'tens.conf', '--log', 'seconds.log', '--newly-refused-below', below]);
  expect([ran.code, ran.out.replace(/\s+/g, ' ')]).toEqual([code, expect.stringContaining(words)]);
  expect(ran.out.replace(/\s+/g, ' ')).toContain('Newly refused: nothing; 4 if all of a second came at its beginning.');
});

it('weir diff annotates the line that changed, the zone where it is the zone', async () => {
  const own = await weir(['one.conf', 'two.conf', ...log, '--newly-refused-below', '1%', '--annotate']);
  expect(own.out).toMatch(/^::error file=two\.conf,line=3::api, location \/api newly refuses 5 requests$/m);
  write('three.conf', zones('30r/m') + server(9));
  const zone = await weir(['one.conf', 'three.conf', '--annotate']);
  expect(zone.out).toMatch(/^::notice file=three\.conf,line=1::api: rate 1r\/s → 30r\/m$/m);
  const removed = await weir(['git:main', 'gone', '--annotate']);
  expect(removed.out).toMatch(/^::notice file=gone\/nginx\.conf,line=3::api: removed/m);
});

it('weir diff annotates what is not understood where it was not before', async () => {
  write('bad/one.conf', 'server { include a; }');
  write('bad/two.conf', 'server {\n  include a;\n  include b;\n}');
  const { out } = await weir(['bad/one.conf', 'bad/two.conf', '--annotate']);
  expect(out.match(/^::notice.*$/gm)).toEqual([
    '::notice file=bad/two.conf,line=2::a is included, and was not read',
    '::notice file=bad/two.conf,line=3::b is included, and was not read',
  ]);
  execFileSync('git', ['add', 'bad'], { cwd: folder });
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-m', 'b'], { cwd: folder });
  write('bad/two.conf', 'server {\n  include c;\n  include a;\n}');
  const again = await weir(['git:main', 'bad', '--annotate']);
  expect(again.out.match(/^::notice.*$/gm)).toEqual([
    '::notice file=bad/two.conf,line=2::c is included, and was not read',
  ]);
});

it('weir diff leaves Markdown for a comment, and a folder with the page', async () => {
  const { out } = await weir(['one.conf', 'two.conf', ...log, '--clients', 'axios-retry', '--out', 'report']);
  expect(out).toMatch(/^retries +\d+ \(.* more load\)$/m);
  expect(readFileSync(join(folder, 'report/summary.md'), 'utf8')).toContain('| many | 12 | 5 | 0 |');
  expect(readdirSync(join(folder, 'report')).sort()).toEqual(['diff.csv', 'diff.json', 'index.html', 'summary.md']);
  expect(readFileSync(join(folder, 'report/index.html'), 'utf8')).toContain('Newly refused');
});

it.each([
  [['nowhere.conf', 'two.conf'], 'nowhere.conf'],
  [['git:nowhere', 'two.conf'], 'Not a valid object name'],
  [['git:main', 'nowhere'], 'has no file'],
  [['git:main:nowhere', 'two.conf'], 'git:main:nowhere has no file'],
  [['git:main', 'git:main'], 'does not say which file'],
  [['git:--help:a', 'two.conf'], 'names no revision'],
  [['one.conf', 'two.conf', '--newly-refused-below', '1%'], '--newly-refused-below has no effect without --log'],
  [['one.conf', 'two.conf', '--log', 'log.csv', '--newly-refused-below', 'much'], 'a share'],
  [['one.conf', 'two.conf', '--json', '--annotate'], '--annotate has no effect with --json'],
])('weir diff %j is refused', async (args, words) => {
  const { code, out, err } = await weir(args);
  expect([code, `${out}${err}`.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(words)]);
});
