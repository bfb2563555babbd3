// Owns the page at / and its three files. Leaves what is in them to home/.
import { page } from '../../web/home/page.js';
import { script } from '../../web/home/script.js';
import { style } from '../../web/home/style.js';
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

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b6e8f"/>
<path d="M2 6h5v7M7 9h7M7 11h7" fill="none" stroke="#fff" stroke-width="1.5"/></svg>
`;

export const homePage = file(
  '/',
  'text/html; charset=utf-8',
  page,
  'Shows the most active machines, the clock and the key of this node.',
);
export const homeScript = file('/home.js', 'text/javascript; charset=utf-8', script, 'The script of the page at /.');
export const homeStyle = file('/home.css', 'text/css; charset=utf-8', style, 'The style of the page at /.');
export const homeIcon = file('/home.svg', 'image/svg+xml', icon, 'The icon of the page at /.');

function file(path: string, type: string, text: string, summary: string): Route {
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
        .send(text);
    },
  });
}
