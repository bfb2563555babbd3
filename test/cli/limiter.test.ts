// `weir limiter`, as a person runs it.
import { expect, it } from 'vitest';
import { temporaryFiles } from '../left-behind.js';
import { refuses, weir, weirHere } from './command-line.js';

const START_MS = 1_699_999_200_000;
const asked = (...requests: readonly object[]) => requests.map((one) => `${JSON.stringify(one)}\n`).join('');
const answers = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const allowed = (remaining: number | null, delay = 0) => ({
  admitted: true,
  delay_ms: delay,
  retry_after_ms: 0,
  remaining,
  state: 'allowing',
});

const { file } = temporaryFiles();
const ruleFile = (text: string) => file('rule.yaml', text);
const shownOf = async (...args: readonly string[]) => JSON.parse((await weirHere(['limiter', ...args, '--json'])).out);

it('weir limiter … - answers every request in order, as a product does', async () => {
  const burst = Array.from({ length: 4 }, () => ({ t_ms: START_MS }));
  const requests = asked(...burst, { t_ms: START_MS + 100.5 });
  const { code, out } = await weir(['limiter', 'nginx', '10r/s', 'burst=2', '-'], {}, requests);
  expect(code).toBe(0);
  expect(answers(out)).toEqual([
    allowed(2),
    allowed(1, 100),
    allowed(0, 200),
    { admitted: false, delay_ms: 0, retry_after_ms: 100, remaining: 0, state: 'limiting' },
    allowed(0, 200),
  ]);
});

it('weir limiter … - says what a product announces where that is not the true wait', async () => {
  const args = ['limiter', 'express-rate-limit windowMs=1500 limit=1', '-'];
  const { out } = await weirHere(args, {}, asked({ t_ms: START_MS }, { t_ms: START_MS + 1 }));
  expect(answers(out)[1]).toEqual({
    admitted: false,
    delay_ms: 0,
    retry_after_ms: 1499,
    told_retry_after_ms: 2000,
    remaining: 0,
    state: 'limiting',
  });
});

it.each([
  ['a primitive', 'primitive: gcra\nparams: { T_ms: 100, tau_ms: 0 }\n'],
  ['JSON', '{"primitive": "gcra", "params": {"T_ms": 100, "tau_ms": 0}, "clock_resolution_ms": 1}'],
  ['a product', 'like: nginx\nrate: 10r/s\n'],
  ['a stanza', 'paste: |\n  limit_req_zone $host zone=a:1m rate=10r/s;\n  limit_req zone=a;\n'],
  ["Weir's own", 'threshold: 1\nwithin: 1\n'],
])('weir limiter … - reads a rule from a file: %s', async (_, text) => {
  const requests = asked({ t_ms: START_MS }, { t_ms: START_MS });
  const { code, out } = await weirHere(['limiter', ruleFile(text), '-'], {}, requests);
  expect(code).toBe(0);
  expect(answers(out).map(({ admitted }) => admitted)).toEqual([true, false]);
});

it('weir limiter … - keeps keys apart, charges costs and holds what is in flight', async () => {
  const rule = ruleFile('primitive: concurrency\nparams: { limit: 2 }\n');
  const { out } = await weirHere(
    ['limiter', rule, '-'],
    {},
    asked(
      { t_ms: 0, n: 2, key: 'a', hold_ms: 50 },
      { t_ms: 1, key: 'b', hold_ms: 50 },
      { t_ms: 2, key: 'a' },
      { t_ms: 3, n: 3, key: 'c' },
      { t_ms: 50, key: 'a' },
    ),
  );
  expect(answers(out).map(({ admitted, retry_after_ms }) => [admitted, retry_after_ms])).toEqual([
    [true, 0],
    [true, 0],
    [false, 48],
    [false, null],
    [true, 0],
  ]);
});

