// Parses client addresses, methods and paths from the text of a field.
//
//   10.0.0.1:4711   [2001:db8::1]:4711   "10.0.0.1"         10.0.0.1, 2001:db8::1
//   10.0.0.1, 10.0.0.2, 10.0.0.3                            hop 1 is 10.0.0.1, hop -1 is 10.0.0.3
//   GET http://example.org/a/b?c=d HTTP/1.1                 method GET, path /a/b
import { isIP } from 'node:net';

export function pathOf(text: string): string {
  return urlOf(text).split(/[?#]/, 1)[0]!.replace(HOST, '');
}

/** Without its `?`. */
function queryOf(text: string): string {
  return /^[^?#]*\?([^#]*)/.exec(urlOf(text))?.[1] ?? '';
}

/** A path that is a field of its own may hold blanks: the server has decoded it. */
function urlOf(text: string): string {
  if (text.startsWith('/')) return text.replace(/\sHTTP\/[\d.]+$/, '');
  return text.slice(text.indexOf(' ') + 1).split(/\s/, 1)[0]!;
}

/** With its scheme; or the name alone before a path, as `$host$request_uri` of nginx. */
const HOST = /^(?:\w{2,7}:\/\/[^/]*|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?=\/))/i;

/** What a request line holds, by role. */
export const partsOfLine: Readonly<Record<string, (text: string) => string>> = {
  method: (text) => text.split(/\s/, 1)[0]!,
  path: pathOf,
  query: queryOf,
};

/** '' if there is no such hop, counted from 1, or from -1 at the end. `always`: a port follows even bare IPv6. */
export function addressOf(text: string, hop: number, always: boolean): string {
  const hops = text.includes(',') ? text.split(',') : [text];
  return bare(hops.at(hop > 0 ? hop - 1 : hop) ?? '', always);
}

/** A bare IPv6 address has many colons, and no port unless `always`. */
const PORT = /^(\[.*\]|[^:]*):\d+$/s;

function bare(hop: string, always: boolean): string {
  const address = hop.replace(/^[\s"',]+|[\s"',]+$/g, '');
  const host = always ? address.replace(/:\d+$/, '') : (PORT.exec(address)?.[1] ?? address);
  return host.length > 2 && host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

export function isDressedAddress(text: string): boolean {
  const first = text.split(',', 1)[0]!;
  return (
    text.startsWith('[') ||
    (bare(first, false) !== first && isIP(bare(first, false)) > 0) ||
    (isIP(first) > 0 && first !== text)
  );
}

export function firstAddressIn(text: string): string | undefined {
  for (const [word] of text.matchAll(/(?<![\w.:])[\da-f.:]*[\da-f:](?![g-z_])/gi)) {
    if (isIP(word) > 0) return word;
    const host = word.replace(/[.:]+$/, '').replace(/^([\d.]+):.*/, '$1');
    if (isIP(host) > 0) return host;
  }
  return undefined;
}
