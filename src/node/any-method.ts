// Routes that a gateway asks by the method and the path of its client. Below a gate, path and query are those of the client: the gateway
// has put a path of its own in front of them. They are not looked at, so that no client chooses what is counted.
//
//   PROPFIND /api/chain/edge/contracts/c1/gate/orders/7?peek=1   ──►   PROPFIND /api/chain/edge/contracts/c1/gate/-
import { type IncomingMessage, METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Route } from './route.js';

/** All that Node reads; CONNECT never reaches a route. */
const ALL = METHODS.filter((method) => method !== 'CONNECT');

/** Methods of routes that read a body, and those that never have one. */
const AS_THEY_ARE = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);

const BELOW = /^(\/api\/chain\/[^/?]*\/contracts\/[^/?]*\/gate\/)/;

/** Calls `mount` for each route that answers every method, with the methods that no other route of its path declares. */
export async function mountAnyMethod(
  app: FastifyInstance,
  routes: readonly Route[],
  mount: (app: FastifyInstance, route: Route, others: readonly string[]) => void,
): Promise<void> {
  for (const method of ALL) {
    if (!AS_THEY_ARE.has(method)) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  await app.register(async (gates) => {
    gates.removeAllContentTypeParsers();
    gates.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const route of routes.filter(({ takesAnyMethod }) => takesAnyMethod)) {
      const declared = routes.filter(({ path }) => path === route.path).map(({ method }): string => method);
      mount(gates, route, route.method === 'GET' ? ALL.filter((method) => !declared.includes(method)) : []);
    }
  });
}

/** The target of a request without what a client has put behind a gate. */
export function withoutClientPath({ url = '' }: IncomingMessage): string {
  const [own] = url.includes('/gate/') ? (BELOW.exec(url) ?? []) : [];
  return own === undefined ? url : `${own}-`;
}
