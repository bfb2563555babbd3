// `weir replay --explain`: which refusals of a log are those of a limit.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { valueFaults } from '../../src/core/schema/value-faults.js';
import { LimitExplanation } from '../../src/tools/gateway/explain-document.js';
import { temporaryFolder, weirHere } from './command-line.js';

const EXACT = '$remote_addr $msec $request_time "$request" $status $limit_req_status $upstream_status';
const START_S = 1_772_389_870;

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);

interface Sent {
  readonly s: number;
  readonly status: number;
  readonly client?: string;
  readonly request?: string;
  readonly said?: string;
  readonly upstream?: string;
}

const exact = ({ s, status, client = '203.0.113.9', request = 'GET /api/items', said = '-', upstream = '-' }: Sent) =>
  `${client} ${(START_S + s).toFixed(3)} 0.001 "${request} HTTP/1.1" ${status} ${said} ${upstream}\n`;
const short = (one: Sent) => exact(one).replace(/ - -\n$/, '\n');
const stamp = (s: number) => new Date((START_S + s) * 1_000).toISOString();
const combined = ({ s, status, client = '203.0.113.9', request = 'GET /api/items' }: Sent) => {
  const [, y, , d, clock] = /^(\d+)-(\d+)-(\d+)T([\d:]+)/.exec(stamp(s))!;
  return `${client} - - [${d}/Mar/${y}:${clock} +0000] "${request} HTTP/1.1" ${status} 12 "-" "-"\n`;
};
const error = (s: number, client: string, request: string) =>
  `${new Date((START_S + 3600 + s) * 1_000).toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' ')} [error] 7#7: *1 limiting requests, excess: 10.780 by zone "api", client: ${client}, server: , request: "${request} HTTP/1.1", host: "a"\n`;

const har = (sent: readonly Sent[]) =>
  JSON.stringify({
    log: {
      version: '1.2',
      entries: sent.map(({ s, status }) => ({
        ...{ startedDateTime: stamp(s), time: 1, request: { method: 'GET', url: 'http://a/api/items' } },
        response: { status },
      })),
    },
  });

const burst = Array.from({ length: 40 }, (_, n): Sent => ({ s: 130 + n * 0.02, status: n < 11 ? 200 : 429 }));
const orders = Array.from({ length: 30 }, (_, n): Sent => {
  return { s: 200 + n * 10, status: n % 3 === 2 ? 429 : 200, client: '198.51.100.7', request: 'POST /api/orders' };
});
const first: Sent = { s: 0, status: 200 };
const all = [first, ...burst, ...orders];

const conf = (status: number) =>
  `limit_req_zone $binary_remote_addr zone=api:10m rate=1r/s;\nlimit_req_status ${status};\nserver { location /api/ { limit_req zone=api burst=10 nodelay; } }\n`;

const plain = EXACT.replace(' $limit_req_status $upstream_status', '');
const files = {
  'api.conf': conf(429),
  'busy.conf': conf(503),
  'api.log': all.map(short).join(''),
  'said.log': all
    .map((one) => exact({ ...one, said: burst.includes(one) && one.status === 429 ? 'REJECTED' : 'PASSED' }))
    .join(''),
  'combined.log': all.map(combined).join(''),
  'error.log': burst
    .filter(({ status }) => status === 429)
    .map(({ s }) => error(s, '203.0.113.9', 'GET /api/items'))
    .join(''),
  'through.log': [first, ...burst.map(({ s }) => ({ s, status: 200 })), ...orders].map(short).join(''),
  'api.har': har([first, ...burst]),
  'counted.log': [-40, ...Array(60).keys()].map((n) => short({ s: n / 2, status: n < 5 ? 200 : 429 })).join(''),
};
for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);

async function explained(log: string, limit: string, ...more: string[]) {
  const format = /combined|har/.test(log) ? [] : ['--log-format', log === 'said.log' ? EXACT : plain];
  const words = ['replay', at(log), '--limit', limit, '--explain', '--json', ...format, ...more];
  const { code, out, err } = await weirHere(words);
  expect(err.replaceAll(/^(?:weir: .*)?\n?/gm, '')).toBe('');
  const answer = JSON.parse(out);
  expect(valueFaults(LimitExplanation, answer, '')).toEqual([]);
  const { refused, ours, not_ours, not_judged, let_through } = answer;
  return { code, answer, figures: [refused, ours, not_ours, not_judged, let_through] };
}

it('weir replay --explain holds statuses against the limit of a file, by path, client and minute', async () => {
  const { answer, figures, code } = await explained('api.log', at('api.conf'));
  expect([figures, code]).toEqual([[39, 29, 10, 0, 0], 0]);
  const counts = { refused: 10, ours: 0, not_ours: 10, not_judged: 0, let_through: 0 };
  expect(answer.by_path[1]).toEqual({ name: 'POST /api/orders', ...counts });
  expect(answer.by_client[1]).toEqual({ name: '198.51.100.7', ...counts });
  expect(answer.by_minute[0]).toMatchObject({ name: '2026-03-01T18:33Z', ours: 29 });
  expect(answer.without_limit).toEqual({ not_ours: 39 });
});

