// Owns a small node for the tests, right or wrong in one way: the routes that a live run needs, and a naive rolling window behind
// them. Written apart from the real one, so that both cannot be wrong alike.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { generateSigner } from '../../../src/core/record/signing.js';
import { afterTest } from '../../left-behind.js';
import { loopback } from '../../loopback.js';

/** The one way in which the node is wrong; nothing for a right one. */
export interface Wrong {
  /** Cycles added to the window. */
  readonly windowBy?: number;
  /** Trips when the count reaches the threshold, not when it passes it. */
  readonly tripsAtThreshold?: boolean;
  readonly limitedDoNotCount?: boolean;
  /** Counts each request as 1, whatever `?n=` says. */
  readonly ignoresCost?: boolean;
  /** Of a refused request it charges the part that fits. */
  readonly chargesWhatFits?: boolean;
  readonly neverRestores?: boolean;
  /** Every so many requests. */
  readonly answers500Every?: number;
  readonly dropsEvery?: number;
  readonly hangsEvery?: number;
  /** Cycles added to the stamp, of every so many requests. */
  readonly stampsBy?: number;
  readonly stampsEvery?: number;
  /** Emitted events are not told. */
  readonly keepsEvents?: boolean;
  /** Answers come this late, in ms. */
  readonly slowMs?: number;
  /** Ends the stream of events; who answers from then on shows the same key and does not have it. */
  readonly isReplaced?: boolean;
}

export interface SmallNode {
  readonly url: string;
  /** Requests that came to the gate. */
  readonly gated: () => number;
  /** How often its stream was asked for. */
  readonly streamed: () => number;
  /** Sets the node's clock forward. */
  jump(ms: number): void;
  /** Cuts every connection and listens no more, as a process that is killed. */
  kill(): Promise<void>;
}

interface Contract {
  readonly id: string;
  readonly threshold: number;
  readonly within: number;
  readonly counts: Map<number, number>;
  readonly bucket: Bucket | undefined;
  state: 'allowing' | 'limiting';
}

interface Bucket {
  readonly perMs: number;
  readonly capacity: number;
  tokens: number;
  atMs: number;
}

export async function startSmallNode(cycleMs: number, wrong: Wrong = {}): Promise<SmallNode> {
  const node = new Small(cycleMs, wrong);
  const { url, close } = await loopback(node.server);
  afterTest(() => node.stop());
  return {
    url,
    gated: () => node.gated,
    streamed: () => node.streamed,
    jump: (ms) => {
      node.aheadMs += ms;
    },
    kill: () => {
      node.stop();
      return close();
    },
  };
}

class Small {
  aheadMs = 0;
  gated = 0;
  streamed = 0;
  private readonly signer = generateSigner();
  private readonly other = generateSigner();
  private readonly contracts: Contract[] = [];
  private readonly readers = new Set<ServerResponse>();
  private seq = 0;
  private told = 0;
  private lastCycle: number;
  private readonly ticking: NodeJS.Timeout;
  readonly server: Server;

  constructor(
    private readonly cycleMs: number,
    private readonly wrong: Wrong,
  ) {
    this.lastCycle = this.cycle();
    this.server = createServer((request, response) => this.answer(request, response));
    this.ticking = setInterval(() => this.catchUp(), 1);
  }

  stop(): void {
    clearInterval(this.ticking);
  }

  private now(): number {
    return performance.timeOrigin + performance.now() + this.aheadMs;
  }

  private cycle(): number {
    return Math.floor(this.now() / this.cycleMs);
  }

  /** Lets cycles begin: contracts advance, readers are told. */
  private catchUp(): void {
    const cycle = this.cycle();
    while (this.lastCycle < cycle) {
      this.lastCycle += 1;
      for (const contract of this.contracts) this.evaluate(contract, this.lastCycle);
      this.tell('cycle', { cycle: this.lastCycle });
    }
  }

  private count({ counts, within }: Contract, cycle: number): number {
    let sum = 0;
    const length = within + (this.wrong.windowBy ?? 0);
    for (let c = cycle - length + 1; c <= cycle; c += 1) sum += counts.get(c) ?? 0;
    return sum;
  }

  private evaluate(contract: Contract, cycle: number): void {
    const count = this.count(contract, cycle);
    const most = contract.threshold - (this.wrong.tripsAtThreshold ? 1 : 0);
    const next = count > most ? 'limiting' : 'allowing';
    if (next === contract.state || (next === 'allowing' && this.wrong.neverRestores)) return;
    contract.state = next;
    this.seq += 1;
    const row = { cycle, contract_id: contract.id, to: next, inputs: { S: count } };
    this.tell('transition', row);
    const event = next === 'limiting' ? 'rate_limited' : 'rate_restored';
    if (!this.wrong.keepsEvents) this.tell(event, { cycle, contract_id: contract.id, state: next, count });
  }

