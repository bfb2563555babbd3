// `weir load URL`: any HTTP service, without a scenario file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { loopback } from '../loopback.js';
import { begin, refuses, temporaryFolder, weirHere } from './command-line.js';

interface Asked {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A service that admits `limit` of all requests, then limits. */
async function serving(limit: number, status = 429): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    asked.push({ method: request.method ?? '', headers: request.headers, body });
    const isOver = asked.length > limit;
    if (isOver) response.setHeader('Retry-After', '7').setHeader('RateLimit-Policy', `"all";q=${limit};w=60`);
    response.writeHead(isOver ? status : 200).end(isOver ? 'no' : 'hello');
  });
  const { url } = await loopback(server);
  return { url: `${url}/a?b=1`, asked };
}

/** On a busy machine the sends may be late: the run is invalid then, and all else is as it is. */
const SOUND = [0, 4];

const load = (url: string, ...args: readonly string[]) => weirHere(['load', url, '--out', 'none', ...args]);

it('weir load URL sends at the rate, and shows statuses, latency, a histogram and the limit that it saw', async () => {
  const { url, asked } = await serving(20);
  const { code, out } = await load(url, '--rate', '40/s', '--for', '1s');
  expect([code, asked.length]).toEqual([expect.toBeOneOf(SOUND), 40]);
  expect(out).toMatch(/^status +requests +share\n200 +20 +50 %\n429 +20 +50 %\n/m);
  expect(out).toMatch(/^40 sent, 40 answered in \S+ s: .*; 140 bytes of bodies/m);
  expect(out).toMatch(/^ *p50 +p90 +p99 +p99\.9 +max\n *\S+ m?s /m);
  expect(out).toMatch(/^ *≤ \S+ ms +\d+ +█+$/m);
  expect(out.replaceAll('\n', ' ')).toMatch(
    /First limited by 429 after \S+ s, answer 21\. It announces a limit of 20 in 60 s\. Retry-After is 7 s\./,
  );
  expect(out).toContain(`weir identify ${url}`);
});

it('weir load URL sends as many as the rate gives in a time of no whole number of cycles', async () => {
  const { url, asked } = await serving(6);
  const { code } = await load(url, '--rate', '20/s', '--for', '1s', '--limit', '6 in 60 cycles');
  expect([code, asked.length]).toEqual([expect.toBeOneOf(SOUND), 20]);
});

it('--rate max is a closed loop: so many requests are under way as there are connections, and it says what that hides', async () => {
  let [underWay, most, all] = [0, 0, 0];
  const server = createServer((_, response) => {
    underWay += 1;
    all += 1;
    most = Math.max(most, underWay);
    setTimeout(20).then(() => {
      underWay -= 1;
      response.end('hello');
    });
  });
  const { url } = await loopback(server);
  const { code, out } = await load(url, '--rate', 'max', '-c', '3', '--for', '1s', '--json');
  const { live, notes } = JSON.parse(out);
  expect([code, most, live.answers.statuses]).toEqual([expect.toBeOneOf(SOUND), 3, { 200: all }]);
  // Each of three asks at most every 20 ms.
  expect([all > 3, all <= 3 * 51, live.planned]).toEqual([true, true, all]);
  expect(notes).toEqual([expect.stringContaining('coordinated omission')]);
  expect(live.latency_ms.taken).toContain('from sending to the answer');
  expect((await load(url, '--rate', 'max', '--workers=redis://127.0.0.1')).err).toContain('has no effect');
});

it('--rate max sends again what a service did not take that closes its connections, and sends no HEAD', async () => {
  let [all, answered] = [0, 0];
  const server = createServer((_, response) => {
    all += 1;
    // A request that is on its way while its connection closes is seen here, and never answered.
    response.on('finish', () => (answered += 1));
    response.setHeader('Connection', all % 3 === 0 ? 'close' : 'keep-alive').end('hello');
  });
  const { url } = await loopback(server);
  const { code, out } = await load(url, '--rate', 'max', '-c', '2', '--for', '1s', '--json');
  const { live } = JSON.parse(out);
  // What a connection sends as the run ends is answered, and is no part of it.
  const own = [0, 1, 2].map((after) => ({ 200: answered - after }));
  expect([code, live.answers.statuses, live.connections]).toEqual([expect.toBeOneOf(SOUND), expect.toBeOneOf(own), 2]);
  expect((await load(url, '--rate', 'max', '-m', 'HEAD')).err).toContain('--rate max sends no HEAD');
});

it('weir load URL sends the given method, headers and body; a body without a method is posted', async () => {
  const { url, asked } = await serving(100);
  const file = join(temporaryFolder(), 'body.txt');
  writeFileSync(file, 'from a file');
  await load(url, '--rate', '2', '--for', '1', '-H', 'X-A: b: c', '--header', 'x-d:e', '-d', 'hello');
  await load(url, '--rate', '2', '--for', '1', '-m', 'PUT', '-d', `@${file}`);
  expect(asked.map(({ method, headers, body }) => [method, headers['x-a'], headers['x-d'], body])).toEqual([
    ...Array(2).fill(['POST', 'b: c', 'e', 'hello']),
    ...Array(2).fill(['PUT', undefined, undefined, 'from a file']),
  ]);
});

