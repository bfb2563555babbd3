import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../src/node/registry.js';
import type { Route } from '../../src/node/route.js';
import { type Running, startRunning } from './running.js';

let node: Running;
let key: string;
let session: string;
let contractId: string;

beforeAll(async () => {
  node = await startRunning();
  key = node.keyOf('owner');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'edge-gateway' } });
});
// Every example finds a contract that no other one has moved.
beforeEach(async () => {
  const body = { slug: 'edge-gateway' };
  const deployed = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body });
  contractId = deployed.body.contract.id;
  session = await node.sessionOf(key);
});
afterAll(() => node.close());

describe('the example of every route is answered as declared', () => {
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (_name, route) => {
    const response = await fetch(`${node.url}${pathOf(route)}`, {
      method: route.method,
      headers: headersOf(route),
      ...(route.example.body === undefined ? {} : { body: bodyOf(route.example.body) }),
    });
    expect(response.status).toBe(route.example.status);
    const answer = route.answers[route.example.status];
    const { type = 'application/json', schema } = answer ?? {};
    if (response.status === 204) return;
    expect(response.headers.get('content-type')).toContain(type);
    if (type === 'text/event-stream') return response.body?.cancel();
    const body = await response.text();
    if (schema !== undefined) expect(Compile(schema).Errors(JSON.parse(body))).toEqual([]);
    expect(body.length).toBeGreaterThan(0);
  });

  it('and no route declares another status than that of its example', () => {
    const others = routes.filter(({ answers, example }) => Object.keys(answers).join() !== String(example.status));
    expect(others).toEqual([]);
  });
});

function pathOf({ path, example }: Route): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    (example.params?.[name] ?? '').replace('{contract_id}', contractId),
  );
  return `${filled}?${new URLSearchParams(example.query ?? {})}`;
}

function headersOf({ auth, example }: Route): Record<string, string> {
  const credential: Record<string, string> =
    auth === 'public'
      ? {}
      : auth === 'session'
        ? { cookie: `weir_session=${session}` }
        : { authorization: `Bearer ${key}` };
  const { body, type = 'application/json' } = example;
  return body === undefined ? credential : { ...credential, 'content-type': type };
}

function bodyOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
