import { Compile } from 'typebox/compile';
import { beforeEach, expect, it } from 'vitest';
import type { Auth } from '../../src/node/permission.js';
import { routes } from '../../src/node/route-list.js';
import { nodeOfFile } from './node-of-file.js';
import { bodyOf, endsMachine, pathOf, statusOf } from './route-request.js';
import type { Ask } from './running.js';

const slug = 'edge-gateway';
let session: string;
let contractId: string;

const node = await nodeOfFile();
const owner = node.owner();
await owner.createMachine(slug);

// Every example finds a contract with a candidate, which no other one has moved.
beforeEach(async () => {
  contractId = await owner.deploy(slug);
  await owner.patch(`/api/chain/${slug}/contracts/${contractId}`, { candidate: { threshold: 50 } });
  session = await node.sessionOf(owner.key);
});

it.each(routes)('$method $path answers its example as it declares', async (route) => {
  const about = { slug, contractId, keyId: node.idOf(node.keyOf('owner')) };
  if (endsMachine(route)) {
    about.slug = `deleted-with-${contractId}`;
    about.contractId = await owner.contractOn(about.slug);
  }
  const response = await node.send(route.method, pathOf(route, about), {
    ...credentialFor(route.auth),
    body: bodyOf(route, about),
  });
  expect(response.status).toBe(statusOf(route));
  expect([response.headers.get('cache-control'), response.headers.get('x-content-type-options')]).toEqual([
    route.domain === 'home' ? 'no-cache' : 'no-store',
    'nosniff',
  ]);
  const { type = 'application/json', schema } = route.answers[statusOf(route)] ?? {};
  if (type === 'text/event-stream') return response.body?.cancel();
  const text = await response.text();
  if (response.status === 204) return expect(text).toBe('');
  expect(response.headers.get('content-type')).toContain(type);
  if (schema === undefined) return expect(text).not.toBe('');
  expect(Compile(schema).Errors(JSON.parse(text))).toEqual([]);
});

it('a route declares one status, beside problems', () => {
  const good = routes.map(({ answers }) => Object.keys(answers).filter((status) => Number(status) < 400));
  expect(good.filter((statuses) => statuses.length !== 1)).toEqual([]);
});

function credentialFor(auth: Auth): Ask {
  if (auth === 'public') return {};
  return auth === 'session' ? { session } : { key: owner.key };
}
