// `weir recommend`: what it prints, its JSON, and what it refuses.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refuses, weirHere as weir, weir as weirApart } from '../../cli/command-line.js';
import { temporaryFiles } from '../../left-behind.js';

const { folder, file } = temporaryFiles();

/** 40 people who come once a minute, and a scraper: a line for each request. */
const lines = [
  ...Array.from({ length: 40 }, (_, person) =>
    Array.from({ length: 20 }, (_, i) => line(`10.0.0.${person + 1}`, i * 60 + person)),
  ).flat(),
  ...Array.from({ length: 1500 }, (_, i) => line('192.0.2.66', Math.floor(i / 2))),
];

function line(client: string, second: number): string {
  const time = new Date(Date.UTC(2026, 0, 5, 8) + second * 1000).toISOString();
  return `${client} - - [05/Jan/2026:${time.slice(11, 19)} +0000] "GET / HTTP/1.1" 200 12 "-" "-"`;
}

const log = file('access.log', `${lines.join('\n')}\n`);

it('answers as JSON with the shape that is promised', async () => {
  const args = ['--key', 'client', '--limited-below', '1%,0', '--within', '60', '--within', '5m', '--out', 'none'];
  const { code, out } = await weir(['recommend', log, ...args, '--json']);
  const { curves, recommendations, suspects, ...advice } = JSON.parse(out);
  expect(code).toBe(0);
  expect(advice).toMatchObject({
    ...{ kind: 'recommend', requests: 2300, keys: 41, cycle_ms: 777, partial: false, log: 'access.log' },
    first_at: '2026-01-05T08:00:00.000Z',
    read: { format: 'combined', key: 'the client address', keys: 41 },
  });
  expect(curves.map((one: { within: number }) => one.within)).toEqual([60, 386]);
  expect(curves[0].points.at(-1)).toEqual({
    ...{ threshold: 94, limited: 0, limited_share: 0, keys_limited: 0, suspects_limited: 0 },
  });
  expect(recommendations).toMatchObject([
    { rule: 'rolling_count', within: 60, limited_below: 0.01, threshold: 1, limited: 0, worst_burst_1s: 1 },
    { within: 60, limited_below: 0, threshold: 1 },
    { within: 386, limited_below: 0.01, threshold: 5, worst_burst_1min: 5 },
    { within: 386, limited_below: 0, threshold: 5, held_out: { held: true, limited: 0 } },
  ]);
  expect(suspects).toEqual([
    { key: '192.0.2.66', requests: 1500, share: 1500 / 2300, peaks: [94, 600], withins: [60, 386] },
  ]);
});

it('names the suspect, who would be hit, and lines to paste', async () => {
  const { code, out } = await weir(['recommend', log, '--key', 'client', '--out', 'none']);
  expect(code).toBe(0);
  expect(out).toMatch(/ of the requests, those of 1 suspect left out\./);
  expect(out).toContain('Suspect: 192.0.2.66 (1,500 requests, 65.2 % of all; up to 120 in 60 s)');
  expect(out).toContain('limit_req_zone $binary_remote_addr zone=weir:10m rate=1r/m;');
  expect(out).toContain('For 1 request in 60 s, counted by client.');
  expect(out).toContain('{ threshold: 1, within: 60s }');
  expect(out).toContain('app.use(rateLimit({ windowMs: 60000, limit: 1,');
});

