// A node of many over one Redis: what the routes ask of it instead of the host of this process.
//
//   plain contract   ─► micro-batch ─► counted, decided and moved by a script        exact over all nodes, by the clock of Redis
//   other contract   ─► a turn: the gate of this process, by compare-and-set
//   machine, contract, manual move ─► entry ─► linked by whichever node ─► row
//
// The host of this process only knows what there is: nothing counts in it, and nothing wakes.
import { Subject } from 'rxjs';
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Happening } from '../../host/ledger.js';
import type { Machine } from '../../host/machine.js';
import { KeyRing } from '../../record/key-ring.js';
import type { AuditRow } from '../../record/row.js';
import { publicKeyFrom, type Signer } from '../../record/signing.js';
import { Failure } from '../../schema/failure.js';
import type { HeadMark } from '../../store/head-mark.js';
import { CountBatch } from '../../store/redis/batch.js';
import { DIRECTORY, prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { WallClock } from '../../time/wall.js';
import { decisionOf, inFuture } from '../decision.js';
import { foreseen, ofSeveral } from '../gate-decision.js';
import type { OnceOnly, Replayed } from '../idempotency.js';
import type { Limits } from '../limits.js';
import { CONTRACTS_SHOWN } from '../views.js';
import type { Directory } from './directory.js';
import { Entries } from './entries.js';
import { Heads, unlessMissing } from './heads.js';
import { Linker } from './linker.js';
import { doOnce } from './once.js';
import { type Asked, type Outcome, PlainCounting } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import { Presence } from './presence.js';
import { Stock } from './stock.js';
import { gateName, Turns } from './turns.js';

/** What another node may have made just now. Nothing has happened where these are thrown. */
const MISSING: ReadonlySet<string> = new Set([
  'machine_not_found',
  'contract_not_found',
  'key_not_found',
  'unknown_event_type',
]);

/** Gates that one node moves at a time because they are due. */
const DUE_AT_ONCE = 64;

export interface NetworkOptions {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly clock: WallClock;
  readonly signer: Signer;
  readonly limits: Limits;
  /** The heads that are kept outside of Redis; undefined: in memory alone. */
  readonly mark?: HeadMark | undefined;
  readonly onError: (error: unknown) => void;
}

export class Network {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  /** Rows, as any node has linked them. */
  readonly happenings = new Subject<Happening>();
  readonly linker: Linker;
  /** Which nodes there are. */
  readonly presence: Presence;
  /** What owners have. */
  readonly stock: Stock;
  /** What writes to records. */
  readonly entries: Entries;
  /** What Redis must still have. */
  readonly heads: Heads;
  readonly #clock: WallClock;
  readonly #host: Host;
  readonly #turns: Turns;
  readonly #plain: PlainCounting;
  readonly #onError: (error: unknown) => void;
  /** Machines of which rows are being fetched. */
  readonly #fetching = new Map<string, Promise<number>>();
  /** What was logged last of what keeps this node from taking requests. */
  #said: string | undefined;

  constructor({ connection, directory, clock, signer, limits, mark, onError }: NetworkOptions, host: Host) {
    this.connection = connection;
    this.directory = directory;
    this.#clock = clock;
    this.#host = host;
    this.#onError = onError;
    this.#turns = new Turns(connection, clock);
    this.#plain = new PlainCounting(connection, new CountBatch(connection, clock.cycleMs), clock.cycleMs);
    this.heads = new Heads(directory, host, signer.fingerprint, mark);
    this.linker = new Linker({ connection, directory, signer, heads: this.heads, cycleMs: clock.cycleMs, onError });
    this.presence = new Presence(connection, signer.fingerprint, clock.cycleMs);
    this.stock = new Stock(connection, limits, clock.cycleMs);
    const of = { linker: this.linker, turns: this.#turns, plain: this.#plain, stock: this.stock, heads: this.heads };
    this.entries = new Entries({ connection, directory, clock, ...of }, host);
  }

  /** Why this node cannot vouch for what it answers: Redis is away, may lose or has lost something, or what other nodes do is not heard. */
  get failure(): Failure | undefined {
    const { connection, directory, heads } = this;
    return connection.failure ?? connection.unfit ?? heads.failure ?? directory.failure;
  }

  /** Begins to hear what other nodes do. */
  async start(): Promise<void> {
    await this.connection.subscribe(['weir:entries', 'weir:rows', 'weir:log'], (message, channel) => {
      const [first = '', second = ''] = message.split(' ');
      if (channel === 'weir:entries') this.linker.look(first);
      else if (channel === 'weir:rows') this.#heard(first, Number(second));
      else this.#follow();
    });
    this.#follow();
  }

  /**
   * Counts and decides; see `Asked`. What cannot be counted is a failure in its place.
   * @throws Failure `store_away` where one of the contracts is closed then
   */
  async decide(asked: readonly Asked[]): Promise<Outcome[]> {
    return Promise.all(asked.map((one) => this.decideOne(one)));
  }

  /**
   * An event for all who listen to it on a machine, also a contract that another node has made just now.
   * @param asked of those that are known @throws as it does, and Failure `store_away`
   */
  async decideEvent(machine: Machine, asked: () => readonly Asked[]): Promise<Outcome[]> {
    const newest = machine.contracts.at(-1);
    const first = asked();
    // What is away is said by the decisions.
    const [outcomes] = await Promise.all([this.decide(first), this.directory.look(machine).catch(() => {})]);
    if (machine.contracts.at(-1) === newest) return outcomes;
    const decided = new Set(first.map(({ contract }) => contract));
    // One may be new, and others may be deleted by now.
    const later = machine.contracts.some((contract) => !decided.has(contract)) ? asked() : [];
    return [...outcomes, ...(await this.decide(later.filter(({ contract }) => !decided.has(contract))))];
  }

  /** @throws Failure `store_away` */
  async decideOne(asked: Asked): Promise<Outcome> {
    try {
      const plain = plainPlan(asked.contract.plan);
      return plain === undefined ? await this.#decideInTurn(asked) : await this.#plain.decide(asked, plain);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code !== 'store_away') return error;
      if (asked.mustCount || asked.contract.plan.definition.when_away !== 'open') throw error;
      return this.#admitUncounted(asked);
    }
  }

  /** A contract as it is now, or one of its keys: to be looked at. */
  look(contract: Contract, name?: string): Promise<Contract> {
    return this.#turns.look(contract, name);
  }

  /** The keys of all nodes that there were. */
  async keys(): Promise<KeyRing> {
    const keys = await this.connection.command<string[]>(DIRECTORY, 'HVALS', `${DIRECTORY}nodes`);
    return KeyRing.ofNodes(keys.map(publicKeyFrom), false);
  }

  /** As `look`, for several: those of them that are still there. */
  async looks(contracts: readonly Contract[]): Promise<Contract[]> {
    const looked = await Promise.all(contracts.map((contract) => this.#turns.look(contract).catch(unlessGone)));
    return looked.filter((one) => one !== undefined);
  }

  /** The contracts of a machine that are listed with it, as they are now, and its head. */
  async shown(machine: Machine): Promise<Contract[]> {
    await this.head(machine);
    return this.looks(machine.contracts.slice(0, CONTRACTS_SHOWN));
  }

  /** A page of the keys of a contract, by the cycle of their last count. @param after how many to skip */
  async listKeys(contract: Contract, after: number, limit: number) {
    const prefix = prefixOf(contract.machine.slug);
    const range = [String(after), String(after + limit)];
    const all = await this.connection.command(prefix, 'ZRANGE', `${prefix}k:${gateName(contract)}`, ...range);
    const names = (all as string[]).map((gate) => gate.slice(gateName(contract).length + 1));
    const page = await Promise.all(names.slice(0, limit).map((name) => this.#turns.look(contract, name)));
    const keys = page.map((one, index) => {
      const { state, count, remaining, retry_after_cycles } = decisionOf(one, 0, 0, 0);
      return { key: names[index]!, state, count, remaining, retry_after_cycles };
    });
    return { cycle: this.#clock.cycle(), keys, ...(names.length > limit ? { next: after + limit } : {}) };
  }

  /**
   * Does something that is to be done once under an idempotency key: its mark is in Redis before, its answer after it.
   * @throws Failure `idempotency_key_reused`, `store_away` where it is not known whether it was done
   */
  once<T extends object>(machine: Machine, once: OnceOnly | undefined, work: () => Promise<T>): Promise<T | Replayed> {
    return doOnce(this.connection, machine, once, work);
  }

  /** Does something again, once what other nodes have added is known, where it found something missing. */
  async afterFollowing<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || !MISSING.has(error.code)) throw error;
      await this.directory.follow();
      return work();
    }
  }

  /** A machine with its head as it is now. @throws Failure `rows_missing`, `store_away` */
  async head(machine: Machine): Promise<void> {
    await this.#fetch(machine, await this.heads.compare(machine));
    this.heads.check(machine);
  }

  /** At each cycle: moves what is due, links what waits, and catches up with what was not heard. */
  tick(): void {
    this.#say();
    if (this.connection.failure !== undefined) return;
    void this.heads.tick().catch((error) => this.#failed(error));
    void this.presence.say().catch((error) => this.#failed(error));
    this.#follow();
    void this.directory.readAnew().catch((error) => this.#failed(error));
    const prefixes = new Set([...this.#host.machines.keys()].map(prefixOf));
    for (const prefix of prefixes) {
      void this.#moveDue(prefix).catch((error) => this.#failed(error));
      this.linker.look(prefix);
    }
  }

  /** Rows of a machine up to a seq are linked: those that are new are published, in order. */
  #heard(slug: string, seq: number): void {
    const machine = this.#host.machines.get(slug);
    if (machine !== undefined) void this.#fetch(machine, seq).catch((error) => this.#failed(error));
  }

  async #fetch(machine: Machine, seq: number): Promise<void> {
    const { slug } = machine;
    while (machine.head.seq < seq) {
      let page = this.#fetching.get(slug);
      if (page === undefined) {
        page = this.#fetchPage(machine).finally(() => this.#fetching.delete(slug));
        this.#fetching.set(slug, page);
      }
      if ((await page) === 0) return;
    }
  }

  /** @returns how many rows are new */
  async #fetchPage(machine: Machine): Promise<number> {
    const rows = await this.directory.rows(machine.slug, { afterSeq: machine.head.seq });
    if (rows[0] !== undefined && rows[0].previous_hash !== machine.head.hash) {
      await this.heads.compare(machine).catch(unlessMissing);
      return 0;
    }
    for (const row of rows) {
      this.#reach(machine, row);
      this.happenings.next({ kind: 'row', row });
    }
    return rows.length;
  }

  #reach(machine: Machine, row: AuditRow): void {
    const { seq, hash, kind } = row;
    machine.head = { seq, hash };
    machine.durableSeq = seq;
    if (kind === 'machine_deleted' && machine.deletedMs !== undefined) machine.end = row;
  }

  /** Nothing is kept of it: once Redis is back, contracts go on with what was counted. */
  #admitUncounted({ contract, n, name }: Asked): Outcome {
    const said = { admitted: n, limited: 0, retry_after_cycles: 0, away: true } as const;
    const nowMs = this.connection.nowMs();
    return { decision: { id: contract.id, key: name, ...said }, cycle: this.#clock.cycle(), nowMs };
  }

  async #decideInTurn({ contract, kind, n, name, happened, peek = false }: Asked): Promise<Outcome> {
    const nowMs = this.connection.nowMs();
    if (peek) {
      const now = await this.#turns.look(contract, name);
      const { cycle } = now.gate;
      return { decision: foreseen(now, kind, n, undefined, cycle), cycle, nowMs };
    }
    const { value } = await this.#turns.run(contract, name, (fresh, cycle) => {
      if (happened !== undefined && happened > cycle) throw inFuture(happened, cycle);
      const isNow = happened === undefined || happened === cycle;
      const admitted = isNow ? fresh.decide(n, cycle, kind) : fresh.decideLate(n, happened, cycle, kind);
      const decision = decisionOf(fresh, kind, n, admitted);
      return { decision: n === 1 ? decision : ofSeveral(fresh, kind, n, decision), cycle, nowMs };
    });
    return value;
  }

  async #moveDue(prefix: string): Promise<void> {
    const args = [String(this.connection.deadline()), String(this.#clock.cycleMs), String(DUE_AT_ONCE)];
    const others = (await this.connection.call('due', prefix, args)) as string[];
    for (const gate of others) {
      const [slug = '', id = '', ...names] = gate.slice(1).split('/');
      const contract = await this.directory.contract(slug, id).catch(unlessGone);
      const name = names.length === 0 ? undefined : names.join('/');
      if (contract !== undefined) await this.#turns.run(contract, name, () => {}).catch(unlessGone);
    }
  }

  #follow(): void {
    void this.directory.follow().catch((error) => this.#failed(error));
  }

  /** Logs what keeps this node from taking requests, once. */
  #say(): void {
    const { failure } = this;
    if (failure !== undefined && failure.message !== this.#said) this.#onError(failure);
    this.#said = failure?.message;
  }

  #failed(error: unknown): void {
    if (!(error instanceof Failure)) this.#onError(error);
  }
}

/** A contract that another node has deleted meanwhile. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof Failure) || error.code !== 'contract_not_found') throw error;
}
