// The largest body of each kind, sent to each route that takes one: what a stranger makes the thread of the event loop do with it.
import { openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { TObject, TSchema } from 'typebox';
import { afterAll, expect, it } from 'vitest';
import { defaultLimits } from '../../src/node/limits.js';
import { bodyLimitOf, type Route } from '../../src/node/route.js';
import { routes } from '../../src/node/route-list.js';
import { pathOf } from './route-request.js';
import { startRunning } from './running.js';

/** What one request may take, at the best of its tries: everything else on the machine adds to it. */
const MOST_MS = { turn: 20, all: 60 };
const TRIES = 4;

const SENDER = `
const { parentPort } = require('node:worker_threads');
const { request } = require('node:http');
parentPort.on('message', ({ url, method, headers, body }) => {
  const asked = request(url, { method, headers, agent: false }, (answer) => {
    answer.resume().on('end', () => parentPort.postMessage(answer.statusCode));
  });
  asked.on('error', () => parentPort.postMessage(0));
  asked.end(body);
});
`;

// Nothing is refused for how often it comes: what is looked at is what it costs.
const endless = { threshold: 1e9, within: 60, onNode: 1e9 };
const node = await startRunning({
  limits: { newMachines: endless, sessions: endless, definitionKib: endless, mint: endless },
});
const owner = node.owner('alice');
const about = { slug: 'gateway', contractId: await owner.contractOn('gateway', { keyed: { max_keys: 10 } }) };
const session = await node.sessionOf(owner.key);
const sender = new Worker(SENDER, { eval: true });

afterAll(() => sender.terminate());

const taking = routes.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/m/'));

it.each(taking.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s takes little time for every body of allowed length',
  async (_, route) => {
    const limit = bodyLimitOf(route, defaultLimits);
    const dear = [];
    for (const [kind, body] of bodiesFor(route, limit)) {
      const tries = [];
      for (let left = TRIES; left > 0; left -= 1) {
        const { status, ...took } = await costOf(route, body);
        expect(status, `${kind}: ${status}`).toBeLessThan(500);
        tries.push({ kind, status, ...took });
        if (took.turnMs < MOST_MS.turn && took.allMs < MOST_MS.all) break;
        if (left === 1) dear.push(tries);
      }
    }
    expect(dear).toEqual([]);
  },
);

function* bodiesFor({ shapes }: Route, limit: number): Generator<readonly [string, string]> {
  for (const [kind, text] of values(limit - 2)) yield [`an array of ${kind}`, `[${text}]`];
  for (const [kind, text] of values(limit - 100)) yield [`${kind} in a field that is not known`, `{"unknown":${text}}`];
  yield ['names that are not known', `{${repeated(limit - 2, (n) => `"n${n}":0`)}}`];
  yield ['a long name', `{"${'n'.repeat(limit - 20)}":0}`];
  const { properties, anyOf = [] } = (shapes?.body ?? {}) as Partial<TObject> & { anyOf?: TObject[] };
  for (const one of [...anyOf, ...(properties === undefined ? [] : [{ properties }])]) yield* inProperties(one, limit);
}

function* inProperties(
  { properties }: Pick<TObject, 'properties'>,
  limit: number,
): Generator<readonly [string, string]> {
  for (const [name, schema] of Object.entries(properties)) {
    const others = Object.entries(properties).flatMap(([other, of]) => (other === name ? [] : sampleOf(other, of)));
    const rest = others.map((text) => `${text},`).join('');
    for (const [kind, text] of values(limit - 100 - rest.length))
      yield [`${kind} in ${name}`, `{${rest}"${name}":${text}}`];
    for (const [kind, text] of fitting(schema, limit - 100 - rest.length))
      yield [`${kind} in ${name}`, `{${rest}"${name}":${text}}`];
  }
}

/** Texts of JSON of so many bytes. */
function values(bytes: number): readonly (readonly [string, string])[] {
  return [
    ['a string', `"${'a'.repeat(bytes - 2)}"`],
    ['escapes', `"${'\\ud83d\\ude00'.repeat(Math.floor(bytes / 12) - 1)}"`],
    ['digits', '9'.repeat(bytes)],
    ['equal strings', `[${repeated(bytes - 2, () => '"admin"')}]`],
    ['strings', `[${repeated(bytes - 2, (n) => `"${n}"`)}]`],
    ['empty objects', `[${repeated(bytes - 2, () => '{}')}]`],
    ['numbers', `[${repeated(bytes - 2, (n) => String(n))}]`],
    ['fields', `{${repeated(bytes - 2, (n) => `"f${n}":${n}`)}}`],
    ['fields of objects', `{${repeated(bytes - 2, (n) => `"f${n}":{"x":1}`)}}`],
    ['nested arrays', `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`],
    ['nested objects', `${'{"a":'.repeat((bytes - 2) / 6)}{}${'}'.repeat((bytes - 2) / 6)}`],
  ];
}

/** Arrays of as many items as fit, each with all that is allowed of it, and one that is not. */
function fitting(schema: TSchema, bytes: number): readonly (readonly [string, string])[] {
  const { items } = schema as { items?: TObject };
  if (items?.properties === undefined) return [];
  const item = `{${Object.entries(items.properties).flatMap(([name, of]) => sampleOf(name, of))}}`;
  return [['items that fit', `[${repeated(bytes - 2, () => item)}]`]];
}

function sampleOf(name: string, schema: TSchema): readonly string[] {
  const { type, maxLength = 8 } = schema as { type?: unknown; maxLength?: number };
  if (name === 'slug' || name === 'machine') return ['"slug":"gateway"'];
  if (type === 'string') return [`"${name}":"${'a'.repeat(Math.min(maxLength, 64))}"`];
  return type === 'integer' || type === 'number' ? [`"${name}":1`] : [];
}

function repeated(bytes: number, part: (n: number) => string): string {
  const parts = [];
  for (let n = 0, left = bytes; ; n += 1) {
    const text = part(n);
    left -= text.length + 1;
    if (left < 0) return parts.join();
    parts.push(text);
  }
}

function credentialFor({ auth }: Route): Record<string, string> {
  if (auth === 'public') return {};
  return auth === 'session' ? { cookie: `weir_session=${session}` } : { authorization: `Bearer ${owner.key}` };
}

/** The processor time of this thread while another sends a request to the node, which is on this one: of all, and of the longest turn. */
async function costOf(route: Route, body: string): Promise<{ status: number; turnMs: number; allMs: number }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...credentialFor(route),
  };
  const url = `${node.url}${pathOf(route, { ...about, keyId: 'none' })}`;
  const asked = { url, method: route.method, headers, body };
  const answered = new Promise<number>((resolve) => sender.once('message', resolve));
  let turnMs = 0;
  let lastMs = 0;
  let isOver = false;
  const turn = () => {
    const nowMs = threadMs();
    turnMs = Math.max(turnMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(turn);
  };
  sender.postMessage(asked);
  lastMs = threadMs();
  const sentMs = lastMs;
  turn();
  const status = await answered;
  isOver = true;
  return { status, turnMs: Math.max(turnMs, threadMs() - lastMs), allMs: threadMs() - sentMs };
}

