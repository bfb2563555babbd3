// Gateways ask on connections that they keep. One that the node closes while a request is on its way is an answer that the gateway lacks: so the node
// keeps it for longer than gateways do, whatever bounds there are for connections that are at a request.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { defaultLimits } from '../../src/node/limits.js';
import { Raw } from './raw.js';
import { startRunning } from './running.js';

const plain = await startRunning({ limits: { keepAliveTimeoutMs: defaultLimits.keepAliveTimeoutMs } });

/** As each keeps a connection that has nothing to do, in seconds. */
it.each([
  ['nginx: keepalive_timeout of an upstream', 60],
  ['AWS ALB: idle timeout', 60],
  ['Go, Traefik: IdleConnTimeout', 90],
  ['Caddy: keepalive of reverse_proxy', 120],
])('a connection outlives its place in the pool of %s', async (_gateway, seconds) => {
  const [answer] = await asked(plain.url, [[0]]);
  const [, kept] = /\r\nKeep-Alive: timeout=(\d+)\r\n/i.exec(answer!) ?? [];
  expect(Number(kept)).toBeGreaterThan(seconds);
});

it('the recipe for nginx names the time of the node, and keeps its own below it', () => {
  const recipe = readFileSync('scenarios/recipes/nginx.conf', 'utf8');
  const [, own, ofNode] = /keepalive_timeout (\d+)s; # .*?(\d+) s/.exec(recipe) ?? [];
  expect(Number(ofNode) * 1000).toBe(defaultLimits.keepAliveTimeoutMs);
  expect(Number(own)).toBeLessThan(Number(ofNode));
});

it('a connection that is closed after its answer has no time', async () => {
  const [answer] = await asked(plain.url, [[0, CLOCK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')]]);
  expect([/keep-alive/i.test(answer!), /connection: close/i.test(answer!)]).toEqual([false, true]);
});

const MINT = 'POST /api/demo-key/mint HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
it.each<[what: string, idleTimeoutMs: number, requests: Asked[], statuses: string[]]>([
  ['waits', 100, [[0], [500]], ['200', '200']],
  [
    'was held by a request for a while',
    1_000,
    [[0, `${MINT}Content-Length: 2\r\n\r\n`, 200, '{}'], [1_500]],
    ['201', '200'],
  ],
])('a connection that %s is not cut between two requests', async (_, idleTimeoutMs, requests, statuses) => {
  const node = await startRunning({ limits: { keepAliveTimeoutMs: 60_000, idleTimeoutMs, connectionsCheckMs: 20 } });
  const answers = await asked(node.url, requests);
  expect(answers.map((answer) => answer.split(' ')[1])).toEqual(statuses);
});

it('a connection that is kept for too long is closed', async () => {
  const node = await startRunning({ limits: { keepAliveTimeoutMs: 50, connectionsCheckMs: 20 } });
  const { statuses } = await new Raw(node.url).send(CLOCK).ended();
  expect(statuses).toEqual([200]);
});

it('a client that reads none of its small answers is cut, although each was given at once', async () => {
  const node = await startRunning({
    limits: { keepAliveTimeoutMs: 60_000, idleTimeoutMs: 300, connectionsCheckMs: 20 },
  });
  const raw = new Raw(node.url);
  raw.socket.pause();
  // Fewer in a turn than are answered in one: none is refused.
  const some = 'GET /api/limits HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4);
  for (; !raw.isClosed; await sleep(1)) if (!raw.socket.writableNeedDrain) raw.send(some);
  expect(node.errors).toEqual([]);
});

type Asked = readonly [pauseMs: number, request?: string, thenMs?: number, rest?: string];

const CLOCK = 'GET /api/clock HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** The answers to requests on one connection, each asked after a pause, in one piece or in two. */
async function asked(url: string, requests: readonly Asked[]): Promise<string[]> {
  const raw = new Raw(url);
  const answers: string[] = [];
  for (const [pauseMs, request = CLOCK, thenMs = 0, rest = ''] of requests) {
    await sleep(pauseMs);
    raw.text = '';
    raw.send(request);
    await sleep(thenMs);
    await raw.send(rest).until(({ text }) => text.endsWith('}'));
    if (!raw.text.endsWith('}')) throw new Error('the connection was closed');
    answers.push(raw.text);
  }
  return answers;
}