it('weir limiter … - answers a line that is no request with its number and a code, goes on, and ends with 2', async () => {
  const input = `${asked({ t_ms: 0 })}nonsense\n\n${asked({ t_ms: -1 }, { t_ms: 0, cost: 2 }, { t_ms: 0, n: 0 })}{"t_ms": 1000}`;
  const { code, out } = await weirHere(['limiter', 'nginx 10r/s', '-'], {}, input);
  expect(code).toBe(2);
  expect(answers(out)).toEqual([
    allowed(0),
    { line: 2, code: 'invalid_json', what: expect.any(String) },
    { line: 4, code: 'invalid_input', what: '/t_ms must be >= 0.' },
    { line: 5, code: 'invalid_input', what: expect.stringContaining('/cost') },
    { line: 6, code: 'invalid_input', what: '/n must be >= 1.' },
    allowed(0),
  ]);
});

refuses('limiter', [
  ['-', '[wrong_usage]'],
  ['nginx kong -', '[wrong_usage]'],
  ['ngin -', '[invalid_definition]'],
  [['nginx 10r/s windowMs=3', '-'], '[invalid_definition]'],
  [['gcra 10/s', '-'], '[invalid_definition]'],
  ['nowhere.yaml -', '[unreadable_file]'],
]);

it('weir limiter lists products and rules, each with what it does with a burst', async () => {
  const { code, out } = await weirHere(['limiter']);
  expect(code).toBe(0);
  expect(out).toMatch(/^nginx rate=10r\/s burst=5 +nginx_limit_req +1 \(\+ 5\) /m);
  expect(out).toMatch(/^express-rate-limit windowMs=1000 limit=10 +fixed_window +10 +19 /m);
  expect(out).toMatch(/^gcra T_ms=100 tau_ms=900 +gcra +10 /m);
});

it('weir limiter says in a few lines and a chart what a limiter lets through', async () => {
  const { code, out } = await weirHere(['limiter', 'nginx', '10r/s', 'burst=5', 'nodelay']);
  expect(code).toBe(0);
  expect(out).toMatch(/^nginx rate=10r\/s burst=5 nodelay: nginx 1\.22 limit_req\n/);
  expect(out).toMatch(/first burst +of 25 at once, 6 pass at once\n/);
  expect(out).toMatch(/most in a second +15 starts/);
  expect(out).toMatch(/at exactly the rate +40 of 40 pass at 10\/s; at twice that 35 of 60/);
  expect(out).toMatch(/sent +\|█.*\|\n +starts +\|█.*\|/);
  const { out: slow } = await weirHere(['limiter', 'nginx', '1r/s']);
  expect(slow).toMatch(/, 1 passes at once\n +most in a second +at least 1 start: the best attack found\n/);
});

const both = [
  { threshold: 10, within: '1s' },
  { threshold: 100, within: '60s' },
];
// biome-ignore format: one case a line
it.each<[args: string, shown: object]>([
  ['kong', { like: 'kong', second: 10 }],
  ['Kong', { like: 'kong', second: 10 }],
  ['10 in 1s and 100 in 60s', { and: both }],
])('weir limiter reads %s', async (args, limiter) => {
  expect((await shownOf(...args.split(' '))).limiter).toEqual(limiter);
});

// biome-ignore format: one case a line
it.each<[args: string[], limiters: object[]]>([
  [['100 in 60s', 'gcra 100/min burst=20'],
    [{ threshold: 100, within: '60s' }, { primitive: 'gcra', params: { T_ms: 600, tau_ms: 12_000 } }]],
  [['nginx', '10r/s', 'kong', 'second=3'], [{ like: 'nginx', rate: '10r/s' }, { like: 'kong', second: 3 }]],
  [['gcra', '10/s', 'burst=5', 'NGINX', '10r/s'],
    [{ primitive: 'gcra', params: { T_ms: 100, tau_ms: 500 } }, { like: 'nginx', rate: '10r/s' }]],
])('weir limiter puts %s side by side', async (args, limiters) => {
  const shown = await shownOf(...args);
  expect(shown.limiters.map(({ limiter }: { limiter: object }) => limiter)).toEqual(limiters);
  const { out: text } = await weirHere(['limiter', ...args]);
  expect(text.split('\n')[0]).toMatch(/^limiter +rule +burst/);
});

