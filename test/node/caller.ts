// Owns asking a node over real HTTP, as the owner of a key or as a stranger: what nearly every test of a node asks, and how it was answered.

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed if it is JSON, else the text. */
  readonly body: any;
}

type Fields = Readonly<Record<string, string>>;

export class Caller {
  readonly url: string;
  readonly key: string;

  /** @param key '': a stranger */
  constructor(url: string, key = '') {
    this.url = url;
    this.key = key;
  }

  /** Who asks another node with the same key. */
  at({ url }: { readonly url: string }): Caller {
    return new Caller(url, this.key);
  }

  /** @param body sent as JSON, or as it is if it is text */
  async ask(method: string, path: string, body?: unknown, more: Fields = {}): Promise<Told> {
    const headers = {
      ...(this.key !== '' && { authorization: `Bearer ${this.key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...more,
    };
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return toldBy(await fetch(`${this.url}${path}`, { method, headers, ...(text !== undefined && { body: text }) }));
  }

  get(path: string, headers?: Fields): Promise<Told> {
    return this.ask('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Fields): Promise<Told> {
    return this.ask('POST', path, body, headers);
  }

  patch(path: string, body: unknown): Promise<Told> {
    return this.ask('PATCH', path, body);
  }

  delete(path: string, headers?: Fields): Promise<Told> {
    return this.ask('DELETE', path, undefined, headers);
  }

  createMachine(slug: string, is_public = false): Promise<Told> {
    return this.post('/api/chain/state-machines', { slug, is_public });
  }

  tryDeploy(slug: string, parameters: object = {}, template = 'rate-limiter'): Promise<Told> {
    return this.post(`/api/contracts/templates/${template}/deploy`, { slug, ...parameters });
  }

  /** @returns the id of the contract @throws Error if the node refuses it */
  async deploy(slug: string, parameters?: object, template?: string): Promise<string> {
    const { status, body } = await this.tryDeploy(slug, parameters, template);
    if (status !== 201) throw new Error(`${slug}: ${status} ${JSON.stringify(body)}`);
    return body.contract.id;
  }

  /** A machine with one contract. @returns the id of the contract */
  async contractOn(slug: string, parameters: object = {}, is_public = false): Promise<string> {
    await this.createMachine(slug, is_public);
    return this.deploy(slug, parameters);
  }

  /** Sends an event of the type `request`. */
  event(slug: string, more: object = {}, headers?: Fields): Promise<Told> {
    return this.post(`/api/chain/${slug}/event`, { type: 'request', ...more }, headers);
  }

  /** The rows of a record. @param query as in `limit=250` */
  async rows(slug: string, query = ''): Promise<any[]> {
    return (await this.get(`/api/chain/${slug}/state${query && `?${query}`}`)).body.rows;
  }

  /** What the node finds that verifies the record of a machine. */
  async verified(slug: string): Promise<any> {
    return (await this.get(`/api/chain/${slug}/state/verify`)).body;
  }

  /** What the owner takes: machines, contracts, cycles of windows, cells of keys, bytes of definitions. */
  async used(): Promise<number[]> {
    const { machines, contracts, window_cycles, key_cells, definition_bytes } = (await this.get('/api/limits')).body;
    return [machines, contracts, window_cycles, key_cells, definition_bytes].map((room) => room.used);
  }

  /** The record of a machine as text. */
  async exported(slug: string): Promise<string> {
    return (await this.get(`/api/chain/${slug}/state?format=ndjson`)).body;
  }
}

/** Who has a key that a node has made, with what was said of it. */
export class Holder extends Caller {
  constructor(
    url: string,
    readonly made: {
      readonly key: string;
      readonly key_id: string;
      readonly owner: string;
      readonly expires_at: string;
    },
  ) {
    super(url, made.key);
  }

  /** A new owner. */
  static async minted(url: string, headers?: Fields): Promise<Holder> {
    return new Holder(url, (await new Caller(url).post('/api/demo-key/mint', undefined, headers)).body);
  }

  /** Another key of the owner. */
  async make(body: object): Promise<Holder> {
    return new Holder(this.url, (await this.post('/api/keys', body)).body);
  }
}

export async function toldBy(response: Response): Promise<Told> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parsed(text) };
}

/** The path of the gate of a contract. */
export function gateOf(slug: string, id: string): string {
  return `/api/chain/${slug}/contracts/${id}/gate`;
}

/** What is looked at most: how a request was answered, and why. */
export function statusAndCode({ status, body }: Told): [status: number, code: unknown] {
  return [status, body.code];
}

/** What comes of each, asked one after the other. */
export async function inTurn<T, R>(all: Iterable<T>, ask: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (const one of all) answers.push(await ask(one, answers.length));
  return answers;
}

/** What comes of each, so many asked at a time, as they are answered. */
export async function someInTurn<T, R>(all: readonly T[], n: number, ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  const rest = all.values();
  const lane = async () => {
    for (const one of rest) answers.push(await ask(one));
  };
  await Promise.all(Array.from({ length: n }, lane));
  return answers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
