// The page at / and its three files, as the build has bundled them.
import { type BundledFile, bundled } from '../../web/bundled.js';
import { type Route, route } from '../route.js';

/** Nothing but what this node serves, and no script or style inside the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const homePage = file(
  '/',
  'text/html; charset=utf-8',
  'home.html',
  'Shows the most active machines, the clock and the key of this node.',
);
export const homeScript = file('/home.js', 'text/javascript; charset=utf-8', 'home.js', 'The script of the page at /.');
export const homeStyle = file('/home.css', 'text/css; charset=utf-8', 'home.css', 'The style of the page at /.');
export const homeIcon = file('/home.svg', 'image/svg+xml', 'home.svg', 'The icon of the page at /.');

function file(path: string, type: string, name: BundledFile, summary: string): Route {
  return route({
    method: 'GET',
    path,
    auth: 'public',
    tier: 'public',
    domain: 'home',
    summary,
    answers: { 200: { description: 'The file.', type: type.split(';', 1)[0]! } },
    example: { status: 200 },
    handle(_parts, _request, reply) {
      return reply
        .header('content-type', type)
        .header('content-security-policy', policy)
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-cache')
        .send(bundled(name));
    },
  });
}