it('weir limiter shows every limiter of a configuration, or the one of a place', async () => {
  const zone = 'limit_req_zone $host zone=a:1m rate=10r/s;';
  const places = 'location /a { limit_req zone=a; } location /b { limit_req zone=a burst=3; }';
  const path = file('nginx.conf', `http { ${zone} server { ${places} } }`);
  const { out } = await weirHere(['limiter', path]);
  expect(out).toMatch(/^location \/a +nginx_limit_req +1 /m);
  expect(out).toMatch(/^location \/b +nginx_limit_req +1 \(\+ 3\) /m);
  expect((await shownOf(`${path} at location /b`)).rule.params).toMatchObject({ burst: 3 });
});

it('weir limiter reads a file of Kong, and asks which of its places is meant', async () => {
  const plugin = (minute: number) => `plugins: [{ name: rate-limiting, config: { minute: ${minute}, policy: local } }]`;
  const route = (name: string, minute: number) => `{ name: ${name}, paths: [/${name}], ${plugin(minute)} }`;
  const service = (routes: string) =>
    `_format_version: "3.0"\nservices: [{ name: s, url: "http://a", routes: [${routes}] }]\n`;
  const path = file('kong.yaml', service(route('a', 20)));
  expect((await shownOf(path)).limiter).toEqual({ like: 'kong', minute: 20 });
  file('kong.yaml', service(`${route('a', 20)}, ${route('b', 30)}`));
  const { code, err } = await weirHere(['limiter', path]);
  expect([code, err]).toEqual([2, expect.stringMatching(/2 places with limits.*\n.*route a.*route b/)]);
  const place = /They are: .*; (.*route b)\./.exec(err)?.[1];
  expect((await shownOf(`${path} at ${place}`)).limiter).toEqual({ like: 'kong', minute: 30 });
});

it('a configuration of very many places is not shown at once, and one of its places is', async () => {
  const zones = (line: (zone: number) => string) => Array.from({ length: 201 }, (_, zone) => line(zone)).join('\n');
  const path = file(
    'many.conf',
    `${zones((zone) => `limit_req_zone $binary_remote_addr zone=z${zone}:1m rate=5r/s;`)}
      server { ${zones((zone) => `location /p${zone} { limit_req zone=z${zone} burst=${zone + 1}; }`)} }`,
  );
  const { code, err } = await weirHere(['limiter', path]);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/has limits at 201 places, and up to 200 are shown.*Name one/s),
  ]);
  expect((await shownOf(`${path} at location /p7`)).rule.params).toMatchObject({ burst: 8 });
});

it('weir limiter says of which of several limiters a note is', async () => {
  const zone = 'limit_req_zone $host zone=a:1m rate=10r/s;';
  const of = (line: string) => `${zone}\n${line}\nlimit_req zone=a;\n`;
  const [one, other] = [file('one.conf', of('limit_req zone=b;')), file('other.conf', of('limit_req zone=c;'))];
  const notes = async (...args: readonly string[]) => (await shownOf(...args)).notes;
  const missing = (name: string) => `Line 2: no limit_req_zone defines the zone of limit_req zone=${name}.`;
  expect(await notes(one)).toEqual([missing('b')]);
  expect(await notes(one, other)).toEqual([`${one}: ${missing('b')}`, `${other}: ${missing('c')}`]);
  const both = file(
    'both.json',
    JSON.stringify({ and: ['b', 'c'].map((name) => ({ paste: of(`limit_req zone=${name};`) })) }),
  );
  expect(await notes(both)).toEqual([`Of limiter 1: ${missing('b')}`, `Of limiter 2: ${missing('c')}`]);
  expect((await weirHere(['limiter', both])).out).not.toContain('limit_req zone=b;\n');
});

