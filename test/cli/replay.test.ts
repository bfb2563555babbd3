import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { isAll } from '../draws.js';
import { temporaryFiles } from '../left-behind.js';
import { refuses, weir, weirHere } from './command-line.js';

const { folder, file } = temporaryFiles();
const log = readFileSync('scenarios/shop.log', 'utf8');

const outcomeOf = async (args: string[]): Promise<Outcome> => {
  const { code, out, err } = await weirHere(['replay', ...args, '--json', '--out', 'none']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Outcome;
};

it('weir replay says how the log was understood, and what came of it', async () => {
  const { code, out } = await weirHere(['replay', 'scenarios/shop.log', '--out', 'none']);
  expect(code).toBe(0);
  expect(out).toContain('scenarios/shop.log: read as combined: time from the bracketed timestamp; 1,472 requests');
  expect(out).toContain('Requests from 2026-01-01T00:00:06.368Z to 2026-01-01T00:23:16.647Z.');
  expect(out).toMatch(/limited\s+497/);
  expect(out).toContain('shop.log, 100 in 60 s\n497 of 1,472 (33.8 %) refused, 00:09-00:10 and 00:14-00:16.\n');
  expect(out).toContain('2026-01-01T00:14:58Z  97.5 s    101');
});

it('weir replay begins with who was refused, how much and when', async () => {
  const keyed = await weirHere('replay scenarios/shop.log --key client --threshold 20 --out none');
  expect(keyed.out).toContain(
    'shop.log, 20 in 60 s\n169 of 1,472 (11.5 %) refused, all of 5 clients, 00:11 and 00:14-00:16.\n',
  );
  expect(keyed.out).toMatch(/Requests of all clients in each 10 s\n 120┤/);
  expect(keyed.out).toMatch(/▀ refused\n +0 = 2026-01-01T00:00:06Z +24\.2 min\n/);
  expect(keyed.out).not.toMatch(/of client 10\.0\.0\.1|cycles\)/);
  const draining = await weirHere('replay scenarios/shop.log --threshold 1400 --within 1h --out none');
  expect(draining.out).toContain('shop.log, 1,400 in 60 min\n72 of 1,472 (4.9 %) refused, 00:21-00:23.\n');
  const none = await weirHere('replay scenarios/shop.log --threshold 1000 --out none');
  expect(none.out).toContain('shop.log, 1,000 in 60 s\nNone of 1,472 requests refused.\n');
  expect([keyed, none].filter(({ out }) => /nothing expected|No expectations/.test(out))).toEqual([]);
});

it('the outcome of a replay says what a pasted limiter leaves out', async () => {
  const paste = 'include other.conf;\nlimit_req_zone $a zone=a:1m rate=1r/s;\nlimit_req zone=a;';
  const { notes } = await outcomeOf(['scenarios/shop.log', '--limit', paste]);
  expect(notes).toEqual([
    expect.stringContaining('a new client gets 1 at once'),
    'Line 1: other.conf is included, and was not read.',
  ]);
});

it('weir replay takes a window given as a time, or says which one it takes instead', async () => {
  const whole = await outcomeOf(['scenarios/shop.log', '--within', '10s']);
  const { by_contract: [one] = [], cycle_ms, notes } = whole;
  expect([one!.within, cycle_ms, notes]).toEqual([20, 500, undefined]);
  const known = await outcomeOf(['scenarios/shop.log', '--within', '77.7s']);
  expect([known.by_contract[0]!.within, known.cycle_ms]).toEqual([100, 777]);
  const nearest = await outcomeOf(['scenarios/shop.log', '--within', '10s', '--cycle-ms', '777']);
  expect([nearest.by_contract[0]!.within, nearest.notes]).toEqual([
    13,
    ['A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.'],
  ]);
  const rule = file('window.yaml', 'limiter: { threshold: 20, within: 10s }');
  const other = file('other.yaml', 'limiter: { threshold: 20, within: 60 }');
  const { out } = await weirHere(`replay scenarios/shop.log --limit ${rule} --limit ${other} --json --out none`);
  const limited = async (within: string) =>
    (await outcomeOf(['scenarios/shop.log', '--threshold', '20', '--within', within])).limited;
  const { rules } = JSON.parse(out);
  expect(rules.map((one: { limited: number }) => one.limited)).toEqual([await limited('10s'), await limited('60')]);
});

