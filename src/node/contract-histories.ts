// The recent history of contracts: what each counted per cycle, in memory for as many cycles as a page shows.
//
//   cycle         7          8          9
//             .x..x..x|   x       |xxxx
//                     ▲           ▲           taken when the cycle is over: see Samples
//
// A history starts with its contract or with the node, so that a page opened later has a past. Their number is bounded: a contract in a stream
// replaces one that is in none; a new contract replaces one without requests in its history.
import { type Column, columns, HISTORY_CYCLES } from '../api/contract-history.js';
import { MOST_COUNTS } from '../api/events.js';
import { Failure } from '../core/schema/failure.js';
import type { SharedRoom } from './bounds.js';
import { PAUSE } from './caller-queue.js';
import type { Sampled, Samples } from './counting/counting.js';
import type { Contract } from './host/contract.js';
import type { Host } from './host/host.js';
import type { Steps } from './host/steps.js';

/** Columns that only grow: a row has the increase in its cycle. */
const growing: ReadonlySet<Column> = new Set(['admitted', 'limited', 'entries', 'restores', 'would_limit']);

/** All cycles of a history and some spare ones, so that old ones are dropped in bulk. */
const MOST_ROWS = HISTORY_CYCLES + 40;

export interface Watched {
  readonly ids: readonly string[];
  cycle: number;
  readonly addressNetwork: string;
}

export class ContractHistories {
  readonly #host: Host;
  readonly #samples: Samples;
  readonly #byContract = new Map<string, ContractHistory>();
  /** Watched histories, each of the network of addresses that watched it first. */
  readonly #watched: SharedRoom;

  constructor(host: Host, samples: Samples, watched: SharedRoom) {
    this.#host = host;
    this.#samples = samples;
    this.#watched = watched;
    this.#watched.clear();
    for (const contract of host.contracts.values()) this.#keep(contract);
    host.changes.subscribe((change) => {
      if (change.kind === 'contract_added') this.#keep(change.contract);
      if (change.kind === 'contract_removed') this.#drop(change.contract.id);
    });
  }

  get size(): number {
    return this.#byContract.size;
  }

  has(id: string): boolean {
    return this.#byContract.has(id);
  }