it('weir load URL takes any status as an answer where nothing is predicted', async () => {
  const { url } = await serving(3, 500);
  const { code, out } = await load(url, '--rate', '6', '--for', '1', '--json');
  const { verdict, comparison, live } = JSON.parse(out);
  const words = { 0: 'nothing expected', 4: 'invalid' }[code as 0 | 4];
  expect([verdict, comparison?.differences_total ?? 0]).toEqual([words, 0]);
  expect(live.answers).toMatchObject({ statuses: { 200: 3, 500: 3 }, errors: {}, bytes: 21, limit: null });
});

it('weir load URL counts what was lost by its kind, and calls the run invalid', async () => {
  const lost = createServer(({ url, socket }, response) => (url === '/a' ? socket.destroy() : response.end()));
  const { url } = await loopback(lost);
  const { code, out } = await load(`${url}/a`, '--rate', '6', '--for', '1', '--json');
  expect([code, JSON.parse(out).live.answers]).toEqual([
    4,
    expect.objectContaining({ statuses: {}, errors: { closed: 6 } }),
  ]);
});

it('weir load URL gives the report so far when it is stopped', async () => {
  const { url, asked } = await serving(1_000);
  const { child, ended } = begin(['load', url, '--rate', '40', '--for', '60', '--out', 'none', '--json']);
  const out = text(child.stdout!);
  while (asked.length < 10) await setTimeout(20);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  const { partial, live } = JSON.parse(await out);
  expect([partial, live.answers.statuses[200] >= 10, live.planned < 2400]).toEqual([true, true, true]);
});

it('weir load URL takes other statuses for limited with --limited-status', async () => {
  const { url } = await serving(3, 503);
  const { out } = await load(url, '--rate', '6', '--for', '1', '--limited-status', '429,503', '--json');
  expect(JSON.parse(out)).toMatchObject({
    admitted: 3,
    limited: 3,
    live: { answers: { limit: { status: 503, after_answers: 4 } } },
  });
});

it('weir load URL predicts with --limit, compares, and says what it understood', async () => {
  const { url } = await serving(20);
  const right = await load(url, '--rate', '40', '--for', '1', '--limit', '20 in 1h');
  expect([right.code, right.err]).toEqual([
    expect.toBeOneOf(SOUND),
    expect.stringContaining('Limiter 20 in 1h: 20 requests in a rolling window'),
  ]);
  expect(right.out.replaceAll('\n', ' ')).toMatch(
    /Observed agrees with predicted.* These answers agree with 20 in 3420 s .*as well; --rate \S+ --for \d+s would distinguish|The run itself is invalid/,
  );
});

it('weir load URL ends with 3 where the target differs from the limiter, and with 5 where nobody listens', async () => {
  let wrong: Awaited<ReturnType<typeof load>>;
  do {
    const { url } = await serving(20);
    wrong = await load(url, '--rate', '40', '--for', '1', '--limit', '30 in 1h');
    // Invalid says nothing of the target: asked again.
  } while (wrong.code === 4);
  expect([wrong.code, wrong.out]).toEqual([3, expect.stringContaining('Observed differs from predicted')]);
  const nobody = await load('http://127.0.0.1:9/');
  expect([nobody.code, nobody.err]).toEqual([5, expect.stringContaining('[node_unreachable]')]);
});

it('weir load URL says that the limiter was in use before and how long to wait, and not that it differs', async () => {
  const { url } = await serving(6);
  for (let n = 0; n < 6; n += 1) await fetch(url);
  const { code, out } = await load(url, '--rate', '20/s', '--for', '1s', '--limit', '6 in 60s');
  expect([code, out.replaceAll('\n', ' ')]).toEqual([
    4,
    expect.stringContaining('the first answer was a refusal and asked to wait 7 s. Wait 60 s and run again.'),
  ]);
});

it('weir load URL --out writes a report, whose command repeats the run without the headers', async () => {
  const { url } = await serving(20);
  const out = join(temporaryFolder(), 'report');
  const { code } = await weirHere(['load', url, '--rate', '20', '--for', '1', '-H', 'X-Secret: s', '--out', out]);
  expect([code, existsSync(join(out, 'index.html'))]).toEqual([expect.toBeOneOf(SOUND), true]);
  const { live, command } = JSON.parse(readFileSync(join(out, 'outcome.json'), 'utf8'));
  expect(live.answers.statuses).toEqual({ 200: 20 });
  expect(command).toBe(`weir load '${url}' --rate 20 --for 1`);
});

refuses('load http://127.0.0.1:9/ --out none', [
  [['--rate', '0'], '--rate takes how often, not "0".'],
  [['--rate', 'often'], '--rate takes how often, not "often".'],
  [['--for', '0s'], '--for takes how long, not "0s".'],
  [['--for', '3 parsecs'], '--for takes how long'],
  [['-H', 'nonsense'], '--header takes "Name: value"'],
  [['-H', 'a: 1', '-H', 'A: 2'], '--header A was given more than once.'],
  [['-m', 'FETCH'], '--method takes'],
  [['--limit', 'ngnix 10r/s'], 'Did you mean nginx?'],
  [['--seed', '3'], '--seed has no effect'],
  [['--url', 'http://127.0.0.1:1'], '--url has no effect'],
  [['http://127.0.0.1:1/'], 'A URL is given alone.'],
]);

// A scenario says these itself.
refuses(
  'load scenarios/burst.yaml --out none',
  [
    ['--rate', '1'],
    ['--for', '1'],
    ['--limit', '1'],
    ['-H', 'a: 1'],
    ['-d', '1'],
  ].map((words) => [words, 'has no effect without a URL']),
);
