// The connection of a node to Redis: one server, a sentinel's, or a cluster. Calls functions of the library, each with a deadline.
//
//   call ─► sent at once ─► reply                                  known: it happened
//             └ 250 ms without one, or the connection is cut ─► failure `store_away`: it happened, or never will
//
// Nothing is sent twice, and nothing waits for a connection: an outcome is known, or an error. A call that is late in Redis is refused there by
// its deadline, by the clock of Redis. After a failure calls are refused at once (the breaker) until Redis answers again.
//
//   now in Redis   reply says t at the instant r of our clock: t - r is at most the distance of the two clocks; the largest of late counts
import { Failure } from '../../schema/failure.js';
import { CYCLE_MS } from '../../time/cycle.js';
import { nextTurn } from '../../time/next-turn.js';
import { Rank } from '../../time/rank.js';
import { pause, WallClock } from '../../time/wall.js';
import { away, notStarted } from './away.js';
import { DIRECTORY } from './buckets.js';
import { type Fitness, fitnessOf, unchecked, unfitness } from './fitness.js';
import { type FunctionName, functionNamed, librarySource } from './library.js';
import { type RedisPlace, redisPlace } from './place.js';
import { openedInTime, openWire, type Wire } from './wire.js';

/** How often Redis is asked for its time, in ms, and while it is away, whether it is back. */
const BEAT_MS = 500;
const PROBE_MS = 100;

/** How often it is looked whether Redis is set up as it has to be, in ms. */
const FITNESS_MS = 2_000;

/** Silence after which a connection is given up, in ms. */
const SILENCE_MS = 10_000;

/** Replies of this many ms decide how far the clocks are apart. */
const CLOCK_SPAN_MS = 2_000;

interface RedisOptions {
  readonly url: string;
  /** Default: that of the network, or 777 where this is its first node. */
  readonly cycleMs?: number | undefined;
  readonly onError?: (error: unknown) => void;
  /** Instead of that of the URL. */
  readonly deadlineMs?: number | undefined;
}

export class RedisConnection {
  readonly deadlineMs: number;
  #cycleMs = CYCLE_MS;
  readonly #clock: WallClock;
  readonly #wire: Wire;
  /** Replicas that must have what a call wrote. */
  readonly #wait: number;
  readonly #onError: (error: unknown) => void;
  #away: Failure | undefined;
  #unfit: Failure | undefined;
  #fitnessMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Redis's clock less ours: of the last span, and of the one before. */
  #offsets: [last: number, now: number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  #spanEndMs = 0;

  private constructor(
    wire: Wire,
    clock: WallClock,
    deadlineMs: number,
    wait: number,
    onError: (error: unknown) => void,
  ) {
    this.#wire = wire;
    this.#clock = clock;
    this.deadlineMs = deadlineMs;
    this.#wait = wait;
    this.#onError = onError;
  }