const NGINX = 'nginx 1r/s burst=10 nodelay';
// biome-ignore format: one case a line
it.each<[what: string, log: string, words: string[], figures: number[], byLog?: number]>([
  ['a limit in words', 'api.log', [NGINX, '--key', 'client'], [39, 29, 10, 0, 0]],
  ['a window of a product', 'api.log', ['express-rate-limit 11 in 60s', '--key', 'client'], [39, 29, 10, 0, 0]],
  ['another limit', 'api.log', ['nginx 10r/s burst=50 nodelay', '--key', 'client'], [39, 0, 39, 0, 0]],
  ['the times of a HAR as starts, and what its requests took', 'api.har', [NGINX], [29, 29, 0, 0, 0]],
  ['the word of limit_req_status in the log', 'said.log', [at('api.conf')], [39, 29, 10, 0, 0], 39],
  ['an error log in another time zone beside it', 'combined.log', [at('api.conf'), at('error.log')], [39, 29, 10, 0, 0], 29],
  ['what was let through and the limit would refuse', 'through.log', [at('api.conf')], [10, 0, 10, 0, 29]],
])('weir replay --explain takes %s', async (_, log, [limit = '', ...more], figures, byLog) => {
  const found = await explained(log, limit, ...more);
  expect([found.figures, byLog && found.answer.by_log]).toEqual([figures, byLog]);
});

it('weir replay --explain says only what holds for every window that the words may mean', async () => {
  const { answer, figures } = await explained('api.log', '11 in 60s', '--key', 'client');
  // A fixed window may end anywhere within the burst.
  expect(figures).toEqual([39, 0, 10, 29, 0]);
  expect(answer.phases[0]).toMatchObject({ most: 29 });
  expect(Math.min(...answer.phases.map(({ least }: { least: number }) => least))).toBeLessThan(29);
  const counted = (await explained('counted.log', '5 in 5s')).answer.phases[0];
  expect([counted.rule, counted.least]).toEqual(['sliding log of 5, refused requests count', 55]);
});

it('weir replay --explain takes the status that the configuration sets', async () => {
  const { answer, figures } = await explained('api.log', at('busy.conf'));
  expect(answer.statuses).toEqual([503, 429]);
  expect(figures).toEqual([39, 0, 39, 0, 29]);
});

it('weir replay --explain does not judge what whole seconds leave open, and says how many are of the limit', async () => {
  const { answer, figures } = await explained('combined.log', at('api.conf'));
  expect(figures).toEqual([39, 0, 10, 29, 0]);
  expect(answer.not_judged_of_which_ours.least).toBeGreaterThan(20);
});

it.each([
  ['api.log', '10', 0],
  ['api.log', '9', 1],
  ['api.log', '30%', 0],
  ['api.log', '25%', 1],
  // What could not be judged decides.
  ['combined.log', '10', 4],
  ['combined.log', '20', 0],
])('weir replay --explain of %s --unexplained-above %s ends with %i', async (log, above, code) => {
  expect((await explained(log, at('api.conf'), '--unexplained-above', above)).code).toBe(code);
});

it('weir replay --explain says first what could not be judged', async () => {
  const { out } = await weirHere(['replay', at('combined.log'), '--limit', at('api.conf'), '--explain']);
  expect(out).toMatch(
    /Could not be judged one by one: 29 answers of 429, of which \d+ to 29 are those of this limit\.\s+Of 39\s+answers of 429, 0 are certainly those/,
  );
  expect(out).toContain('The log has no durations: a request is taken');
});

it('weir replay --explain says of durations in an unknown unit that it does not use them, not that there are none', async () => {
  const format = plain.replace('$request_time', '$duration');
  const words = ['replay', at('api.log'), '--limit', at('api.conf'), '--explain', '--log-format', format];
  expect((await weirHere(words)).out).toMatch(/duration does not say how\s+long each request took, and is not used/);
});

it.each([
  [['--explain'], /--explain/],
  [['--explain', '--limit', '5 in 1s', '--limit', '6 in 1s'], /takes one --limit/],
  [['--explain', '--limit', '5 in 1s', '--unexplained-above', 'few'], /a number, or a share/],
  [['--limit', '5 in 1s', '--unexplained-above', '3'], /--unexplained-above/],
])('weir replay refuses %j', async (words, why) => {
  const { code, err } = await weirHere(['replay', at('combined.log'), ...words]);
  expect(code).toBe(2);
  expect(err).toMatch(why);
});
