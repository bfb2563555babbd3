// What a node does with more requests in one turn of its event loop than it may answer. The bounds are set so that each turn answers one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { loopTurn } from '../../src/core/time/loop-turn.js';
import { Counts } from '../../src/node/metrics.js';
import { Overload } from '../../src/node/overload.js';
import { inTurns, pipelineOf } from '../../src/node/pipelines.js';
import { figureIn, metricsOf } from './asking.js';
import { type Caller, gateOf } from './caller.js';
import { Raw } from './raw.js';
import { type Running, startRunning } from './running.js';

const REQUESTS = 30;

let node: Running;

async function start(overload: { afterMs: number; gateTurnMs: number; otherTurnMs: number }) {
  node = await startRunning({ cycleMs: 3_600_000, limits: { overload } });
  const owner = node.owner();
  return { owner, gate: gateOf('m', await owner.contractOn('m', { threshold: 1_000 })) };
}

/** The answers to requests that all arrive at once on one connection, until it is closed or all are answered. */
async function together(path: string, { key }: Caller, count = REQUESTS): Promise<Raw> {
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return new Raw(node.url).send(request.repeat(count)).answered(count);
}

it('a node refuses what is beyond a turn with 503 and Retry-After, and counts none of it', async () => {
  const { owner, gate } = await start({ afterMs: -1, gateTurnMs: 0, otherTurnMs: 0 });
  const { statuses, text } = await together(gate, owner);
  const refused = statuses.filter((status) => status === 503).length;
  expect(statuses.length).toBe(REQUESTS);
  expect(refused).toBeGreaterThan(0);
  expect(text).toContain('"code":"node_overloaded"');
  expect(text.match(/^Retry-After: [123]\r$/gm)?.length).toBe(refused);
  const { body } = await owner.get(gate);
  expect(body.count).toBe(REQUESTS - refused + 1);
  expect((await metricsOf(node.url)).match(/path="none",status="503"\} (\d+)/)?.[1]).toBe(String(refused));
});

it('an overloaded node says so at /readyz, and is alive at /healthz', async () => {
  const { owner, gate } = await start({ afterMs: -1, gateTurnMs: 0, otherTurnMs: 0 });
  await together(gate, owner);
  const [ready, live] = [await node.ask('GET', '/readyz'), await node.ask('GET', '/healthz')];
  expect([ready.status, ready.body.code, live.status, live.body.status]).toEqual([503, 'node_overloaded', 200, 'live']);
});

it('a node goes on with gates while it refuses other requests, and closes the connections of those', async () => {
  const { owner, gate } = await start({ afterMs: -1, gateTurnMs: Number.POSITIVE_INFINITY, otherTurnMs: 0 });
  const gates = await together(gate, owner);
  const others = await together('/api/clock', owner);
  expect(new Set(gates.statuses)).toEqual(new Set([200]));
  // The first of a turn is answered; the first that is refused is the last of its connection.
  expect([others.statuses.at(-1), others.statuses.filter((status) => status === 503).length]).toEqual([503, 1]);
  expect(others.text).toMatch(/^Connection: close\r$/m);
});

it('overload counts how long requests take, and not how long the machine stands still between two of them', () => {
  let nowMs = 1_000;
  const bounds = { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 };
  const overload = new Overload({ monotonicMs: () => nowMs }, new Counts(), bounds);
  const listener = overload.before(() => {});
  const ask = (url: string) => {
    const refused: number[] = [];
    const response = { writeHead: (status: number) => refused.push(status), end: () => {} };
    listener({ method: 'GET', url } as IncomingMessage, response as unknown as ServerResponse);
    return refused[0] ?? 200;
  };
  const gate = '/api/chain/m/contracts/0/gate';
  const askAll = () => [gate, '/api/clock', '/healthz'].map(ask);
  const seen = [];
  // All in one turn of the loop. The machine stands still for a quarter of an hour at a time, with requests that wait.
  for (let n = 0; n < 5; n += 1) {
    nowMs += 1_000_000;
    seen.push(askAll());
  }
  const before = new Set(seen.flat());
  // A slow machine: 5 ms for each request.
  const slow = Array.from({ length: 300 }, () => {
    nowMs += 5;
    return ask(gate);
  });
  expect([before, slow.indexOf(503), new Set(slow.slice(slow.indexOf(503))), askAll()]).toEqual([
    new Set([200]),
    // 125 ms of those above are less than 1 s without waiting.
    expect.any(Number),
    new Set([503]),
    [503, 503, 200],
  ]);
  expect([slow.indexOf(503) > 150, slow.indexOf(503) < 200]).toEqual([true, true]);
});