it.each([
  ['client', '192.0.2.66'],
  ['forwarded', '198.51.100.66'],
  ['forwarded:2', '192.0.2.66'],
  ['method', 'REPORT'],
  ['path', '/a'],
  ['user', "it's ü <b> \\ $HOME"],
  ['request.id', '=!>'],
  ['plan', '-'],
])('has the words that drop the suspect of --key %s: %s', async (key, suspect) => {
  const who = (person: number) => ({
    ...{ client: `10.0.0.${person}`, x_forwarded_for: `198.51.100.${person}, 10.0.0.${person}`, method: `M${person}` },
    ...{ path: `/of/${person}`, user: `person ${person}`, request: { id: `${person}` }, plan: `plan ${person}` },
  });
  const scraper = {
    ...{ client: '192.0.2.66', x_forwarded_for: '198.51.100.66, 192.0.2.66', method: 'REPORT', path: '/a?b=c' },
    ...{ user: "it's ü <b> \\ $HOME", request: { id: '=!>' } },
  };
  const rows = Array.from({ length: 800 }, (_, i) => [who(1 + (i % 40)), scraper, scraper]).flat();
  const some = file(
    'some.ndjson',
    rows.map((row, i) => JSON.stringify({ time: 1_767_600_000 + i, ...row })).join('\n'),
  );
  const args = ['recommend', some, '--key', key, '--out', 'none'];
  const { suspects } = JSON.parse((await weir([...args, '--json'])).out);
  expect(suspects).toMatchObject([{ key: suspect, requests: 1600 }]);
  const { out } = await weir(args);
  const [, words = ''] =
    /the curve includes it\. (--where .*) drops it entirely\./.exec(out.replaceAll('\n', ' ')) ?? [];
  const typed = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  const without = JSON.parse((await weir([...args, ...typed, '--json'])).out);
  expect([without.suspects, without.requests]).toEqual([[], 800]);
});

it('finds the limits of other rules, and a product that was compared has its own in the lines to paste', async () => {
  const args = ['recommend', log, '--key', 'client', '--within', '5m', '--limited-below', '0', '--out', 'none'];
  const { out } = await weir([...args, '--compare', 'gcra,fixed']);
  expect(out).toMatch(/^5 in 5 min limits none of the requests, those of 1 suspect left out\.$/m);
  expect(out).toMatch(/^0 % +gcra +5 in 5 min +0 +0 % +0 +5 +5 /m);
  expect(out).toMatch(/^0 % +fixed +5 in 5 min +0 +0 % +0 +10 +10 /m);
  expect((await weir([...args, '--compare', 'nginx'])).out).toContain(
    '; a product that was compared has its own limit.',
  );
  const fit = await weir([...args, '--limit', 'nginx burst=0 rate=1r/m..3r/m:1r/m', '--json']);
  expect(JSON.parse(fit.out).fitted).toMatchObject([
    { rule: 'nginx rate', within: null, value: '2r/m', definition: { primitive: 'nginx_limit_req' }, limited: 0 },
  ]);
});

it('takes a window written in time as that time, in the lines to paste too', async () => {
  const { out } = await weir(['recommend', log, '--key', 'client', '--within', '10s', '--out', 'none']);
  expect(out).toMatch(/^0.1 % +10 s +1 /m);
  expect(out).toContain('limiter: { threshold: 1, within: 10s }');
  expect(out).toContain('http_req_rate(10000ms)');
  expect(out).toContain('fill_interval: 10s');
  expect(out).toContain('app.use(rateLimit({ windowMs: 10000, limit: 1,');
});

it('says which window it takes where the length of a cycle is given, and beside windows in cycles', async () => {
  const note = 'A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.';
  for (const args of [
    ['--within', '10s', '--cycle-ms', '777'],
    ['--within', '60,10s'],
  ]) {
    expect((await weir(['recommend', log, ...args, '--out', 'none'])).out).toContain(note);
    expect(JSON.parse((await weir(['recommend', log, ...args, '--out', 'none', '--json'])).out).notes).toEqual([note]);
  }
});

it('reads standard input', async () => {
  const { code, out } = await weirApart(['recommend', '-', '--json', '--out', 'none'], {}, lines.join('\n'));
  expect([code, JSON.parse(out).requests]).toEqual([0, 2300]);
});

