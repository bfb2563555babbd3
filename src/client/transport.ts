// What sends the requests of a client: undici for the command line and programs of Node (http.ts), fetch for everything else
// (fetch-transport.ts).

export interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Appended to the base address; its segments are encoded. */
  readonly path: string;
  /** Undefined fields are not sent. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
  /** Whether it may be sent again if no answer arrives. Default: false. */
  readonly isSafe?: boolean | undefined;
  /** Longest wait for the answer, in ms. Default: that of the transport. */
  readonly timeoutMs?: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown;
}

export interface Transport {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** Sends a request and reads the whole answer, with any status. Rejects if there is none. */
  ask(ask: Ask): Promise<Answer>;
  /**
   * Sends a request whose answer is a stream of bytes. If the connection breaks, the iteration throws.
   * @param type media type that the answer must have
   */
  open(ask: Ask, type: string): Promise<AsyncIterable<Uint8Array>>;
}

/** The address of a request. */
export function addressOf(base: string, { path, query = {} }: Ask): URL {
  const url = new URL(`${base}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}
