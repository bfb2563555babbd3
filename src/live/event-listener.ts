// Listens to a node's stream of events: what arrived, and when; reconnects when the stream breaks.
//
//   id: 12                                one message: lines up to an empty one; `data` is a CloudEvents envelope
//   event: rate_limited
//   data: {"specversion":"1.0", …}
import { Failure } from '../schema/failure.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';
import type { HttpPool, PoolRequest } from './http-pool.js';

/** A transition as the node recorded it, or an event that one emitted. */
export interface Heard {
  readonly event: string;
  readonly cycle: number;
  readonly contractId: string;
  /** Of a contract with keys: which one it was. */
  readonly key?: string | undefined;
  /** State entered. */
  readonly to: string;
  readonly count: number | undefined;
  /** When it was heard, in unix ms by the clock of the run. */
  readonly atMs: number;
}

export interface EventListenerOptions {
  readonly pool: HttpPool;
  /** Without `last_event_id`. */
  readonly request: PoolRequest;
  readonly clock: Clock;
  readonly onHeard: (heard: Heard) => void;
  /** Asked before the stream is opened again: another program may answer at the address. Throws `key_unproved` */
  readonly prove: () => Promise<void>;
  /** Another program answers there now. The stream is lost. */
  readonly onUnproved: (words: string) => void;
}

const MOST_RETURNS = 5;
const RETURN_AFTER_MS = 100;

export class EventListener {
  readonly #options: EventListenerOptions;
  /** Everything that happened in cycles before this one has been heard. */
  cycle = Number.NEGATIVE_INFINITY;
  /** The stream broke and could not be opened again: what happens on the node is not known any more. */
  isLost = false;
  #lastId = '';
  #returns = 0;
  #stopped = false;
  #rest = '';
  #end: (() => void) | undefined;
  #opened: (() => void) | undefined;
  readonly #waiting: { cycle: number; wake: () => void }[] = [];

  constructor(options: EventListenerOptions) {
    this.#options = options;
  }

  /** Begins to listen. Resolves when the stream is open, or lost. */
  open(): Promise<void> {
    return new Promise((resolve) => {
      this.#opened = resolve;
      this.#listen();
    });
  }

  /** Resolves once everything before `cycle` has been heard, at `untilMs` at the latest, or when the stream is lost. */
  heardUpTo(cycle: number, untilMs: number): Promise<void> {
    if (this.cycle >= cycle || this.isLost) return Promise.resolve();
    return new Promise((resolve) => {
      const { agenda } = this.#options.clock;
      const ticket = agenda.at(untilMs, Rank.report, () => resolve());
      const wake = () => {
        agenda.cancel(ticket);
        resolve();
      };
      this.#waiting.push({ cycle, wake });
    });
  }

  close(): void {
    this.#stopped = true;
    this.#end?.();
  }

  #listen(): void {
    const { pool, request } = this.#options;
    this.#rest = '';
    const headers = { ...request.headers, ...(this.#lastId === '' ? {} : { 'last-event-id': this.#lastId }) };
    this.#end = pool.listen(
      { ...request, headers },
      {
        open: (status) => {
          if (status === 200) {
            this.#opened?.();
            return;
          }
          this.#end?.();
          this.#broken();
        },
        text: (piece) => this.#take(piece),
        over: () => this.#broken(),
      },
    );
  }

  #broken(): void {
    if (this.#stopped) return;
    this.#returns += 1;
    if (this.#returns > MOST_RETURNS) {
      this.#lose();
      return;
    }
    const { clock } = this.#options;
    clock.agenda.at(clock.now() + RETURN_AFTER_MS, Rank.client, () => {
      if (!this.#stopped) void this.#listenAgain();
    });
  }

  async #listenAgain(): Promise<void> {
    try {
      await this.#options.prove();
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'key_unproved')) {
        this.#broken();
        return;
      }
      this.#lose();
      this.#options.onUnproved(error.what);
      return;
    }
    if (!this.#stopped) this.#listen();
  }

  #lose(): void {
    this.isLost = true;
    this.#opened?.();
    for (const { wake } of this.#waiting.splice(0)) wake();
  }

  #take(piece: string): void {
    const messages = (this.#rest + piece).split('\n\n');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) this.#message(message);
  }

  #message(message: string): void {
    const fields = new Map(
      message.split('\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
      }),
    );
    const event = fields.get('event');
    const data = dataIn(fields.get('data'));
    if (event === undefined || data === undefined) return;
    this.#lastId = fields.get('id') ?? this.#lastId;
    this.#returns = 0;
    const cycle = Number(data['cycle']);
    if (event === 'cycle') this.#cycleBegan(cycle);
    else this.#happened(event, cycle, data);
  }

  #cycleBegan(cycle: number): void {
    this.cycle = Math.max(this.cycle, cycle);
    for (const one of this.#waiting.splice(0)) {
      if (one.cycle <= this.cycle) one.wake();
      else this.#waiting.push(one);
    }
  }

  #happened(event: string, cycle: number, data: Readonly<Record<string, unknown>>): void {
    const contractId = String(data['contract_id']);
    const key = typeof data['key'] === 'string' ? data['key'] : undefined;
    const to = String(data['to'] ?? data['state']);
    const count = numberIn(data['count']) ?? countIn(data['substrate']) ?? countIn(data);
    this.#options.onHeard({ event, cycle, contractId, key, to, count, atMs: this.#options.clock.now() });
  }
}

function dataIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text).data;
  } catch {
    return undefined;
  }
}

/** The count with which a transition was fired: input S of the substrate operator. */
function countIn(fired: unknown): number | undefined {
  const { inputs } = (fired ?? {}) as { inputs?: Readonly<Record<string, unknown>> };
  return numberIn(inputs?.['S']);
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