it.each([
  ['10 in 1s and 100 in 60s', 'counts, too'],
  ['nginx 10r/s and gcra 10/s burst=9', 'nothing'],
  ['sliding_log limit=10 window_ms=1000', 'nothing'],
  ['sliding_log limit=10 window_ms=1000 count_refused=true', 'keeps its client out for longer'],
  [
    'fixed_window limit=10 window_ms=1000 align=first count_refused=true block_ms=5000',
    'keeps its client out for longer',
  ],
  ['rolling_count threshold=100 within=6 cycle_ms=10000', 'keeps its client out for longer'],
  ['none', 'there is none'],
])('weir limiter says of %s what a refused request does: %s', async (limit, refused) => {
  expect((await weirHere(['limiter', limit])).out).toMatch(new RegExp(`a refused request +${refused}\n`));
});

it('weir limiter reads a definition that is a window, and refuses one that has states of its own', async () => {
  const definition = JSON.parse((await weirHere(['node', 'inspect', '--as', 'definition'])).out);
  const own = (value: object) => file('own.json', JSON.stringify(value));
  expect((await shownOf(own(definition))).rule).toMatchObject({
    primitive: 'rolling_count',
    params: { threshold: 100, within: 60 },
  });
  const [first, ...others] = definition.transitions;
  const other = { ...first, post_actions: [{ emit: 'closed' }] };
  const { code, err } = await weirHere(['limiter', own({ ...definition, transitions: [other, ...others] })]);
  expect([code, err]).toEqual([2, expect.stringContaining('states of its own')]);
});

it('weir limiter shows a rule by its name alone, with the numbers of its template', async () => {
  const { out } = await weirHere(['limiter', 'gcra']);
  expect(out).toMatch(/^gcra T_ms=100 tau_ms=900\n/);
  expect((await weirHere(['limiter', 'fixed_window 1000 in 30d'])).out).toContain('"window_ms":2592000000');
});

refuses('limiter', [
  [['-5 in 60s'], 'A word that begins with -5 is read as an option.'],
  [['100 in 60s near_limit=2'], '/near_limit must be <= 0.99'],
  [['100 in 60s near_limit=half'], '/near_limit must be a number'],
  [[file('share.json', '{"threshold": 5, "within": 60, "near_limit": 7}')], '/near_limit must be <= 0.99'],
  [[file('none.json', '{"and": [null, 6]}')], '/and/0: must be an object'],
  [[file('list.json', '{"like": ["nginx"]}')], '/like must be a string'],
  ['nginx brust=5', '"brust=5" at character 7', 'Did you mean "burst"'],
]);

// biome-ignore format: one case a line
refuses('limiter', [
  [[file('apisix.yaml', 'plugins: { limit-count: { count: 1 } }\n')], 'APISIX files are not read.', "as in 'apisix-limit-count"],
  [['limit-count: { count: 1 }'], 'APISIX files are not read.', "as in 'apisix-limit-count"],
  [[file('a.toml', '[http.middlewares.m.rateLimit]\naverage = 100\n')], 'TOML files are not read.', 'Write the file of Traefik in YAML', "as in 'traefik average"],
]);

it('a configuration with the ending of a template is a file, and says what is filled in elsewhere', async () => {
  const zone = (rate: string) =>
    `limit_req_zone $binary_remote_addr zone=a:1m rate=${rate};\nserver { limit_req zone=a burst=7 nodelay; }\n`;
  const written = await weirHere(['limiter', file('whole.conf.erb', zone('5r/s'))]);
  expect([written.code, written.out]).toEqual([0, expect.stringContaining('8')]);
  const { err } = await weirHere(['limiter', file('nginx.conf.erb', zone('<%= rate %>r/s'))]);
  expect(err).toContain('the file is a template');
});