  private tell(event: string, data: object): void {
    this.told += 1;
    const envelope = { specversion: '1.0', id: `${this.told}`, time: new Date(this.now()).toISOString() };
    for (const reader of this.readers) {
      reader.write(`id: ${this.seq}\nevent: ${event}\ndata: ${JSON.stringify({ ...envelope, data })}\n\n`);
    }
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request;
    this.catchUp();
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (url === '/api/clock') this.tellClock(response);
      else if (url === '/api/updates/pubkey') this.showKey(response);
      else if (url.startsWith('/api/updates/proof')) this.prove(url, response);
      else if (url.endsWith('/stream')) this.stream(response);
      else if (/\/gate(\?n=\d+)?$/.test(url)) this.gate(url, response);
      else if (method === 'POST' && url === '/api/demo-key/mint') send(response, 201, minted);
      else if (method === 'POST' && url === '/api/chain/state-machines')
        send(response, 201, { ok: true, machine: machineOf(JSON.parse(body).slug) });
      else if (method === 'POST' && url.endsWith('/contracts')) this.create(body, response);
      else send(response, 404, { ok: false, detail: 'There is no such route.' });
    });
  }

  private tellClock(response: ServerResponse): void {
    const cycle = this.cycle();
    const next = (cycle + 1) * this.cycleMs - this.now();
    send(response, 200, { ok: true, cycle, cycle_ms: this.cycleMs, next_cycle_in_ms: Math.max(0, next) });
  }

  private showKey(response: ServerResponse): void {
    const { publicKey: public_key, publicKeyPem: public_key_pem, fingerprint } = this.signer;
    const shown = { public_key, public_key_pem, fingerprint, version: '1.0.0', successions: [] };
    send(response, 200, { ok: true, algorithm: 'Ed25519', ...shown });
  }

  private prove(url: string, response: ServerResponse): void {
    const isOther = this.wrong.isReplaced === true && this.streamed > 0;
    const signature = (isOther ? this.other : this.signer).sign(`weir-node-proof/1 ${url.split('nonce=')[1]}`);
    send(response, 200, { ok: true, public_key: this.signer.publicKey, signature });
  }

  private stream(response: ServerResponse): void {
    this.streamed += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 2000\n\n');
    if (this.wrong.isReplaced) {
      response.end();
      return;
    }
    this.readers.add(response);
    response.on('close', () => this.readers.delete(response));
  }

  private create(body: string, response: ServerResponse): void {
    const { transitions, rule } = JSON.parse(body);
    const { within, condition } = transitions[0].trigger;
    const { rate, per_ms, capacity } = rule?.params ?? {};
    const id = `c${this.contracts.length}`;
    this.contracts.push({
      id,
      within,
      threshold: Number(/\d+/.exec(condition)?.[0]),
      counts: new Map(),
      bucket: rule && { perMs: rate / per_ms, capacity, tokens: capacity, atMs: this.now() },
      state: 'allowing',
    });
    send(response, 201, { ok: true, contract: { ...made, id } });
  }

  private charge(bucket: Bucket, cost: number): boolean {
    const nowMs = this.now();
    bucket.tokens = Math.min(bucket.capacity, bucket.tokens + (nowMs - bucket.atMs) * bucket.perMs);
    bucket.atMs = nowMs;
    const fits = cost <= bucket.tokens;
    if (fits) bucket.tokens -= cost;
    else if (this.wrong.chargesWhatFits) bucket.tokens -= Math.floor(bucket.tokens);
    return fits;
  }

  private gate(url: string, response: ServerResponse): void {
    const { answers500Every, dropsEvery, hangsEvery, limitedDoNotCount, ignoresCost, slowMs } = this.wrong;
    const { stampsBy = 0, stampsEvery = 1 } = this.wrong;
    this.gated += 1;
    const nth = (every: number | undefined) => every !== undefined && this.gated % every === 0;
    if (nth(answers500Every) || nth(dropsEvery)) {
      if (nth(dropsEvery)) response.socket?.destroy();
      else send(response, 500, { ok: false });
      return;
    }
    const contract = this.contracts.find(({ id }) => url.includes(`/contracts/${id}/`))!;
    const cycle = this.cycle();
    const cost = ignoresCost ? 1 : Number(/[?&]n=(\d+)/.exec(url)?.[1] ?? 1);
    if (contract.bucket !== undefined) {
      const isAdmitted = this.charge(contract.bucket, cost);
      const [status, decision, state] = isAdmitted
        ? ([200, 'admitted', 'allowing'] as const)
        : ([429, 'limited', 'limiting'] as const);
      send(response, status, { ok: true, cycle, decision, state, count: 0 });
      return;
    }
    if (!(limitedDoNotCount && contract.state === 'limiting')) {
      // One by one: a transition has the count that led to it.
      for (let n = 0; n < cost; n += 1) {
        contract.counts.set(cycle, (contract.counts.get(cycle) ?? 0) + 1);
        this.evaluate(contract, cycle);
      }
    }
    this.evaluate(contract, cycle);
    if (nth(hangsEvery)) return;
    const decision = contract.state === 'allowing' ? 'admitted' : 'limited';
    const stamped = nth(stampsEvery) ? cycle + stampsBy : cycle;
    const told = { ok: true, cycle: stamped, decision, state: contract.state, count: this.count(contract, cycle) };
    const reply = () => send(response, decision === 'admitted' ? 200 : 429, told);
    if (slowMs === undefined) reply();
    else setTimeout(reply, slowMs);
  }
}

const minted = {
  ok: true,
  key: `weir_${'t'.repeat(43)}`,
  key_id: 'test',
  owner: 'test',
  scopes: ['admin'],
  expires_at: '2100-01-01T00:00:00.000Z',
};

const made = {
  currentState: 'allowing',
  machine: 'load',
  name: 'rate_limiter',
  definition_name: 'rate_limiter',
  version: '1.0',
  created_cycle: 1,
  first_fire_cycle: 2,
};

function machineOf(slug: string): object {
  const head = { seq: 1, hash: '0'.repeat(64) };
  const flags = { is_public: false, is_own: true };
  return { slug, display_name: slug, ...flags, created_cycle: 1, head, contract_count: 0, contracts: [] };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
