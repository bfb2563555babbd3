// A run cycle by cycle, as columns of numbers, in order of cycle, then contract. A cycle without a row repeats the previous state, without requests.
import { lengthened } from '../../core/math/lengthened.js';
import type { CycleRow } from './cycle-row.js';

export interface TimelineRow {
  readonly cycle: number;
  readonly contract: string;
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  readonly count: number;
  readonly state: string;
}

export const MOST_ROWS = 4_000_000;

export class Timeline {
  readonly #cycles = new Column();
  readonly #contracts = new Column();
  readonly #requests = new Column();
  readonly #admitted = new Column();
  readonly #counts = new Column();
  readonly #states = new Column();
  readonly #stateNames: string[] = [];

  /** @param contracts names by index; may grow while rows are added */
  constructor(readonly contracts: readonly string[]) {}

  get length(): number {
    return this.#cycles.length;
  }

  add(cycle: number, contract: number, requests: number, admitted: number, count: number, state: string): void {
    this.#cycles.push(cycle);
    this.#contracts.push(contract);
    this.#requests.push(requests);
    this.#admitted.push(admitted);
    this.#counts.push(count);
    this.#states.push(this.#stateIndex(state));
  }

  next({ cycle, run, contracts, requests, admitted, counts, states }: CycleRow): void {
    for (let index = 0; index < contracts.length; index += 1) {
      const state = run.states[states[index]!]!.name;
      this.add(cycle, contracts[index]!, requests[index]!, admitted[index]!, counts[index]!, state);
    }
  }

  *rows(): Generator<TimelineRow> {
    for (let index = 0; index < this.length; index += 1) {
      const requests = this.#requests.at(index);
      const admitted = this.#admitted.at(index);
      yield {
        cycle: this.#cycles.at(index),
        contract: this.contracts[this.#contracts.at(index)]!,
        requests,
        admitted,
        limited: requests - admitted,
        count: this.#counts.at(index),
        state: this.#stateNames[this.#states.at(index)]!,
      };
    }
  }

  #stateIndex(state: string): number {
    const known = this.#stateNames.indexOf(state);
    return known >= 0 ? known : this.#stateNames.push(state) - 1;
  }
}

/**
 * All contracts as one, named `all`. `count` is how many do not admit at the end of the cycle. Cycles in which requests only left their
 * windows have no row.
 */
export class TotalsTimeline extends Timeline {
  constructor() {
    super(['all']);
  }

  override next({ cycle, transitions, totals }: CycleRow): void {
    const { requests, admitted, limiting } = totals;
    if (requests === 0 && transitions.length === 0) return;
    this.add(cycle, 0, requests, admitted, limiting, limiting > 0 ? 'limiting' : 'allowing');
  }
}

// Streamed as CSV and NDJSON.

const COLUMNS = ['cycle', 'contract', 'requests', 'admitted', 'limited', 'count', 'state'] as const;

/** RFC 4180 with LF and a header. */
export function* csvLines(timeline: Timeline): Generator<string> {
  yield `${COLUMNS.join(',')}\n`;
  for (const row of timeline.rows()) yield `${COLUMNS.map((column) => csvField(row[column])).join(',')}\n`;
}

export function* ndjsonLines(timeline: Timeline): Generator<string> {
  for (const row of timeline.rows()) yield `${JSON.stringify(row)}\n`;
}

/** Escapes formulas: a spreadsheet would run a key of a log that looks like one. */
export function csvField(value: TimelineRow[keyof TimelineRow]): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const CHUNK_BITS = 12;
const CHUNK = 1 << CHUNK_BITS;
/** A power of two, at most CHUNK. */
const FIRST_ROWS = 64;

type Values = Float64Array | Uint32Array | Uint16Array | Uint8Array;

/** A full chunk minus its minimum: most columns then take a byte per row. */
interface Chunk {
  readonly least: number;
  readonly values: Values;
}

/** Integers, in chunks that are never copied once they are full. The first one grows, so that a short run takes little memory. */
class Column {
  length = 0;
  readonly #full: Chunk[] = [];
  #open = new Float64Array(FIRST_ROWS);

  push(value: number): void {
    const place = this.length & (CHUNK - 1);
    if (place === this.#open.length) this.#open = lengthened(this.#open, 2 * place);
    this.#open[place] = value;
    this.length += 1;
    if (place === CHUNK - 1) this.#full.push(narrowed(this.#open));
  }

  at(index: number): number {
    const chunk = this.#full[index >> CHUNK_BITS];
    const place = index & (CHUNK - 1);
    return chunk === undefined ? this.#open[place]! : chunk.least + chunk.values[place]!;
  }
}

function narrowed(values: Float64Array): Chunk {
  let [least, most] = [values[0]!, values[0]!];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const span = most - least;
  const narrow: Values =
    span < 2 ** 8
      ? new Uint8Array(CHUNK)
      : span < 2 ** 16
        ? new Uint16Array(CHUNK)
        : span < 2 ** 32
          ? new Uint32Array(CHUNK)
          : new Float64Array(CHUNK);
  for (let index = 0; index < CHUNK; index += 1) narrow[index] = values[index]! - least;
  return { least, values: narrow };
}
