// Brings targets into one form, and routes every method of a gate as GET. A gateway adds its client's path and query, which are
// ignored: no client chooses what is counted.
//
//   PROPFIND /api/chain/edge/contracts/c1/gate/orders/7?peek=1   ──►   GET /api/chain/edge/contracts/c1/gate/-
import type { IncomingMessage } from 'node:http';

export interface GateRequest extends IncomingMessage {
  askedMethod?: string | undefined;
}

const GATE = /^(\/api\/chain\/[^/?]*\/contracts\/[^/?]*\/gate)(?:(\/)|\?|$)/;

/** Brings a target in absolute form, which names the host instead of the header, into the form of others (RFC 9112, 3.2.2). */
export function asOriginForm(request: IncomingMessage): void {
  const { url = '', headers } = request;
  if (url.startsWith('/')) return;
  const [whole, authority, path = url] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (whole !== undefined) headers.host = authority;
  request.url = path.startsWith('/') ? path : `/${path}`;
}

/** Routes a gate request as GET without the client's path. Node has already read the method, so HEAD has no body. */
export function asGate(request: GateRequest): void {
  const { url = '', method } = request;
  if (!url.includes(method === 'GET' ? '/gate/' : '/gate')) return;
  const [, gate, below] = GATE.exec(url) ?? [];
  if (gate === undefined) return;
  if (method !== 'GET') request.askedMethod = method;
  request.method = 'GET';
  if (below !== undefined) request.url = `${gate}/-`;
}
