// The names under which a node answers. In DNS rebinding, a page of another site points its own name at this machine, and the browser takes
// the node for that site; the Host field has the name. Addresses and names without a dot need no check: public DNS cannot answer for them.
//
//                      127.0.0.1:7770   10.0.0.7   weir:7770   api.example.org        others
//   on loopback             yes            -           -        --host-name            421
//   on other addresses      yes           yes         yes       --host-name            421
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Failure } from '../core/schema/failure.js';
import { isLoopback } from './loopback.js';

export type HostCheck = (host: string | undefined) => void;

const REMEMBERED = 64;

/** @param address on which the node listens @param names further ones, without a port */
export function hostCheck(address: string, names: readonly string[]): HostCheck {
  const isLocal = isLoopback(address);
  const allowed = new Set([address, ...names].map((name) => name.toLowerCase()));
  const known = new Set<string>();
  return (host) => {
    // Only programs omit it: HTTP/1.0.
    if (host === undefined || known.has(host)) return;
    const name = /^(\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/.exec(host)?.[1]?.toLowerCase() ?? '';
    const isKnown = isLoopback(name) || allowed.has(name) || (!isLocal && isOfNetwork(name));
    if (!isKnown) throw refused(host);
    if (known.size < REMEMBERED) known.add(host);
  };
}

function isOfNetwork(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) > 0 || /^[a-z0-9_-]+$/.test(name);
}

/** HTTP/1.1 asks for one; of two, a proxy may use the other one. @throws Failure `malformed_request` */
export function refuseHostLines({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): void {
  let lines = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') lines += 1;
  }
  if (lines === 1 || (lines === 0 && httpVersion !== '1.1')) return;
  throw new Failure('malformed_request', {
    what: 'The request was refused.',
    why:
      lines === 0
        ? 'It has no line `Host`, and HTTP/1.1 asks for one.'
        : `It has ${lines} lines \`Host\`, and HTTP allows one.`,
    fix: 'Send one.',
  });
}

function refused(host: string): Failure {
  return new Failure('host_refused', {
    what: 'The request was refused.',
    why: `It is for the host "${host.slice(0, 100)}", and this node does not answer to that name.`,
    fix: 'Ask it by its address, or start it with `--host-name <name>` where a proxy passes the name on.',
  });
}
