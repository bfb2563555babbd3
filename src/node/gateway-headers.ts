// Reads what a gateway sends in headers: its own key, the client's key, the cost. The contract's definition names the headers. A missing or
// unreadable header is answered with 403, since gateways pass on 401 and 403 and turn others into 500.
//
//   X-Forwarded-For: 10.0.0.1, 203.0.113.7, 198.51.100.2       what a client sends is on the left
//                    hops 3    hops 2       hops 1 ─ added by the gateway itself
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type GatewayDefinition, LONGEST_KEY } from '../core/limiter/gateway-definition.js';
import { networkOf } from '../core/schema/address-network.js';
import { Failure, unreachable } from '../core/schema/failure.js';

type KeySource = NonNullable<GatewayDefinition['key']>;

type Headed = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

const FORWARDED_FOR = 'x-forwarded-for';
const MOST_COST = 100;

/** The client's key. @throws Failure `gate_header_unusable` */
export function keyIn(request: Headed, source: KeySource): string {
  const { name, value } = readKey(request, source);
  if (value !== undefined && value !== '' && value.length <= LONGEST_KEY) return value;
  if (value === undefined && source.absent !== undefined) return source.absent;
  throw unusable(
    name,
    value === undefined ? 'is missing' : 'holds no key',
    `Send 1 to ${LONGEST_KEY} characters in it.`,
  );
}

function readKey(request: Headed, source: KeySource): { name: string; value: string | undefined } {
  const { headers } = request;
  if ('header' in source) {
    const name = source.header;
    const value = singleIn(request, name)?.trim();
    // Gateways and Node.js join header lines with commas: a second line would make a new key for each request.
    if (value?.includes(',')) throw unusable(name, 'holds several values', 'Send one, without a comma.');
    return { name, value };
  }
  if ('forwarded' in source) {
    const { hops, header: name = FORWARDED_FOR } = source.forwarded;
    return { name, value: addressIn(headerIn(headers, name), hops) };
  }
  if ('uri' in source) {
    const { header: name, segments } = source.uri;
    return { name, value: pathIn(singleIn(request, name), segments) };
  }
  return unreachable(source);
}

function singleIn({ headers, rawHeaders }: Headed, name: string): string | undefined {
  const value = headerIn(headers, name);
  if (value === undefined) return undefined;
  const wanted = name.toLowerCase();
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === wanted) lines += 1;
  if (lines > 1) throw unusable(name, `is sent ${lines} times`, 'Send it once.');
  return value;
}

/** The address that the outermost trusted proxy added; '' if it is invalid, undefined if the list is shorter. */
function addressIn(list: string | undefined, hops: number): string | undefined {
  if (list === undefined) return undefined;
  let end = list.length;
  let begin = list.lastIndexOf(',') + 1;
  for (let left = hops - 1; left > 0; left -= 1) {
    if (begin === 0) return undefined;
    end = begin - 1;
    begin = end === 0 ? 0 : list.lastIndexOf(',', end - 1) + 1;
  }
  const text = list.slice(begin, end).trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? (/^([^:]*):\d+$/.exec(text)?.[1] || text);
  return isIP(address) === 0 ? '' : networkOf(address);
}

/**
 * The path of a target or URI without its query, in one spelling of all that servers treat as equal; cut if long.
 *
 *   //api   /./api   /x/../api   /%61pi   /api/   /api?a=b        are all /api        RFC 3986, 6.2.2, and as nginx reads it
 */
function pathIn(uri: string | undefined, segments: number | undefined): string | undefined {
  const path = uri?.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
  if (path === undefined || !path.startsWith('/')) return path && '';
  const kept: string[] = [];
  for (const part of inOneSpelling(path).split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  return `/${kept.slice(0, segments).join('/')}`.slice(0, LONGEST_KEY);
}

/** Visible ASCII as itself, every other byte as %XX. */
function inOneSpelling(path: string): string {
  const decoded = path.replace(/%([\dA-Fa-f]{2})/g, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded.replace(/[^!-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** The cost in requests, at least 1. @throws Failure `gate_header_unusable` */
export function costIn(
  headers: IncomingHttpHeaders,
  { header, max = MOST_COST }: NonNullable<GatewayDefinition['cost']>,
) {
  const value = headerIn(headers, header);
  if (value === undefined) return 1;
  const cost = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (cost >= 1 && cost <= max) return cost;
  throw unusable(header, 'holds no cost', `Send a whole number from 1 to ${max} in it, or leave it out.`);
}

export function headerIn(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function unusable(name: string, why: string, fix: string): Failure {
  return new Failure('gate_header_unusable', {
    what: 'The request was not counted, and is not admitted.',
    why: `Its header ${name} ${why}.`,
    fix,
  });
}
