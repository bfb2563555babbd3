// Gates, which a gateway asks by the method and the path of its client: to the routes all of it is GET. Below a gate, path and query are those of
// the client: the gateway has put a path of its own in front of them. They are not looked at, so that no client chooses what is counted.
//
//   PROPFIND /api/chain/edge/contracts/c1/gate/orders/7?peek=1   ──►   GET /api/chain/edge/contracts/c1/gate/-
import type { IncomingMessage } from 'node:http';

export interface GateRequest extends IncomingMessage {
  askedMethod?: string | undefined;
}

const GATE = /^(\/api\/chain\/[^/?]*\/contracts\/[^/?]*\/gate)(?:(\/)|\?|$)/;

/** Has the request of a gate routed as GET, without what a client has put behind it. Node has read its method, so HEAD has no body. */
export function asGate(request: GateRequest): void {
  const { url = '', method } = request;
  if (!url.includes(method === 'GET' ? '/gate/' : '/gate')) return;
  const [, gate, below] = GATE.exec(url) ?? [];
  if (gate === undefined) return;
  if (method !== 'GET') request.askedMethod = method;
  request.method = 'GET';
  if (below !== undefined) request.url = `${gate}/-`;
}
