// Programs that answer at an address of this machine in place of a node, and what credentials they were sent.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { loopback } from '../../loopback.js';

/** Somebody else at an address of this machine. `seen`: the credentials that it was sent. */
export async function imposter(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { authorization, cookie } = request.headers;
    for (const one of [authorization, cookie]) if (one !== undefined) seen.push(one);
    answer(request, response);
  });
  const { url } = await loopback(server);
  return { url, port: Number(new URL(url).port), seen };
}

/** Answers with what the node at `url` answers to the same question, without any credential. */
export async function replay(url: string, path: string, response: ServerResponse): Promise<void> {
  const real = await fetch(`${url}${path}`);
  response.writeHead(real.status, { 'content-type': real.headers.get('content-type') ?? '' }).end(await real.text());
}
