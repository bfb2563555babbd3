// The pages of the node, and the files that they are made of: src/web/node.
import type { TObject } from 'typebox';
import { get } from '../../api/endpoint.js';
import { OfMachine } from '../../api/shapes.js';
import { type BundledFile, bundled } from '../../core/files/bundled.js';
import { forAnyone, route } from '../route.js';

/** Only what this node serves, and no inline script or style. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const [HTML, SCRIPT] = ['text/html; charset=utf-8', 'text/javascript; charset=utf-8'];
const STYLE = 'text/css; charset=utf-8';

export const pages = [
  file('/', HTML, 'node/home.html', 'Shows the most active machines, and the health of this node.'),
  // The same for every slug: the page fetches what it shows.
  file('/m/{slug}', HTML, 'node/machine.html', 'Shows a machine as it moves: counts, transitions, record.', OfMachine),
  file('/home.js', SCRIPT, 'node/home.js', 'The script of the page at /.'),
  file('/machine.js', SCRIPT, 'node/machine.js', 'The script of the page of a machine.'),
  file('/verify.js', SCRIPT, 'node/verify.js', 'Verifies a record in the browser, for the page of a machine.'),
  file('/node.css', STYLE, 'weir.css', 'The style of the pages of the node.'),
  file('/icon.svg', 'image/svg+xml', 'icon.svg', 'The icon of the pages of the node.'),
];

function file(path: string, type: string, name: BundledFile, summary: string, params?: TObject) {
  const answers = { 200: { description: 'The file.', type: type.split(';', 1)[0]! } };
  const endpoint = get(path, { answers, ...(params === undefined ? {} : { shapes: { params } }) });
  return route(endpoint, forAnyone, {
    summary,
    handle(_parts, _request, reply) {
      return reply
        .header('content-type', type)
        .header('content-security-policy', policy)
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-cache')
        .send(bundled(name));
    },
  });
}
