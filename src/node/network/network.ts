// One of many nodes over one Redis: what the routes ask in place of the host of this process.
//
//   plain contract   ─► micro-batch ─► counted, decided and moved by a script        exact over all nodes, by the clock of Redis
//   other contract   ─► a turn: the gate of this process, by compare-and-set
//   machine, contract, manual move ─► entry ─► linked by whichever node ─► row
//
// The host of this process only knows what exists: nothing counts in it, and nothing wakes.
import { randomUUID } from 'node:crypto';
import { Subject } from 'rxjs';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { KeyRing } from '../../core/record/key-ring.js';
import type { AuditRow } from '../../core/record/row.js';
import { publicKeyFrom } from '../../core/record/signing.js';
import { Failure } from '../../core/schema/failure.js';
import { pause, type WallClock } from '../../core/time/wall.js';
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { NodeOfMany } from '../registry/registry.js';
import type { HeadMark } from '../store/head-mark.js';
import type { Directory } from './directory.js';
import { Entries } from './entries.js';
import { GateTransactions, gateName, unlessGone } from './gate-transactions.js';
import { Heads, unlessMissing } from './heads.js';
import { PlainCounting } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import { Presence } from './presence.js';
import { DIRECTORY, prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const DUE_AT_ONCE = 64;
const POLL_MS = 4;
/** How far clocks of servers may differ. */
const MOST_APART_MS = 2_000;

interface NetworkOptions extends NodeOfMany {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  /** Heads kept outside of Redis. Default: in memory only. */
  readonly mark?: HeadMark | undefined;
}

export class Network {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly durableRows = new Subject<AuditRow>();
  readonly presence: Presence;
  readonly turns: MakingTurns;
  readonly entries: Entries;
  readonly heads: Heads;
  /** For contracts that Redis does not count by itself. */
  readonly transactions: GateTransactions;
  readonly clock: WallClock;
  readonly #host: Host;
  readonly plain: PlainCounting;
  readonly #onError: (error: unknown) => void;
  readonly #fetching = new Map<string, Promise<number>>();
  #reported: string | undefined;

  constructor({ connection, directory, clock, signer, limits, mark, onError }: NetworkOptions, host: Host) {
    this.connection = connection;
    this.directory = directory;
    this.clock = clock;
    this.#host = host;
    this.#onError = onError;
    this.transactions = new GateTransactions(connection, clock);
    this.plain = new PlainCounting(connection);
    this.heads = new Heads(directory, host, signer.fingerprint, mark);
    this.presence = new Presence(connection, signer.fingerprint);
    const { transactions, plain, heads } = this;
    const { linkedWithinMs } = limits;
    this.turns = new MakingTurns(directory, linkedWithinMs);
    this.entries = new Entries({
      ...{ connection, directory, clock, signer },
      ...{ transactions, plain, heads },
      ...{ linkedWithinMs, onError },
    });
  }

  /** Redis is away, may lose or has lost data, or changes by other nodes are not received. */
  get failure(): Failure | undefined {
    const { connection, directory, heads } = this;
    return connection.failure ?? connection.unfit ?? heads.failure ?? directory.failure;
  }

  async start(): Promise<void> {
    await this.connection.subscribe(['weir:entries', 'weir:rows', 'weir:log'], (message, channel) => {
      const [first = '', second = ''] = message.split(' ');
      if (channel === 'weir:entries') this.entries.linkPending(first);
      else if (channel === 'weir:rows') this.#fetchUpTo(first, Number(second));
      else this.#follow();
    });
    this.#follow();
  }

  /** All nodes ever registered. */
  async keys(): Promise<KeyRing> {
    const keys = await this.connection.command<string[]>('HVALS', `${DIRECTORY}nodes`);
    return KeyRing.ofNodes(keys.map(publicKeyFrom), false);
  }

  async head(machine: Machine): Promise<void> {
    await this.#fetch(machine, await this.heads.compare(machine));
    this.heads.check(machine);
  }

  tick(): void {
    this.#reportFailure();
    if (this.connection.failure !== undefined) return;
    void this.heads.tick().catch((error) => this.#logUnlessFailure(error));
    void this.presence.report().catch((error) => this.#logUnlessFailure(error));
    this.#follow();
    void this.directory.reloadIfDue().catch((error) => this.#logUnlessFailure(error));
    const prefixes = new Set([...this.#host.machines.keys()].map(prefixOf));
    for (const prefix of prefixes) {
      void this.#moveDue(prefix).catch((error) => this.#logUnlessFailure(error));
      this.entries.linkPending(prefix);
    }
  }

  #fetchUpTo(slug: string, seq: number): void {
    const machine = this.#host.machines.get(slug);
    if (machine !== undefined) void this.#fetch(machine, seq).catch((error) => this.#logUnlessFailure(error));
  }

  async #fetch(machine: Machine, seq: number): Promise<void> {
    const { slug } = machine;
    while (machine.head.seq < seq) {
      const page = getOrInsert(this.#fetching, slug, () =>
        this.#fetchPage(machine).finally(() => this.#fetching.delete(slug)),
      );
      if ((await page) === 0) return;
    }
  }

  async #fetchPage(machine: Machine): Promise<number> {
    const rows = await this.directory.rows(machine.slug, { afterSeq: machine.head.seq });
    if (rows[0] !== undefined && rows[0].previous_hash !== machine.head.hash) {
      await this.heads.compare(machine).catch(unlessMissing);
      return 0;
    }
    for (const row of rows) {
      const { seq, hash, kind } = row;
      machine.head = { seq, hash };
      machine.durableSeq = seq;
      if (kind === 'machine_deleted' && machine.deletedMs !== undefined) machine.end = row;
      this.durableRows.next(row);
    }
    return rows.length;
  }

  async #moveDue(prefix: string): Promise<void> {
    const [, others] = await this.connection.call<string[]>('due', prefix, [String(DUE_AT_ONCE)]);
    for (const gate of others) {
      const [slug = '', id = '', ...names] = gate.slice(1).split('/');
      const contract = await this.directory.contract(slug, id).catch(unlessGone);
      const name = names.length === 0 ? undefined : names.join('/');
      if (contract !== undefined) await this.transactions.run(contract, name, () => {}).catch(unlessGone);
    }
  }

  #follow(): void {
    void this.directory.follow().catch((error) => this.#logUnlessFailure(error));
  }

  /** Applies new limits to keys counted in Redis; missed keys are updated on their next event. */
  async followKeys(contract: Contract): Promise<void> {
    if (contract.keys === undefined || plainPlan(contract.plan) === undefined) return;
    const { connection } = this;
    const gate = gateName(contract);
    try {
      for (let cursor = ''; cursor !== '0'; ) {
        [, cursor] = await connection.call<string>('follow', prefixOf(contract.machine.slug), [gate, cursor || '0']);
      }
    } catch (error) {
      this.#logUnlessFailure(error);
    }
  }

  #reportFailure(): void {
    const { failure } = this;
    if (failure !== undefined && failure.message !== this.#reported) this.#onError(failure);
    this.#reported = failure?.message;
  }

  #logUnlessFailure(error: unknown): void {
    if (!(error instanceof Failure)) this.#onError(error);
  }
}

/**
 * What counts for an owner is made by one node at a time, which knows before what all others have made: so nodes together never exceed a bound.
 *
 *     turn taken ─► log read ─► room? ─► made ─► announced ─► turn given back
 *
 * A node that ends meanwhile, or does not know whether it was made, gives no turn back. It is over once nothing can be made in it any more, and
 * the next node announces what was made.
 */
class MakingTurns {
  readonly #directory: Directory;
  readonly #withinMs: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param withinMs how long a request waits for other nodes */
  constructor(directory: Directory, withinMs: number) {
    this.#directory = directory;
    this.#withinMs = withinMs;
  }

  /**
   * @param slug of the machine on which something is made, empty for a key
   * @param work acts before an instant of the clock of Redis, and announces what it made
   * @throws Failure `store_away`: then it may exist; and what the work throws
   */
  of<T>(slug: string, work: (untilMs: number) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#turn(slug, work));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #turn<T>(slug: string, work: (untilMs: number) => Promise<T>): Promise<T> {
    const id = randomUUID();
    const untilMs = await this.#begin(id, slug);
    try {
      await this.#directory.follow();
      const done = await work(untilMs - MOST_APART_MS);
      await this.#take(id, '0', '');
      return done;
    } catch (error) {
      if (error instanceof Failure && error.code !== 'store_away') await this.#take(id, '0', '');
      throw error;
    }
  }

  async #begin(id: string, slug: string): Promise<number> {
    const { connection } = this.#directory;
    for (const startMs = connection.monotonicMs(); ; ) {
      const untilMs = Math.ceil(connection.nowMs() + 2 * connection.deadlineMs + MOST_APART_MS);
      const left = await this.#take(id, String(untilMs), slug);
      if (left === '') return untilMs;
      if (left !== undefined) {
        await this.#directory.announce(left);
        return untilMs;
      }
      if (connection.monotonicMs() - startMs > this.#withinMs)
        throw new Failure('node_overloaded', {
          what: 'Nothing was made.',
          why: 'Other nodes are making something for owners, or one has ended meanwhile.',
          fix: 'Try again.',
        });
      await pause(POLL_MS);
    }
  }

  async #take(...args: readonly [id: string, untilMs: string, slug: string]): Promise<string | undefined> {
    return (await this.#directory.connection.call<string | undefined>('turn', DIRECTORY, args))[1];
  }
}