it('weir replay says that filters left out every request, and warns of times in whole seconds', async () => {
  const { code, err } = await weirHere('replay scenarios/shop.log --from 2030-01-01T00:00:00Z --out none');
  const all = 'All 1472 requests were left out by --where, --from or --to.';
  expect([code, err]).toEqual([2, expect.stringContaining(all)]);
  const where = await weirHere(['replay', 'scenarios/shop.log', '--where', 'method=BREW', '--out', 'none', '--json']);
  expect(JSON.parse(where.out)).toMatchObject({
    code: 'no_requests',
    what: 'No request of scenarios/shop.log is left.',
  });
  const line = '10.0.0.1 - - [05/Jan/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "-"\n';
  const nginx = [file('whole.log', line.repeat(9)), '--limit', 'nginx 10r/s'];
  const { limited, read } = await outcomeOf(nginx);
  expect([limited, read?.warnings.map((one) => one.code)]).toEqual([0, ['whole_seconds']]);
  const { out } = await weirHere(['replay', ...nginx, '--out', 'none']);
  expect(out).toContain('Warning whole_seconds: The times are whole seconds, and the rule decides by the ms');
});

it('weir replay says why no line is a request, and which of several logs is empty', async () => {
  const { code, err } = await weirHere(['replay', file('none.csv', 'time,x\nnever,1\nlater,2\n'), '--out', 'none']);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/why {2}None of 3 lines is one, read as csv .*\n +line 2: no time/),
  ]);
  const logs = ['scenarios/shop.log', file('empty.log', '')];
  const { out } = await weirHere(['replay', ...logs, '--out', 'none']);
  expect(out).toContain(`${logs[1]}: empty\n`);
});

it('weir replay --limit takes any limiter as a text or as a file, and a window as --threshold and --within do', async () => {
  const limitedBy = async (...args: string[]) => (await outcomeOf(['scenarios/shop.log', ...args])).limited;
  const window = await limitedBy('--threshold', '20', '--within', '10s');
  expect(await limitedBy('--limit', '20 in 10s')).toBe(window);
  expect(await limitedBy('--limit', file('window.json', '{"limiter":"20 in 10s"}'))).toBe(window);
  expect(await limitedBy('--limit', 'none')).toBe(0);
  const { out: template } = await weirHere(['node', 'inspect', '--as', 'definition']);
  expect(await limitedBy('--limit', file('own.json', template))).toBe(await limitedBy('--within', '60'));
  expect(await limitedBy()).toBe(await limitedBy('--limit', '100 in 60s'));
  const conf =
    'limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\nserver { location / { limit_req zone=a burst=5; } }\n';
  const nginx = await limitedBy('--key', 'client', '--limit', 'nginx 1r/s burst=5');
  expect(await limitedBy('--limit', file('nginx.conf', conf))).toBe(nginx);
});

