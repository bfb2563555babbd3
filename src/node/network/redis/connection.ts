// The connection of a node to Redis: one server, a sentinel's, or a cluster. Calls functions of the library, each with a deadline.
//
//   call ─► sent at once ─► reply                                  known: it happened
//             └ 250 ms without one, or the connection is cut ─► failure `store_away`: it happened, or never will
//
// Nothing is sent twice and nothing waits for a connection: a call has an outcome or an error. Redis refuses a late call by its deadline,
// on Redis's own clock. After a failure, calls are refused at once (circuit breaker) until Redis answers again.
//
//   now in Redis   a reply with time t at our instant r: t - r is a lower bound of the clock offset; the largest recent one counts
import { type RedisPlace, redisPlace } from '../../../core/redis/place.js';
import { openedInTime, openWire, type Wire } from '../../../core/redis/wire.js';
import { Failure } from '../../../core/schema/failure.js';
import { CYCLE_MS } from '../../../core/time/cycle.js';
import { nextTurn } from '../../../core/time/next-turn.js';
import { Rank } from '../../../core/time/rank.js';
import { pause, WallClock } from '../../../core/time/wall.js';
import { DIRECTORY } from './buckets.js';
import { type Fitness, fitnessOf, unchecked, unfitness } from './fitness.js';
import { type FunctionName, functionNamed, librarySource } from './library.js';
import { notStarted, storeAway } from './store-away.js';

/** Interval of the clock requests, in ms, and of the probes while Redis is away. */
const BEAT_MS = 500;
const PROBE_MS = 100;

const FITNESS_MS = 2_000;

const NEVER_THERE = `${DIRECTORY}never-there`;

const SILENCE_MS = 10_000;

/** How long a call may take before the node has started, which one slow answer must not end. */
const START_MS = 5_000;

/** Length of a span of clock replies, in ms. */
const CLOCK_SPAN_MS = 2_000;

interface RedisOptions {
  readonly url: string;
  /** Default: the cycle of the network, or 777 for its first node. */
  readonly cycleMs?: number | undefined;
  readonly onError?: (error: unknown) => void;
  readonly deadlineMs?: number | undefined;
}

interface Link {
  readonly wire: Wire;
  readonly clock: WallClock;
  readonly wait: number;
  readonly onError: (error: unknown) => void;
}

export class RedisConnection {
  cycleMs = CYCLE_MS;
  deadlineMs: number;
  readonly #link: Link;
  readonly #lastingMs: number;
  #away: Failure | undefined;
  #unfit: Failure | undefined;
  #refused: Failure | undefined;
  #fitnessMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Redis's clock minus ours: the maximum of the previous span and of this one. */
  #offsets: [last: number, now: number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  #spanEndMs = 0;

  private constructor(link: Link, deadlineMs: number) {
    this.#link = link;
    this.#lastingMs = deadlineMs;
    this.deadlineMs = Math.max(START_MS, deadlineMs);
  }

