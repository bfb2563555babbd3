// Owns where a live run sends to: the URL as a person gave it, checked. Leaves connecting to wire.ts.
import { Failure } from '../schema/failure.js';

export interface Endpoint {
  /** Scheme, host and port, for example `http://127.0.0.1:8777`. */
  readonly origin: string;
  /** What every path of a node begins with, without a slash at its end: `` or `/weir`. */
  readonly basePath: string;
  /** Path and query of the URL as given: where a service that is no node is asked. */
  readonly path: string;
}

/**
 * @param allowRemote whether the target may be another machine: load is aimed at nobody by accident
 * @throws Failure `wrong_usage` for what is no http URL, `remote_not_allowed`
 */
export function endpointOf(url: string, allowRemote = false): Endpoint {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new Failure('wrong_usage', {
      what: `"${url}" is no URL of an HTTP service.`,
      fix: 'Give one as http://127.0.0.1:8777.',
    });
  }
  if (!allowRemote && !isLoopback(parsed.hostname)) {
    throw new Failure('remote_not_allowed', {
      what: `Nothing was sent to ${parsed.host}.`,
      why: 'It is not this machine, and load on a machine of somebody else can do harm.',
      fix: 'If it is yours to test, confirm with --allow-remote.',
    });
  }
  return {
    origin: parsed.origin,
    basePath: parsed.pathname.replace(/\/+$/, ''),
    path: `${parsed.pathname}${parsed.search}`,
  };
}

/** 127.0.0.0/8, ::1, and names that stand for them (RFC 6761). */
function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname) || /^(.+\.)?localhost$/.test(hostname);
}
