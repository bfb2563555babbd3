// Owns programs that answer at an address of this machine in place of a node, and what credentials they were sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const servers: Server[] = [];

/** Somebody else at an address of this machine. `seen`: the credentials that it was sent. */
export async function imposter(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { authorization, cookie } = request.headers;
    for (const one of [authorization, cookie]) if (one !== undefined) seen.push(one);
    answer(request, response);
  });
  servers.push(server);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

export function closeImposters(): void {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

/** Answers with what the node at `url` answers to the same question, without any credential. */
export async function replay(url: string, path: string, response: ServerResponse): Promise<void> {
  const real = await fetch(`${url}${path}`);
  response.writeHead(real.status, { 'content-type': real.headers.get('content-type') ?? '' }).end(await real.text());
}