it('a turn of the loop takes a few requests of a connection, and of all strangers, in order, and refuses too many', async () => {
  const log: string[] = [];
  const refuse = ({ url }: IncomingMessage) => log.push(`refused ${url}`);
  const listener = inTurns({ turn: loopTurn(() => 0), refuse }, 20, (request) => {
    if (request.url!.startsWith('key')) pipelineOf(request).isKnown = true;
    log.push(request.url!);
  });
  const clientOf = (name: string, isKnown: boolean) => {
    const request = { socket: { writable: true } } as IncomingMessage;
    pipelineOf(request).isKnown = isKnown;
    return (n: number) => listener({ ...request, url: `${name}${n}` } as IncomingMessage, {} as ServerResponse);
  };
  const [a, b] = ['a', 'b'].map((name) => clientOf(name, true));
  const turn = () => new Promise<void>((resolve) => setImmediate(() => resolve(log.push('|') as never)));
  // The turn ends behind what the requests left for it.
  for (let n = 1; n <= 40; n += 1) a!(n);
  b!(1);
  for (let left = 4; left > 0; left -= 1) await turn();
  b!(2);
  const upTo = (from: number, to: number, name = 'a') =>
    Array.from({ length: to - from + 1 }, (_, n) => `${name}${from + n}`);
  expect(log).toEqual([
    ...upTo(1, 8),
    'refused a29',
    'b1',
    ...upTo(9, 16),
    '|',
    ...upTo(17, 24),
    '|',
    ...upTo(25, 28),
    '|',
    '|',
    'b2',
  ]);
  log.length = 0;
  for (let n = 1; n <= 20; n += 1) clientOf('s', false)(n);
  b!(3);
  clientOf('/healthz?', false)(1);
  await turn();
  await turn();
  expect(log.slice(0, 19)).toEqual([...upTo(1, 8, 's'), 'b3', '/healthz?1', ...upTo(9, 16, 's'), '|']);
  expect(log.slice(19)).toEqual([...upTo(17, 20, 's'), '|']);
  // Some of a connection that has become known wait among strangers still: what it sent is taken in its order.
  for (let n = 1; n <= 15; n += 1) clientOf('t', false)(n);
  const known = clientOf('key', false);
  for (let n = 1; n <= 20; n += 1) known(n);
  for (let left = 5; left > 0; left -= 1) await turn();
  expect(log.filter((one) => one.startsWith('key'))).toEqual(upTo(1, 20, 'key'));
});

it('a node answers what a client sends at once in order, and closes the connection of one that sends too much', async () => {
  const { owner, gate } = await start({ afterMs: 3_600_000, gateTurnMs: 0, otherTurnMs: 0 });
  const { statuses, text } = await together(gate, owner, 600);
  const counts = [...text.matchAll(/"count":(\d+)/g)].map(([, count]) => Number(count));
  expect(statuses.indexOf(503)).toBe(statuses.length - 1);
  expect(statuses.length).toBeLessThan(600);
  expect(counts).toEqual(Array.from({ length: statuses.length - 1 }, (_, index) => index + 1));
});

it('a node refuses nothing as long as the loop now and then waits', async () => {
  const { owner, gate } = await start({ afterMs: 3_600_000, gateTurnMs: 0, otherTurnMs: 0 });
  expect(new Set((await together(gate, owner, 200)).statuses)).toEqual(new Set([200]));
  expect(figureIn(await metricsOf(node.url), 'weir_malformed_requests_total')).toBe(0);
});