it('weir replay lists when a rule refused, without a count that no window has and without a time of 0', async () => {
  const args = ['scenarios/shop.log', '--limit', 'nginx 1r/s burst=5', '--out', 'none'];
  const { out } = await weirHere(['replay', ...args]);
  expect(out).toMatch(/^limiting from +for$/m);
  expect(out).toMatch(/^2026-01-01T00:03:53Z +less than 0\.78 s$/m);
  expect(out).not.toMatch(/[ (]0 cycles|^\d\S+Z .* 1$/m);
});

it('weir replay reads the same from a file, compressed, and from standard input', async () => {
  const { scenario: _, digest: __, ...plain } = await outcomeOf(['scenarios/shop.log']);
  const { scenario: ___, digest: ____, ...packed } = await outcomeOf([file('shop.log.gz', gzipSync(log))]);
  const process = await weir(['replay', '-', '--json', '--out', 'none'], {}, log);
  const { scenario: name, digest: _____, ...piped } = JSON.parse(process.out) as Outcome;
  expect([packed, piped, name]).toEqual([plain, plain, 'stdin']);
});

it('weir replay gives the figures of a scenario that replays the same log', async () => {
  const { out } = await weirHere(['simulate', 'scenarios/replay.yaml', '--json', '--out', 'none']);
  const [simulated, replayed] = [JSON.parse(out) as Outcome, await outcomeOf(['scenarios/shop.log', '--within', '60'])];
  const { requests, limited, entries, limiting_cycles, peak_count } = replayed;
  expect(simulated).toMatchObject({ requests, limited, entries, limiting_cycles, peak_count });
});

it('weir replay takes columns, counts, spread, keys and another cycle from the command line', async () => {
  const counts = file('counts.csv', 'minute,who,hits\n2026-01-01T00:00:00Z,a,60\n2026-01-01T00:01:00Z,b,30\n');
  const columns = ['--time', 'minute', '--count', 'hits/60s'];
  const whole = await outcomeOf([counts, ...columns, '--threshold', '50', '--within', '100', '--cycle-ms', '1000']);
  const byKey = '--key who --cycle-ms 1000 --threshold 40 --within 60'.split(' ');
  const keyed = await outcomeOf([counts, ...columns, ...byKey]);
  expect([whole.requests, whole.cycle_ms, whole.peak_count, whole.limited > 0]).toEqual([90, 1000, 80, true]);
  expect(keyed.by_contract.map(({ id, requests, limited }) => [id, requests, limited])).toEqual([
    ['a', 60, 20],
    ['b', 30, 0],
  ]);
});

it('the outcome of a replay says how the log was read', async () => {
  const { read } = await outcomeOf(['scenarios/shop.log', '--key', 'client', '--where', 'path!="/item/0"']);
  expect(read).toEqual({
    format: 'combined',
    columns: { time: 'time', key: 'client', where: 'request' },
    time_unit: 'date',
    key: 'the client address',
    first_at: '2026-01-01T00:00:10.364Z',
    last_at: '2026-01-01T00:23:16.647Z',
    keys: 40,
    skipped_lines: 0,
    filtered: 15,
    warnings: [],
  });
});

// biome-ignore format: one case a line
it.each<[code: string, text: string, args: string[]]>([
  ['before_2000', 'time,x\n5,1\n6,1\n', []],
  ['after_tomorrow', 'time,x\n2099-01-01T00:00:00Z,1\n', []],
  ['sparse', 'time,x\n2001-01-01T00:00:00Z,1\n2025-01-01T00:00:00Z,1\n', []],
  ['one_key', `time,ip\n${'1700000000,a\n'.repeat(10)}`, ['--key', 'ip']],
  ['key_per_request', `time,ip\n${Array.from({ length: 10 }, (_, i) => `1700000000,a${i}\n`).join('')}`, ['--key', 'ip']],
  ['mixed_units', 'time\n1700000000\n1700000001\n1700000002000\n', []],
  ['many_skipped', 'time\n1700000000\nx\n', []],
  ['no_time', '3\n4\n', []],
  ['hour_twice', 'time\n2026-10-25 02:10:00\n2026-10-25 02:59:00\n2026-10-25 02:05:00\n2026-10-25 02:06:00\n', []],
  ['no_year', 'May 17 10:05:03 web1 app[7]: hello\n', []],
])('weir replay warns of %s', async (code, text, args) => {
  const path = file(`${code}.log`, text);
  const { read } = await outcomeOf([path, ...args]);
  expect(read?.warnings.map((warning) => warning.code)).toContain(code);
});

const seconds = Array.from({ length: 60 }, (_, i) => 1_700_000_000 + Math.floor(i / 7));
const disordered = Array.from({ length: 80 }, (_, i) => 1_700_000_000_000 + 130 * (i ^ 3) + (i % 5));
const logs: readonly [name: string, path: string][] = [
  ['combined', 'scenarios/shop.log'],
  ['whole seconds', file('whole.csv', `time,client\n${seconds.map((t, i) => `${t},10.0.0.${i % 2}\n`).join('')}`)],
  ['out of order', file('order.csv', `time,client\n${disordered.map((t, i) => `${t},10.0.0.${i % 2}\n`).join('')}`)],
];
const limiters = [
  'nginx 60r/m burst=2',
  'nginx 1r/s burst=3 nodelay',
  'haproxy 5 in 10s',
  'gcra 1/s burst=3',
  'express-rate-limit 4 in 5s',
  'token-bucket 2/s capacity=3',
  'sliding-log 4 in 5s',
  '4 in 5s',
];
/** Each limiter over one of the logs, or over all. */
it.each(
  limiters.flatMap((limit, i) =>
    logs.filter((_, n) => isAll || n === i % logs.length).map(([name, path]) => [limit, name, path] as const),
  ),
)(
  'weir replay --refused writes the lines that are refused, as many of each key as are limited: %s over %s',
  async (limit, _, source) => {
    const path = join(folder, 'refused-by-rule.ndjson');
    const outcome = await outcomeOf([source, '--key', 'client', '--limit', limit, '--refused', path]);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    const refused = lines.map((line) => JSON.parse(line) as { line: number; key: string; text: string });
    const all = readFileSync(source, 'utf8').split('\n');
    expect(refused.map(({ text }) => text)).toEqual(refused.map(({ line }) => all[line - 1]));
    const wanted = outcome.by_contract.filter(({ limited }) => limited > 0).map(({ id, limited }) => [id, limited]);
    const found = wanted.map(([id]) => [id, refused.filter(({ key }) => key === id).length]);
    expect([found, refused.length, new Set(refused.map(({ line }) => line)).size]).toEqual([
      wanted,
      outcome.limited,
      outcome.limited,
    ]);
  },
);

it('weir replay --refused writes the very requests that a rule refused', async () => {
  const path = join(folder, 'one.ndjson');
  const times = [0, 100, 900, 1000, 1100, 2500];
  const source = file('one.csv', `time,client\n${times.map((ms) => `${1_700_000_000_000 + ms},a\n`).join('')}`);
  await outcomeOf([source, '--key', 'client', '--limit', 'gcra 1/s burst=1', '--refused', path]);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([4, 6]);
});

it('weir replay --refused says how many of a row of counts were refused', async () => {
  const path = join(folder, 'parts.ndjson');
  const counts = file('parts.csv', 'time,count\n1700000000,7\n1700000001,9\n');
  const { limited } = await outcomeOf([counts, '--threshold', '10', '--refused', path]);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect([limited, lines.map((line) => JSON.parse(line) as unknown)]).toEqual([
    6,
    [{ line: 3, time: '2023-11-14T22:13:21.000Z', key: null, requests: 9, refused: 6, text: '1700000001,9' }],
  ]);
});

it('weir replay keeps the reports of different options apart, and leaves no folder of a run that failed', async () => {
  const { folder: home, file: fileAtHome } = temporaryFiles();
  fileAtHome('shop.log', log);
  const replay = (...args: string[]) => weirHere(['replay', 'shop.log', ...args], {}, '', home);
  await replay();
  await replay('--key', 'client');
  await replay('--threshold', '50', '--where', 'path=/nothing');
  await weirHere(['replay', 'missing.log'], {}, '', home);
  expect([readdirSync(join(home, 'reports')), readdirSync(join(home, 'reports', 'shop.log')).length]).toEqual([
    ['shop.log'],
    2,
  ]);
});

// biome-ignore format: one case a line
refuses('replay --out none', [
  [[file('empty.log', '')], 'There is no request in', 'empty'],
  [[folder], 'It is a folder.'],
  [[join(folder, 'no.log')], 'There is no such file.'],
  [[file('noise.bin', Buffer.from([0, 1, 2, 3, 255, 254, 0, 9]))], 'noise.bin'],
  [['scenarios/shop.log', '--log-format', 'combind'], 'Did you mean "combined"?'],
  [[file('a.csv', 'time,x\n1,2\n'), '--time', 'tme'], 'tme'],
  [['scenarios/shop.log', '--threshold', '0'], 'threshold'],
  [['scenarios/shop.log', '--within', 'x'], 'within'],
  [['scenarios/shop.log', '--count', '/60 parsecs'], 'parsecs'],
  [['scenarios/shop.log', '--where', 'POST'], '--where'],
  [['scenarios/shop.log', '--where', 'path=~^/item'], '--where'],
  [['scenarios/shop.log', '--where', 'client!=10.0.0.0/8'], 'no address reads 10.0.0.0/8', "--where 'client=10.*'"],
  [['scenarios/shop.log', '--from', 'soon'], '--from'],
  [['-', '--refused', join(folder, 'r.ndjson')], 'standard input'],
  [['scenarios/shop.log', '--refused', join(folder, 'r.ndjson'), '--limit', file('n.conf', 'limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;\nlimit_req zone=a;')], 'a file of a gateway'],
]);

it('weir simulate --log prints of shop.yaml the shipped log, to the byte', async () => {
  const { code, out, err } = await weirHere(['simulate', 'scenarios/shop.yaml', '--log', '-']);
  expect([code, err, out === log]).toEqual([0, '', true]);
});

it('weir simulate --log writes a file beside a run, with another seed, and takes one scenario', async () => {
  const path = join(folder, 'other.log');
  const args = ['simulate', 'scenarios/edge-burst.yaml', '--seed', '8', '--out', 'none', '--log', path];
  const { requests } = JSON.parse((await weirHere([...args, '--json'])).out) as Outcome;
  expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).toBe(requests);
  const { code, err } = await weirHere([...args, 'scenarios/shop.yaml']);
  expect([code, err.includes('one scenario at a time')]).toEqual([2, true]);
});
