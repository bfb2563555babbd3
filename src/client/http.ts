// HTTP exchanges with a node, and their failures: the node cannot be reached, does not answer, or its answer cannot be read.
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { Failure } from '../schema/failure.js';
import { pause } from '../time/wall.js';
import { VERSION } from '../version.js';
import { retryAfterMsIn } from './limit-fields.js';
import { readable, refusalFrom, unreadableAnswer } from './refusal.js';
import { type Answer, type Ask, addressOf, type Transport } from './transport.js';

/** Time limits for connecting, and for a pause in an answer. On a stream the node sends a comment every 10 s. */
const CONNECT_MS = 5_000;
const SILENCE_MS = 30_000;

/** How often a request is sent again that an overloaded node refused, and the longest wait that it may ask for. */
const MOST_REFUSALS = 3;
const LONGEST_WAIT_MS = 10_000;

/** Far above the size of any answer that is read as a whole. */
const LONGEST_ANSWER_BYTES = 64 << 20;

export class Connection implements Transport {
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });

  /** @param url as `baseUrlFrom` gives it */
  constructor(readonly url: string) {}

  /**
   * Sends a request and reads the whole answer, with any status. What an overloaded node refused before anything had happened is sent
   * again when it says.
   * @throws Failure `node_unreachable`, `answer_unreadable`
   */
  async ask(ask: Ask): Promise<Answer> {
    for (let refusals = 0; ; refusals += 1) {
      const answer = await this.#askOnce(ask);
      const waitMs = retryAfterMsIn(answer.headers) ?? Number.POSITIVE_INFINITY;
      const isOverloaded = answer.status === 503 && (answer.body as { code?: unknown })?.code === 'node_overloaded';
      if (!isOverloaded || refusals === MOST_REFUSALS || waitMs > LONGEST_WAIT_MS) return answer;
      await pause(waitMs, ask.signal);
      if (ask.signal?.aborted === true) return answer;
    }
  }

  async #askOnce(ask: Ask): Promise<Answer> {
    const { statusCode: status, headers, body } = await this.#send(ask);
    const text = await this.#textOf(body);
    return { status, headers, body: this.#parse(text, status, headers) };
  }

  /**
   * Sends a request whose answer is a stream of bytes. If the connection breaks, the iteration throws `node_unreachable`.
   * @throws Failure `node_unreachable`, `answer_unreadable`, or the refusal of the node
   */
  async open(ask: Ask, type: string): Promise<AsyncIterable<Buffer>> {
    const { statusCode: status, headers, body } = await this.#send(ask);
    if (status !== 200) {
      const text = await this.#textOf(body);
      throw refusalFrom({ status, body: this.#parse(text, status, headers) }, this.url);
    }
    if (!String(headers['content-type']).startsWith(type)) {
      body.destroy();
      throw this.#unreadable(`It is ${String(headers['content-type'] ?? 'of no type')} and not ${type}.`);
    }
    return this.#piecesOf(body);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #send(ask: Ask): Promise<Dispatcher.ResponseData> {
    const { method, body, headers = {}, signal } = ask;
    const sent = {
      accept: 'application/json',
      'user-agent': `weir/${VERSION}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    try {
      return await request(addressOf(this.url, ask), {
        dispatcher: this.#agent,
        method,
        headers: sent,
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      });
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async *#piecesOf(body: Readable): AsyncGenerator<Buffer> {
    try {
      for await (const piece of body) yield piece as Buffer;
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #textOf(body: Readable): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.#piecesOf(body)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > LONGEST_ANSWER_BYTES) throw this.#unreadable(`It is longer than ${LONGEST_ANSWER_BYTES} bytes.`);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  #parse(text: string, status: number, headers: Answer['headers']): unknown {
    const { location } = headers;
    if (status >= 300 && status < 400) throw this.#unreadable(`It redirects to ${readable(String(location))}.`);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      const begin = readable(text.slice(0, 80));
      throw this.#unreadable(`It has status ${status} and is not JSON: it begins with "${begin}".`);
    }
  }

  #unreadable(why: string): Failure {
    return unreadableAnswer(this.url, why);
  }

  #unreachable(error: unknown): Failure {
    if (error instanceof Failure) return error;
    const { code, message, name } = error as NodeJS.ErrnoException;
    if (name === 'HTTPParserError') return this.#unreadable('It is not HTTP.');
    return new Failure('node_unreachable', {
      what: `The node at ${this.url} could not be reached.`,
      why: reasonOf(code, message),
      fix: 'Start it with `weir serve`, or give its address with --url or WEIR_URL.',
      cause: error,
    });
  }
}

function reasonOf(code: string | undefined, message: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'No program listens on that address (ECONNREFUSED).';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name is not known (${code}).`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `No connection was made within ${CONNECT_MS / 1000} s.`;
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return `Nothing was received for ${SILENCE_MS / 1000} s.`;
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'UND_ERR_ABORTED':
      return 'The connection broke off.';
    default:
      return `${readable(message).replace(/\.$/, '')}${code === undefined ? '' : ` (${code})`}.`;
  }
}
