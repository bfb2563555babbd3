// The names under which a node answers. A page of another site can give its own name the address of this machine (DNS rebinding): for the
// browser it is then the same site as the node. The name in the field Host shows it.
import { isLoopback } from '../api/loopback.js';
import { Failure } from '../schema/failure.js';

/** Checks the field Host of a request. @throws Failure `host_refused` */
export type HostCheck = (host: string | undefined) => void;

/** Names that were checked and hold; more are checked each time. */
const REMEMBERED = 64;

/**
 * Loopback names, and those that are given, for example of a proxy on this machine. A node that other machines reach answers to every
 * name unless some are given: then nothing is checked.
 * @param address that the node listens on
 * @param names without a port
 */
export function hostCheck(address: string, names: readonly string[]): HostCheck | undefined {
  if (names.length === 0 && !isLoopback(address)) return undefined;
  const allowed = new Set([address, ...names].map((name) => name.toLowerCase()));
  const known = new Set<string>();
  return (host) => {
    // Only programs send none: HTTP/1.0.
    if (host === undefined || known.has(host)) return;
    const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1]?.toLowerCase() ?? '';
    if (!isLoopback(name) && !allowed.has(name)) throw refused(host);
    if (known.size < REMEMBERED) known.add(host);
  };
}

function refused(host: string): Failure {
  return new Failure('host_refused', {
    what: 'The request was refused.',
    why: `It is for the host "${host.slice(0, 100)}", and this node does not answer to that name.`,
    fix: 'If a proxy passes the name on, start the node with `--host-name <name>`.',
  });
}