  /** @throws Failure `store_away`, `store_unfit`; `wrong_usage` for a bad URL or another cycle length than the network's */
  static async open({ url, cycleMs, onError = () => {}, deadlineMs }: RedisOptions): Promise<RedisConnection> {
    const place = redisPlace(url);
    let wire: Wire;
    try {
      wire = await openWire(place, onError);
    } catch (error) {
      throw unreached(place, error);
    }
    const clock = new WallClock(1_000, { onError });
    clock.start();
    const link = { wire, clock, wait: place.wait, onError };
    const connection = new RedisConnection(link, deadlineMs ?? place.deadlineMs);
    try {
      await openedInTime(wire.sendToAll(['FUNCTION', 'LOAD', 'REPLACE', librarySource]));
      await openedInTime(connection.#askTime());
      await openedInTime(connection.#askFitness());
    } catch (error) {
      connection.close();
      throw unreached(place, error);
    }
    try {
      if (connection.#unfit !== undefined) throw connection.#unfit;
      connection.cycleMs = await cycleOfNetwork(connection, cycleMs);
    } catch (error) {
      connection.close();
      throw error;
    }
    void connection.#beat();
    return connection;
  }

  /** From now on a call has the time that was asked for. */
  started(): void {
    this.deadlineMs = this.#lastingMs;
  }

  /** By the clock of Redis, in unix ms; behind it by at most one round trip. */
  nowMs(): number {
    return this.#link.clock.monotonicMs() + Math.max(this.#offsets[0], this.#offsets[1]);
  }

  monotonicMs(): number {
    return this.#link.clock.monotonicMs();
  }

  get failure(): Failure | undefined {
    return this.#away;
  }

  /** Why Redis takes no writes, or may lose what it has acknowledged, although it answers. */
  get unfit(): Failure | undefined {
    return this.#refused ?? this.#unfit;
  }

  /**
   * Calls a function of the library.
   * @param prefix of the bucket: see buckets.ts
   * @param untilMs latest time of execution, by the clock of Redis, if earlier than the deadline
   * @param isBinary whether texts in the reply are returned as bytes
   * @throws Failure `store_away`
   */
  async call<T = unknown>(
    name: FunctionName,
    prefix: string,
    args: readonly string[] = [],
    { untilMs = Number.POSITIVE_INFINITY, isBinary = false } = {},
  ): Promise<readonly [nowMs: number, result: T]> {
    const head = [String(Math.min(untilMs, this.nowMs() + this.deadlineMs)), String(this.cycleMs)];
    const command = ['FCALL', functionNamed(name), '1', prefix, ...head, ...args];
    const reply = (await this.#send(prefix, command, isBinary)) as readonly [nowMs: number, result: T];
    this.#noteTime(reply[0]);
    return reply;
  }

  /** The second word must be a key. @throws Failure `store_away` */
  command<T = unknown>(...args: string[]): Promise<T> {
    return this.#send(args[1]!, args, false) as Promise<T>;
  }

  /** Messages published while the connection is cut are lost. */
  subscribe(channels: readonly string[], listener: (message: string, channel: string) => void): Promise<void> {
    return this.#link.wire.subscribe(channels, listener);
  }

  #noteTime(redisMs: number): void {
    const nowMs = this.#link.clock.monotonicMs();
    const offset = redisMs - nowMs;
    if (nowMs > this.#spanEndMs) {
      this.#offsets = [this.#offsets[1], offset];
      this.#spanEndMs = nowMs + CLOCK_SPAN_MS;
    } else if (offset > this.#offsets[1]) this.#offsets[1] = offset;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#link.wire.close();
    this.#link.clock.stop();
  }

  async #send(key: string, args: string[], isBinary: boolean): Promise<unknown> {
    if (this.#away !== undefined) throw this.#away;
    try {
      return await this.#inTime(this.#replicated(key, args, isBinary));
    } catch (error) {
      if (!(error as Error).message.includes('Function not found')) throw this.#failed(error);
    }
    // A new server, or one that lost its functions: nothing has been executed yet.
    try {
      await this.#inTime(this.#link.wire.sendToAll(['FUNCTION', 'LOAD', 'REPLACE', librarySource]));
      return await this.#inTime(this.#replicated(key, args, isBinary));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Resolves when enough replicas have the write. Both commands are pipelined. */
  async #replicated(key: string, args: string[], isBinary: boolean): Promise<unknown> {
    const reply = this.#link.wire.send(key, args, isBinary);
    if (this.#link.wait === 0) return reply;
    const waited = this.#link.wire.send(key, ['WAIT', String(this.#link.wait), String(this.deadlineMs)], false);
    const [result, replicas] = await Promise.all([reply, waited]);
    if (Number(replicas) >= this.#link.wait) return result;
    throw new Error(`only ${replicas} of ${this.#link.wait} replicas have it: it happened, and a failover may lose it`);
  }

  #inTime<T>(reply: Promise<T>, ms = this.deadlineMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const { agenda } = this.#link.clock;
      // After a pause of the process the reply may already be in the socket: read it before giving up.
      const late = () => void nextTurn().then(() => reject(new Error(`no answer within ${ms} ms`)));
      const ticket = agenda.at(this.#link.clock.now() + ms, Rank.client, late);
      reply.then(
        (value) => {
          agenda.cancel(ticket);
          resolve(value);
        },
        (error) => {
          agenda.cancel(ticket);
          reject(error);
        },
      );
    });
  }

  /** Errors that Redis returns go to the caller; a lost connection opens the circuit breaker. */
  #failed(error: unknown): Failure {
    const { message } = error as Error;
    if (/^WEIRLATE/.test(message)) return storeAway('Redis was reached after the deadline, and did nothing.');
    if (isRefusal(message)) return refused(message);
    if (/^(ERR|WRONGTYPE|user_script)/.test(message)) {
      this.#link.onError(error);
      return storeAway(`Redis refused the command: ${message}`);
    }
    const why = `${message.replace(/\.$/, '')}.`;
    this.#away ??= storeAway(why);
    return storeAway(why, 'It is not known whether it was done.');
  }

  async #askTime(): Promise<void> {
    const [seconds, micros] = (await this.#link.wire.send('weir', ['TIME'], false)) as [string, string];
    this.#noteTime(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
  }

  /** Checks periodically that Redis does not evict keys and has the required replicas. */
  async #askFitness(): Promise<void> {
    const nowMs = this.monotonicMs();
    if (nowMs - this.#fitnessMs < FITNESS_MS) return;
    const isFirst = this.#fitnessMs === Number.NEGATIVE_INFINITY;
    this.#fitnessMs = nowMs;
    let found: readonly Fitness[];
    try {
      found = (await this.#link.wire.sendToAll(['INFO'])).map((text) => fitnessOf(String(text)));
    } catch (error) {
      if (!isRefusal((error as Error).message)) throw error;
      if (isFirst) this.#link.onError(unchecked(error as Error));
      return;
    }
    this.#unfit = unfitness(found, this.#link.wait);
  }

  /** Deletes what is never there: refused as any other write, by a replica for example, and taken when memory is full. */
  async #askWrite(): Promise<void> {
    try {
      await this.#link.wire.send(NEVER_THERE, ['DEL', NEVER_THERE], false);
      this.#refused = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (!isRefusal(message)) throw error;
      this.#refused = refused(message);
    }
  }

  /** Asks for the time, one request at a time; while Redis is away this is the probe. */
  async #beat(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#inTime(this.#askTime(), this.#away === undefined ? this.deadlineMs : SILENCE_MS);
        this.#away = undefined;
        await this.#inTime(this.#askFitness());
        await this.#inTime(this.#askWrite());
      } catch (error) {
        if (!this.#isClosed) this.#failed(error);
      }
      await pause(this.#away === undefined ? BEAT_MS : PROBE_MS);
    }
  }
}

/** The first node sets the cycle length of the network. */
async function cycleOfNetwork(connection: RedisConnection, asked: number | undefined): Promise<number> {
  const place = `${DIRECTORY}cycle_ms`;
  await connection.command('SET', place, String(asked ?? CYCLE_MS), 'NX');
  const cycleMs = Number(await connection.command('GET', place));
  if (asked === undefined || asked === cycleMs) return cycleMs;
  throw new Failure('wrong_usage', {
    what: `This network cannot be joined with cycles of ${asked} ms.`,
    why: `Its nodes have cycles of ${cycleMs} ms.`,
    fix: 'Leave --cycle-ms out, or use another Redis.',
  });
}

function unreached({ kind, nodes }: RedisPlace, error: unknown): Failure {
  const places = nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  return notStarted(
    `${{ single: 'Redis', cluster: 'The cluster', sentinel: 'The sentinel' }[kind]} at ${places} cannot be asked: ${(error as Error).message}.`,
    error,
  );
}

/** Because of how Redis is set up, or of its state; others are mistakes in a command. */
function isRefusal(message: string): boolean {
  return /^(OOM|NOREPLICAS|READONLY|MISCONF|NOAUTH|NOPERM)/.test(message);
}

function refused(message: string): Failure {
  return storeAway(`Redis refuses it: ${message.replace(/\.$/, '')}.`);
}
