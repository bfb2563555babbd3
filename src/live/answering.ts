// Owns the smallest HTTP server there is: the same few bytes to every request, so that who asks is all that takes time.
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Answering {
  readonly url: string;
  close(): Promise<void>;
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok';
const END_OF_HEAD = '\r\n\r\n';

/** On a free loopback port. */
export async function startAnswering(): Promise<Answering> {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Answers as many requests as their heads have arrived; none of them may have a body. */
function answer(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let heads = 0;
    for (let at = chunk.indexOf(END_OF_HEAD); at >= 0; at = chunk.indexOf(END_OF_HEAD, at + 4)) heads += 1;
    if (heads > 0) socket.write(ANSWER.repeat(heads));
  });
}
