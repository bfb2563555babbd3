// A loopback server for the playground and reports.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostCheck, hostCheck, refuseHostLines } from '../node/host-names.js';
import { Failure } from '../schema/failure.js';
import { bundled } from '../web/bundled.js';

export interface Page {
  readonly status?: number;
  readonly type: string;
  readonly content: string | Uint8Array;
  readonly policy?: string;
}

/** Undefined: not found. */
type Pages = (url: URL) => Page | undefined | Promise<Page | undefined>;

interface LocalPages {
  readonly url: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
export const HTML = 'text/html; charset=utf-8';
export const TEXT = 'text/plain; charset=utf-8';

/** @param port 0 for a free one @throws Failure `port_in_use` */
export async function servePages(port: number, pages: Pages): Promise<LocalPages> {
  const check = hostCheck(HOST, []);
  const server = createServer((request, response) => {
    pageFor(request, response, pages, check)
      .then((page) => send(request, response, page))
      .catch((error: unknown) => {
        const failure = error instanceof Failure ? error : undefined;
        if (response.headersSent) response.destroy();
        else
          send(request, response, {
            status: failure?.status ?? 500,
            type: TEXT,
            content: `${failure?.message ?? 'Internal error.'}\n`,
          });
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? inUse(port) : error));
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function pageFor(
  request: IncomingMessage,
  response: ServerResponse,
  pages: Pages,
  check: HostCheck,
): Promise<Page> {
  const { method, headers, url = '/' } = request;
  refuseHostLines(request);
  check(headers.host);
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return { status: 405, type: TEXT, content: 'These pages are only read.\n' };
  }
  if (url === '/favicon.ico') return { type: 'image/svg+xml', content: bundled('icon.svg') };
  const found = URL.canParse(url, `http://${HOST}`) ? await pages(new URL(url, `http://${HOST}`)) : undefined;
  return found ?? { status: 404, type: TEXT, content: 'There is no such page.\n' };
}

function send(request: IncomingMessage, response: ServerResponse, { status = 200, type, content, policy }: Page): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    'content-security-policy': `${policy ?? "default-src 'none'"}; frame-ancestors 'none'`,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}

function inUse(port: number): Failure {
  return new Failure('port_in_use', {
    what: `Port ${port} is in use.`,
    fix: 'Give another one with --port, or leave it out for a free one.',
  });
}

export function htmlPage(content: string): Page {
  return { type: HTML, content, policy: policyOf(content) };
}

export function policyOf(page: string): string {
  return /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page)?.[1] ?? "default-src 'none'";
}