  /** @throws Failure `store_away`, `store_unfit`, `wrong_usage` for a URL that names no Redis, and for another length of cycles than that of the network */
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
    const connection = new RedisConnection(wire, clock, deadlineMs ?? place.deadlineMs, place.wait, onError);
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
      connection.#cycleMs = await cycleOfNetwork(connection, cycleMs);
    } catch (error) {
      connection.close();
      throw error;
    }
    void connection.#beat();
    return connection;
  }

  /** Now, by the clock of Redis, in unix ms: at most the time of a round trip behind it. */
  nowMs(): number {
    return this.#clock.monotonicMs() + Math.max(this.#offsets[0], this.#offsets[1]);
  }

  /** Length of a cycle, in ms: the same for all nodes of a network. */
  get cycleMs(): number {
    return this.#cycleMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Why Redis cannot be asked now; undefined while it can. */
  get failure(): Failure | undefined {
    return this.#away;
  }

  /** Why Redis may lose what it has acknowledged, though it answers; undefined where it is set up as it has to be. */
  get unfit(): Failure | undefined {
    return this.#unfit;
  }

  /**
   * Calls a function of the library.
   * @param prefix that of the bucket; see buckets.ts
   * @param untilMs when it must have happened at the latest, by the clock of Redis, if that is before its deadline
   * @param isBinary whether texts in the reply come as their bytes
   * @returns the time of Redis, and what the function says
   * @throws Failure `store_away`
   */
  async call<T = unknown>(
    name: FunctionName,
    prefix: string,
    args: readonly string[] = [],
    { untilMs = Number.POSITIVE_INFINITY, isBinary = false } = {},
  ): Promise<readonly [nowMs: number, said: T]> {
    const head = [String(Math.min(untilMs, this.nowMs() + this.deadlineMs)), String(this.#cycleMs)];
    const reply = await this.#send(prefix, ['FCALL', functionNamed(name), '1', prefix, ...head, ...args], isBinary);
    const said = reply as readonly [nowMs: number, said: T];
    this.#heard(said[0]);
    return said;
  }

  /** Sends a command, whose second word is a key. @throws Failure `store_away` */
  command<T = unknown>(...args: string[]): Promise<T> {
    return this.#send(args[1]!, args, false) as Promise<T>;
  }

  /** What is published from now on. What is published while the connection is cut is not heard. */
  subscribe(channels: readonly string[], listener: (message: string, channel: string) => void): Promise<void> {
    return this.#wire.subscribe(channels, listener);
  }

  /** Takes note of the time of Redis in a reply that has just come. */
  #heard(redisMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const offset = redisMs - nowMs;
    if (nowMs > this.#spanEndMs) {
      this.#offsets = [this.#offsets[1], offset];
      this.#spanEndMs = nowMs + CLOCK_SPAN_MS;
    } else if (offset > this.#offsets[1]) this.#offsets[1] = offset;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wire.close();
    this.#clock.stop();
  }

  async #send(key: string, args: string[], isBinary: boolean): Promise<unknown> {
    if (this.#away !== undefined) throw this.#away;
    try {
      return await this.#inTime(this.#replicated(key, args, isBinary));
    } catch (error) {
      if (!isMissingFunction(error)) throw this.#failed(error);
    }
    // A server that lost its functions, or a new one: nothing has happened yet.
    try {
      await this.#inTime(this.#wire.sendToAll(['FUNCTION', 'LOAD', 'REPLACE', librarySource]));
      return await this.#inTime(this.#replicated(key, args, isBinary));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** The reply, once enough replicas have what was written. Both are sent at once, one behind the other. */
  async #replicated(key: string, args: string[], isBinary: boolean): Promise<unknown> {
    const reply = this.#wire.send(key, args, isBinary);
    if (this.#wait === 0) return reply;
    const waited = this.#wire.send(key, ['WAIT', String(this.#wait), String(this.deadlineMs)], false);
    const [told, replicas] = await Promise.all([reply, waited]);
    if (Number(replicas) >= this.#wait) return told;
    throw new Error(`only ${replicas} of ${this.#wait} replicas have it: it happened, and a failover may lose it`);
  }

  #inTime<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { agenda } = this.#clock;
      // A process that stood still is as late as the answer may be, and may have it already: what has come is read before this is said.
      const late = () => void nextTurn().then(() => reject(new Error(`no answer within ${this.deadlineMs} ms`)));
      const ticket = agenda.at(this.#clock.now() + this.deadlineMs, Rank.client, late);
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

  /** What Redis refuses is for the caller; that it is not there opens the breaker. */
  #failed(error: unknown): Failure {
    const { message } = error as Error;
    if (/^WEIRLATE/.test(message)) return away('Redis was reached after the deadline, and did nothing.');
    if (/^(OOM|NOREPLICAS|READONLY|MISCONF)/.test(message)) return away(`Redis refuses writes: ${message}`);
    if (isRefusal(message)) {
      this.#onError(error);
      return away(`Redis refused the command: ${message}`);
    }
    const why = `${message.replace(/\.$/, '')}.`;
    this.#away ??= away(why);
    return away(why, 'It is not known whether it was done.');
  }

  async #askTime(): Promise<void> {
    const [seconds, micros] = (await this.#wire.send('weir', ['TIME'], false)) as [string, string];
    this.#heard(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
  }

  /** Looks, now and then, whether Redis evicts keys, and has the replicas that are waited for. */
  async #askFitness(): Promise<void> {
    const nowMs = this.monotonicMs();
    if (nowMs - this.#fitnessMs < FITNESS_MS) return;
    const isFirst = this.#fitnessMs === Number.NEGATIVE_INFINITY;
    this.#fitnessMs = nowMs;
    let found: readonly Fitness[];
    try {
      found = (await this.#wire.sendToAll(['INFO'])).map((text) => fitnessOf(String(text)));
    } catch (error) {
      if (!isRefusal((error as Error).message)) throw error;
      if (isFirst) this.#onError(unchecked(error as Error));
      return;
    }
    this.#unfit = unfitness(found, this.#wait);
  }

  /** Asks for the time, and while Redis is away, until it answers. One question at a time. */
  async #beat(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const asked = this.#askTime();
        if (this.#away === undefined) await this.#inTime(asked);
        else await Promise.race([asked, pause(SILENCE_MS).then(() => Promise.reject(new Error('silence')))]);
        this.#away = undefined;
        await this.#inTime(this.#askFitness());
      } catch (error) {
        if (!this.#isClosed) this.#failed(error);
      }
      await pause(this.#away === undefined ? BEAT_MS : PROBE_MS);
    }
  }
}

/** All nodes of a network have cycles of one length: that of the first. */
async function cycleOfNetwork(connection: RedisConnection, asked: number | undefined): Promise<number> {
  const place = `${DIRECTORY}cycle_ms`;
  await connection.command('SET', place, String(asked ?? CYCLE_MS), 'NX');
  const lasting = Number(await connection.command('GET', place));
  if (asked === undefined || asked === lasting) return lasting;
  throw new Failure('wrong_usage', {
    what: `This network cannot be joined with cycles of ${asked} ms.`,
    why: `Its nodes have cycles of ${lasting} ms.`,
    fix: 'Leave --cycle-ms out, or use another Redis.',
  });
}

/** The failure of a node that is not there yet: nothing can be asked of it. */
function unreached({ kind, nodes }: RedisPlace, error: unknown): Failure {
  const places = nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  return notStarted(
    `${{ single: 'Redis', cluster: 'The cluster', sentinel: 'The sentinel' }[kind]} at ${places} cannot be asked: ${(error as Error).message}.`,
    error,
  );
}

function isRefusal(message: string): boolean {
  return /^(ERR|WRONGTYPE|NOAUTH|NOPERM|user_script)/.test(message);
}

function isMissingFunction(error: unknown): boolean {
  return (error as Error).message.includes('Function not found');
}
