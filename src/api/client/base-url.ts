// The address of a node: keys are pinned by it.
import { Failure } from '../../core/schema/failure.js';
import { isLoopback } from '../loopback.js';

export const DEFAULT_URL = 'http://127.0.0.1:7770';

/** Removes slashes at the end. @param given e.g. `https://example.org/weir/` @throws Failure `wrong_usage` */
export function baseUrlFrom(given: string): string {
  const refuse = (what: string, fix = `For example ${DEFAULT_URL}.`) => new Failure('wrong_usage', { what, fix });
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refuse(`--url takes the address of a node, and not "${given}".`);
  if (url.username !== '' || url.password !== '')
    throw refuse('--url takes no user name and no password.', 'Give the API key as WEIR_KEY in the environment.');
  if (url.search !== '' || url.hash !== '') throw refuse('--url takes an address without ? and #.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Plain HTTP to another machine. @param url normalized by `baseUrlFrom` */
export function isReadable(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}

export function insecure(url: string): Failure {
  return new Failure('insecure_connection', {
    what: `No key was sent to ${url}.`,
    why: 'It is another machine, and plain http: everybody on the way can read the key.',
    fix: 'Use https, or an SSH tunnel to a loopback port. To send it nevertheless: --allow plain-http, or `insecure: true`.',
  });
}
