// A node of its own process, a thousand readers of one stream, a hundred of which stop reading: the others are told everything, once and
// in order, and the node keeps no more for the hundred than it may.
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { figureIn, mb, metricsOf } from './asking.js';
import { type Caller, Holder, inTurn } from './caller.js';
import { until } from './network/redis/server.js';

const READERS = 1_000;
const STALLED = 100;
const CALLERS = 5;
const AT_A_TIME = 25;
/** Longer than the test: what limits goes on limiting. */
const CYCLE_MS = 3_600_000;
/** Rows before the readers come, told again to those who stall: more than the buffers between two programs of one machine hold. */
const ROWS_BEFORE = 6_000;
const ROWS = 60;
/** What a node may take for a reader, whether it reads or not: the 256 KiB that may wait for it, and its socket; in bytes. */
const EACH_BYTES = 320 << 10;

let node: Serving;
let owner: Caller;
/** The keys of the readers: a caller may have 256 streams. */
let keys: string[];
let contract: string;
let rows: number;

beforeAll(async () => {
  node = await serve(['--data', `${temporaryFolder()}/data`, '--cycle-ms', `${CYCLE_MS}`]);
  owner = await Holder.minted(node.url);
  keys = await inTurn(Array(CALLERS).keys(), async () => (await Holder.minted(node.url)).key);
  contract = await owner.contractOn('busy', {}, true);
  await fill(ROWS_BEFORE);
});

it(`readers lose nothing while ${STALLED} of ${READERS} stall, and the node stays small`, async () => {
  const before = await figure('weir_memory_bytes');
  const good = await opened(READERS - STALLED, (n) => new Reader(node.url, keys[n % CALLERS]!, ''));
  const stalled = await opened(STALLED, (n) => new Reader(node.url, keys[n % CALLERS]!, '?last_event_id=0', true));
  await until(async () => (await figure('weir_stream_readers')) === READERS);
  const first = rows + 1;
  await move(ROWS);
  await Promise.all(good.map((reader) => reader.heard(ROWS)));
  const after = await figure('weir_memory_bytes');
  const readers = await figure('weir_stream_readers');
  const lost = good.filter(({ seqs }) => seqs.join() !== Array.from({ length: ROWS }, (_, n) => first + n).join());
  process.stdout.write(
    `${READERS} readers: ${mb(before)} MB before, ${mb(after)} MB after; ${readers} left, ${lost.length} of ${good.length} lost something\n`,
  );
  expect({ lost: lost.length, isBounded: after - before < READERS * EACH_BYTES }).toEqual({ lost: 0, isBounded: true });
  // Whoever stalled was told as much as fits between the two, and comes back to all of it.
  const [one] = stalled;
  one?.listen();
  // All rows but those of the machine and its contracts.
  await one?.heard(rows - 3);
  expect(one?.seqs).toEqual(Array.from({ length: rows - 3 }, (_, n) => 4 + n));
  for (const reader of [...good, ...stalled]) reader.close();
  await until(async () => (await figure('weir_stream_readers')) === 0);
});

/** Opens so many, some at a time; one that a busy node refuses comes again. */
async function opened(n: number, open: (n: number) => Reader): Promise<Reader[]> {
  const readers: Reader[] = [];
  const one = async (at: number) => {
    for (;;) {
      const reader = open(at);
      if (await reader.opened) return readers.push(reader);
      reader.close();
      await pause(100);
    }
  };
  for (let from = 0; from < n; from += AT_A_TIME)
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, n - from) }, (_, index) => one(from + index)));
  return readers;
}

/** Reads the transitions of a stream from a bare socket, at once or when it is made to. */
class Reader {
  /** Whether it was let in. */
  readonly opened: Promise<boolean>;
  /** Of the transitions that it was told, in order. */
  readonly seqs: number[] = [];
  readonly #socket: Socket;
  #rest = '';
  #id = 0;
  #wake = () => {};

  constructor(url: string, caller: string, query: string, isStalled = false) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.#socket = socket;
    socket.on('error', () => {});
    socket.write(
      `GET /api/chain/busy/stream${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${caller}\r\n\r\n`,
    );
    this.opened = new Promise((resolve) => {
      socket.once('close', () => resolve(false));
      socket.once('data', (data) => {
        const text = data.toString('latin1');
        if (isStalled) {
          socket.pause();
          this.#take(text);
        }
        resolve(text.startsWith('HTTP/1.1 200'));
      });
    });
    if (!isStalled) this.listen();
  }

  listen(): void {
    this.#socket.on('data', (data) => this.#take(data.toString('latin1')));
    this.#socket.resume();
  }

  /** Resolves when it was told so many. */
  async heard(transitions: number): Promise<void> {
    while (this.seqs.length < transitions) {
      if (this.#socket.destroyed) throw new Error(`cut after ${this.seqs.length} of ${transitions} transitions`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) this.#id = Number(line.slice(4));
      else if (line === 'event: transition') this.seqs.push(this.#id);
    }
    this.#wake();
  }
}

/** Has as many keys limited, each of which leaves a row, by a few requests. */
async function fill(keys: number): Promise<void> {
  const keyed = { max_keys: keys, store_keys: 'plain', show_keys: true };
  const contract_id = await owner.deploy('busy', { threshold: 1, within: 60, keyed });
  for (let from = 0; from < keys; from += 1_000) {
    const of = { type: 'request', contract_id, count: 2 };
    await owner.post(
      '/api/chain/busy/events',
      Array.from({ length: 1_000 }, (_, n) => ({ ...of, key: `key-${from + n}` })),
    );
  }
  rows = (await owner.get('/api/chain/busy/state?limit=1')).body.head.seq;
  expect(rows).toBe(3 + keys);
}

/** Moves the contract to and fro, each time a row. */
async function move(times: number): Promise<void> {
  const path = `/api/chain/busy/contracts/${contract}/transition`;
  for (let done = 0; done < times; done += 1) {
    const to = done % 2 === 0 ? 'limiting' : 'allowing';
    rows = (await owner.post(path, { to, hold_cycles: 1_000 })).body.seq;
  }
}

async function figure(name: string): Promise<number> {
  return figureIn(await metricsOf(node.url), name);
}
