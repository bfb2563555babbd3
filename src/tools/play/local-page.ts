// A loopback server for the page of the playground.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostCheck, hostCheck, refuseHostLines } from '../../api/host-names.js';
import { bundled } from '../../core/files/bundled.js';
import { Failure } from '../../core/schema/failure.js';

interface Answer {
  readonly status?: number;
  readonly type: string;
  readonly content: string;
  readonly policy?: string;
}

const HOST = '127.0.0.1';
const TEXT = 'text/plain; charset=utf-8';

/** @param port 0 for a free one @throws Failure `port_in_use` */
export async function servePage(port: number, page: string) {
  const check = hostCheck(HOST, []);
  const served = { type: 'text/html; charset=utf-8', content: page, policy: policyOf(page) };
  const server = createServer((request, response) => send(request, response, answerTo(request, served, check)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? inUse(port) : error));
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(request: IncomingMessage, page: Answer, check: HostCheck): Answer {
  const { method, headers, url = '/' } = request;
  try {
    refuseHostLines(request);
    check(headers.host);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { status: error.status, type: TEXT, content: `${error.message}\n` };
  }
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, type: TEXT, content: 'This page is only read: GET or HEAD.\n' };
  if (url === '/favicon.ico') return { type: 'image/svg+xml', content: bundled('icon.svg') };
  if (/^\/(\?|$)/.test(url)) return page;
  return { status: 404, type: TEXT, content: 'There is no such page.\n' };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, type, content, policy }: Answer,
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    'content-security-policy': `${policy ?? "default-src 'none'"}; frame-ancestors 'none'`,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}

function inUse(port: number): Failure {
  return new Failure('port_in_use', {
    what: `Port ${port} is in use.`,
    fix: 'Give another one with --port, or leave it out for a free one.',
  });
}

export function policyOf(page: string): string {
  return /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page)?.[1] ?? "default-src 'none'";
}