const SCHEDULED = openSync('/proc/thread-self/schedstat', 'r');
const text = Buffer.alloc(64);

function threadMs(): number {
  // Makes the system count up to now, not to the last of its ticks.
  process.cpuUsage();
  return Number.parseInt(text.toString('latin1', 0, readSync(SCHEDULED, text, 0, 64, 0)), 10) / 1e6;
}

it('a body that is too long is refused on every route but gates', async () => {
  const refused = await Promise.all(
    taking
      .filter(({ isGate }) => !isGate)
      .map(async (route) => {
        const limit = bodyLimitOf(route, defaultLimits);
        const body = `{"unknown":"${'a'.repeat(limit)}"}`;
        const path = pathOf(route, { ...about, keyId: 'none' });
        const { body: problem } = await node.ask(route.method, path, { headers: credentialFor(route), body });
        return problem.code;
      }),
  );
  expect(new Set(refused)).toEqual(new Set(['body_too_large']));
});

it.each([
  ['scopes', 1_500, '/scopes must not have more than 4 items (and 1 more).', 2],
  ['unknown', 200, '/n0 is not known; allowed here: scopes, machine, expires_in_days (and 9 more).', 10],
])('a refusal names at most ten faults, and looks into nothing too long: %s', async (kind, times, why, faults) => {
  const body =
    kind === 'scopes'
      ? { scopes: Array.from({ length: times }, () => 'admin'), machine: 7 }
      : Object.fromEntries(Array.from({ length: times }, (_, n) => [`n${n}`, 0]));
  const { status, body: problem } = await owner.post('/api/keys', body);
  expect([status, problem.errors.length]).toEqual([400, faults]);
  expect(problem.detail).toContain(why);
});

// biome-ignore format: one case a line
it.each([
  ['fields', JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`n${n}`, 0]))), 'more than 256 fields'],
  ['levels', `{"scopes":${'['.repeat(64)}${']'.repeat(64)}}`, 'more than 64 deep'],
])('a body with too many %s is refused before it is parsed', async (_, body, why) => {
  const { status, body: problem } = await owner.post('/api/keys', body);
  expect([status, problem.code, problem.detail]).toEqual([400, 'invalid_input', expect.stringContaining(why)]);
});

it.each([
  ['}]":{[', 400],
  ['a\\"{"x":', 400],
])('signs within a string are no structure: %j', async (text, status) => {
  const body = JSON.stringify({ scopes: [text.repeat(100)] });
  const { status: got, body: problem } = await owner.post('/api/keys', body);
  expect([got, problem.detail]).toEqual([status, expect.stringContaining('/scopes/0')]);
});
