// Owns a connection on which bytes are sent as they are. Leaves what should come back to the tests.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export class Raw {
  /** What has come, a character a byte. */
  text = '';
  isClosed = false;
  readonly socket: Socket;
  #wake = () => {};

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname).setNoDelay().setEncoding('latin1');
    this.socket.on('data', (data) => {
      this.text += data;
      this.#wake();
    });
    // A node that refuses may close the connection that more is being sent on.
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  /** Once there is a connection. */
  static async on(url: string): Promise<Raw> {
    const raw = new Raw(url);
    await once(raw.socket, 'connect');
    return raw;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
  }

  /** Resolves once what has come fits, or the connection is closed. */
  async until(fits: (raw: this) => boolean): Promise<this> {
    while (!this.isClosed && !fits(this)) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this;
  }

  answered(count = 1): Promise<this> {
    return this.until(({ statuses }) => statuses.length >= count);
  }

  ended(): Promise<this> {
    return this.until(() => false);
  }
}

/** Asks by any method and path, with any headers: `fetch` would not send them all. */
export async function plainly(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
) {
  const { hostname, port } = new URL(url);
  const fields = { 'content-length': `${Buffer.byteLength(body)}`, ...headers };
  const asked = request({ hostname, port, path, method, headers: fields }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: said } = answer;
  return { status, headers: said, body: String(Buffer.concat(await answer.toArray())) };
}