  /** @throws Failure `invalid_input` (too many contracts), `node_overloaded` (the node is full, or the share of a network of addresses) */
  watch(contracts: readonly Contract[], afterCycle: number | undefined, addressNetwork = ''): Watched {
    const { onNode: most } = this.#watched.most;
    if (contracts.length > MOST_COUNTS)
      throw new Failure('invalid_input', {
        what: 'The stream was not opened.',
        why: `One stream gives the counts of up to ${MOST_COUNTS} contracts.`,
        fix: 'Open another stream for the others.',
        faults: [{ path: '/counts', message: `must name at most ${MOST_COUNTS} contracts` }],
      });
    const more = contracts.filter(({ id }) => (this.#byContract.get(id)?.watchers.size ?? 0) === 0).length;
    if (more > 0) this.#watched.refuse([addressNetwork, addressNetwork], more);
    const missing = contracts.filter(({ id }) => !this.#byContract.has(id)).length;
    for (const [id, { watchers }] of this.#byContract) {
      if (this.#byContract.size + missing <= most) break;
      if (watchers.size === 0 && !contracts.some((contract) => contract.id === id)) this.#drop(id);
    }
    const watched = { ids: contracts.map(({ id }) => id), cycle: afterCycle ?? 0, addressNetwork };
    for (const contract of contracts) {
      const history = this.#byContract.get(contract.id) ?? this.#begin(contract);
      if (history.watchers.size === 0) {
        history.addressNetwork = addressNetwork;
        this.#watched.add([addressNetwork, addressNetwork], 1);
      }
      history.watchers.add(watched);
    }
    return watched;
  }

  #keep(contract: Contract): void {
    const { all: watched, most: room } = this.#watched;
    const most = Math.min(room.onNode - watched, this.#samples.mostUnwatched);
    if (this.#byContract.size - watched >= most && !this.#dropOne(({ isIdle }) => isIdle)) return;
    this.#begin(contract);
  }

  #begin(contract: Contract): ContractHistory {
    const history = new ContractHistory(contract, this.#host.machine(contract.image.machine).cycle);
    this.#byContract.set(contract.id, history);
    this.#samples.begin(history);
    return history;
  }

  leave(watched: Watched): void {
    for (const id of watched.ids) {
      const history = this.#byContract.get(id);
      if (!history?.watchers.delete(watched) || history.watchers.size > 0) continue;
      this.#leave(history);
      if (this.#byContract.size - this.#watched.all > this.#samples.mostUnwatched) this.#dropOne(() => true);
    }
  }

  /** The cycles that a watcher lacks, as JSON; undefined for none. Marks them as sent. A past of many cycles waits for its turn. */
  *news(watched: Watched): Steps<string | undefined> {
    const newestNow = () =>
      watched.ids.reduce((most, id) => Math.max(most, this.#byContract.get(id)?.last ?? 0), watched.cycle);
    let newest = newestNow();
    const isLong = watched.cycle < newest - 1;
    if (isLong) {
      yield PAUSE;
      newest = newestNow();
    }
    const texts: string[] = [];
    for (const id of watched.ids) {
      const history = this.#byContract.get(id);
      if (history === undefined) continue;
      const text = history.textAfter(watched.cycle);
      if (text !== undefined) texts.push(text);
      if (isLong) yield;
    }
    // Cycles that have ended meanwhile are sent again with the next ones.
    watched.cycle = newest;
    return texts.length === 0 ? undefined : `[${texts.join()}]`;
  }

  #dropOne(fits: (history: ContractHistory) => boolean): boolean {
    for (const [id, history] of this.#byContract) {
      if (history.watchers.size > 0 || !fits(history)) continue;
      this.#drop(id);
      return true;
    }
    return false;
  }

  #drop(id: string): void {
    const history = this.#byContract.get(id);
    if (history === undefined) return;
    this.#byContract.delete(id);
    this.#samples.end(history);
    if (history.watchers.size > 0) this.#leave(history);
  }

  #leave({ addressNetwork }: ContractHistory): void {
    this.#watched.add([addressNetwork, addressNetwork], -1);
  }
}

class ContractHistory implements Sampled {
  readonly contract: Contract;
  readonly watchers = new Set<Watched>();
  addressNetwork = '';
  /** The last cycle with a request, or the first cycle. */
  #usedCycle: number;
  /** Range of the stored cycles; empty while `last < first`. */
  first: number;
  last: number;
  /** Figures by cycle, up to `last`. Equal neighbours are one array, since most contracts have few requests. */
  readonly #rows: (readonly number[])[] = [];
  #before: readonly number[] = [];
  /** The text that was asked for last: nearly all watchers lack the last cycle, or all. */
  #text: { readonly from: number; readonly json: string } | undefined;

  constructor(contract: Contract, cycle: number) {
    this.contract = contract;
    this.first = cycle;
    this.last = cycle - 1;
    this.#usedCycle = cycle;
  }

  get isIdle(): boolean {
    return this.last - this.#usedCycle >= HISTORY_CYCLES;
  }

  begin(figures: readonly number[]): void {
    this.#before = figures;
  }

  take(cycle: number, figures: readonly number[]): void {
    if (cycle <= this.last) return;
    if (cycle !== this.last + 1) this.first = cycle;
    const rows = this.#rows;
    const row = columns.map((name, index) => {
      const grown = figures[index]! - this.#before[index]!;
      // A new candidate starts at 0.
      return growing.has(name) ? Math.max(0, grown) : figures[index]!;
    });
    const same = rows.at(-1);
    rows.push(same?.every((value, index) => Object.is(value, row[index])) ? same : row);
    if (rows.length > MOST_ROWS) rows.splice(0, rows.length - HISTORY_CYCLES);
    // Columns 1 and 2: admitted and limited.
    if (figures[1] !== this.#before[1] || figures[2] !== this.#before[2]) this.#usedCycle = cycle;
    this.#before = figures;
    this.last = cycle;
    this.first = Math.max(this.first, cycle - HISTORY_CYCLES + 1);
    this.#text = undefined;
  }

  textAfter(cycle: number): string | undefined {
    const from = Math.max(this.first, cycle + 1);
    if (from > this.last) return undefined;
    if (this.#text?.from !== from) this.#text = { from, json: this.#textFrom(from) };
    return this.#text.json;
  }

  #textFrom(from: number): string {
    const { states } = this.contract.plan;
    const rows = this.#rows.slice(from - this.last - 1);
    const values: Partial<Record<Column, (number | string | undefined)[]>> = {};
    for (const [index, name] of columns.entries()) {
      if (name.endsWith('keys') && this.contract.keys === undefined) continue;
      if (name === 'would_limit' && this.contract.comparison === undefined) continue;
      values[name] = rows.map((row) => (name === 'state' ? states[row[index]!]?.name : row[index]!));
    }
    return JSON.stringify({ id: this.contract.id, from_cycle: from, ...values });
  }
}