it('pastes the value that was found, in the words of the limiter, with the key', async () => {
  const args = ['recommend', 'scenarios/shop.log', '--key', 'client', '--out', 'none'];
  const { out } = await weir([...args, '--limit', 'nginx burst=20 rate=1r/s..50r/s:1r/s']);
  const lines = out.slice(out.indexOf('Lines to paste'));
  expect(lines).toContain(
    '# Found by trying, counted by client.\n  limit_req_zone $binary_remote_addr zone=weir:10m rate=3r/s;\n  limit_req zone=weir burst=20;\n',
  );
  expect(lines.match(/limit_req_zone/g)).toHaveLength(1);
  const burst = await weir([...args, '--limit', 'nginx rate=2r/s burst=1..200:1 nodelay', '--json']);
  const { fitted, paste } = JSON.parse(burst.out);
  expect(paste[0].lines[1]).toBe(`limit_req zone=weir burst=${fitted[0].value} nodelay;`);
  const other = await weir([...args, '--limit', 'haproxy period=10s limit=1..50:1', '--json']);
  expect(JSON.parse(other.out).paste[0].lines[0]).toMatch(/^--limit 'haproxy period=10s limit=\d+'$/);
  const none = await weir([...args, '--limit', 'nginx rate=1r/m..2r/m:1r/m', '--json']);
  expect(JSON.parse(none.out).paste[0].product).toBe('weir');
});

refuses(
  ['recommend', log, '--out', 'none'],
  [
    [['--limited-below', '7'], '7 is no share.'],
    [['--limited-below', '0.1'], '0.1 may be 0.1% or 10%.'],
    [['--limited-below', '1%,.001'], '.001 may be .001% or 0.1%.'],
    [['--limited-below=-1%'], '--limited-below takes a share, for example 0.1%, not "-1%".'],
    [['--within', 'soon'], '--within takes a duration, not "soon".'],
    [['--within', '100001'], '--within takes up to 100000 cycles.'],
    [['--compare', 'gcar'], 'Did you mean gcra?'],
    [['--limit', 'nginx rate=1r/s..9r/s'], 'without a step'],
    [['--limit', 'nginx rat=1r/s..2r/s:1r/s'], 'rat'],
    [['--limit', 'nginx 10r/s'], 'a rule with a range'],
    [['--cycle-ms', '0'], '--cycle-ms takes a whole number from 1 to 86400000, not "0".'],
  ],
);

it('says so where every request is left out, or there is none', async () => {
  const one = join(folder, 'one.log');
  writeFileSync(one, `${line('10.0.0.1', 0)}\n`);
  const all = await weir(['recommend', one, '--where', 'client!=10.0.0.1', '--json', '--out', 'none']);
  expect([all.code, JSON.parse(all.out).code]).toEqual([2, 'no_requests']);
  writeFileSync(join(folder, 'empty.log'), '');
  expect((await weir(['recommend', join(folder, 'empty.log'), '--out', 'none'])).code).toBe(2);
});

it('reads a log of one request', async () => {
  const one = join(folder, 'one.log');
  const { recommendations, curves } = JSON.parse((await weir(['recommend', one, '--json', '--out', 'none'])).out);
  expect(recommendations).toMatchObject([{ threshold: 1, limited: 0, held_out: null }]);
  expect(curves).toMatchObject([{ peak: 1, points: [{ threshold: 1, limited: 0 }] }]);
});

it.each([
  [['recommend', '--compare', 'gcra'], '--compare'],
  [['recommend', '--as', 'kong'], '--as'],
  [['replay', '--refused', 'x.ndjson'], '--refused'],
  [['replay', '--compare', 'gcra'], '--compare'],
  [['replay', '--live'], '--live'],
  [['replay', '--limit', '5 in 1s', '--limit', '6 in 1s'], 'several --limit'],
])('%j does not know tokens', async ([name, ...words], what) => {
  const { code, err } = await weir([name!, 'llm.csv', '--count', 'tokens', ...words]);
  expect(code).toBe(2);
  expect(err).toContain(`--count tokens has no effect with ${what}, which counts requests`);
});

it('says that a network is one client that changes its address', async () => {
  const rows = Array.from(
    { length: 480 },
    (_, i) => `${1_700_000_000 + i},2001:db8:1:2::${(1 + Math.floor(i / 12)).toString(16)}\n`,
  );
  const rotating = join(folder, 'rotating.csv');
  writeFileSync(rotating, `time,client\n${rows.join('')}`);
  const { out } = await weir(['recommend', rotating, '--key', 'client', '--out', 'none']);
  expect(out.replaceAll('\n', ' ')).toContain(
    '2001:db8:1:2::/64: 40 addresses, each 12 requests: one client that changes its address, or one program on many machines.',
  );
});
