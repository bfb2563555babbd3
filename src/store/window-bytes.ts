// Windows as bytes: encodes the counts of a contract, and decodes them if they are undamaged.
//
//   windows   version (1 byte) | number of windows | window … | CRC-32 (4 bytes)
//   rule      refused (1 byte) | time in ms (8 bytes) | state, serialized by V8: behind the windows of a contract with a rule
//   window    cycle (8 bytes)  | number of runs    | run …
//   run       gap | length | events × length
//
//   age       0 1 2 3 4 5 6 7          A run is a sequence of cycles that all have events; its gap is the number of empty cycles
//   events    3 1 . . . 7 2 .          between it and the run before. Here: gap 0, length 2: 3 1; gap 3, length 2: 7 2.
//
// Numbers without a width are varints: seven bits a byte, the lowest first, the high bit set on all bytes but the last. A busy
// window of 60 cycles takes some 80 bytes, an empty one 14. Numbers with a width are little-endian.
//
// The checksum covers what stands beside the bytes, such as the state of the contract, and then all bytes before it. In version 1 it
// covers the bytes alone. Until version 2 rules kept other states: `Rule.upgrade`.
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { RuleImage } from '../limiter/gauge.js';
import { WindowCounts, type WindowImage } from '../limiter/window.js';
import { assert, Bug } from '../schema/failure.js';

const VERSION = 3;
/** Until 0.2: rules kept other states. */
const VERSION_OF_FORMER_RULES = 2;
const VERSION_WITHOUT_BESIDE = 1;
const CHECKSUM_BYTES = 4;

/**
 * @param beside what is stored beside the bytes and must not change either
 * @throws Bug unless events are integers above zero and ages are ascending integers from zero
 */
export function encodeWindows(windows: readonly WindowImage[], beside = '', rule?: RuleImage): Uint8Array {
  writer.begin();
  writer.byte(VERSION);
  writer.varint(windows.length);
  for (const { cycle, counts } of windows) {
    writer.double(cycle);
    writeRuns(counts);
  }
  if (rule !== undefined) {
    writer.byte(rule.refused);
    writer.double(rule.atMs);
    writer.bytes(serialize(rule.state));
  }
  return writer.end(crc32(beside));
}

/** @returns undefined if `encodeWindows` did not write these bytes beside this: bits are flipped, or the end is missing */
export function decodeWindows(bytes: Uint8Array, beside = ''): readonly WindowImage[] | undefined {
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  const [version] = content;
  if (version === undefined || version < VERSION_WITHOUT_BESIDE || version > VERSION) return undefined;
  const checksum = crc32(content, version === VERSION_WITHOUT_BESIDE ? 0 : crc32(beside));
  if (viewOf(bytes).getUint32(content.length, true) !== checksum) return undefined;
  const reader = new ByteReader(content);
  reader.byte();
  return Array.from({ length: reader.varint() }, () => ({ cycle: reader.double(), counts: readRuns(reader) }));
}

/** What `encodeWindows` wrote of a rule, in bytes that `decodeWindows` has found whole; undefined if there was none. */
export function decodeRule(bytes: Uint8Array): RuleImage | undefined {
  const reader = new ByteReader(bytes.subarray(0, -CHECKSUM_BYTES));
  const isFormer = reader.byte() <= VERSION_OF_FORMER_RULES;
  for (let windows = reader.varint(); windows > 0; windows -= 1) {
    reader.double();
    readRuns(reader);
  }
  if (reader.isAtEnd) return undefined;
  const refused = reader.byte() === 1 ? 1 : 0;
  const rule = { refused, atMs: reader.double(), state: countsFromCells(deserialize(reader.rest())) } as const;
  return isFormer ? { ...rule, isFormer } : rule;
}

/**
 * Until 0.2 a rule kept its windows in `cells`, one behind the other: count, cycle, slot, within, and the ring. `many_nodes` has one for
 * each node, others have one.
 */
export function countsFromCells(state: unknown): unknown {
  if (Array.isArray(state)) return state.map(countsFromCells);
  if (typeof state !== 'object' || state === null || ArrayBuffer.isView(state)) return state;
  const { cells, ...rest } = state as { readonly cells?: unknown };
  if (!(cells instanceof Float64Array))
    return Object.fromEntries(Object.entries(state).map(([name, part]) => [name, countsFromCells(part)]));
  const windows: WindowCounts[] = [];
  for (let at = 0; at < cells.length; at += 4 + windows[0]!.within) {
    const [inWindow = 0, cycle = 0, slot = 0, within = 0] = cells.subarray(at);
    const window = new WindowCounts(within, cycle, { array: cells.slice(at + 4, at + 4 + within), at: 0 });
    windows.push(Object.assign(window, { inWindow, slot }));
  }
  return 'turn' in rest ? { ...rest, windows } : { ...rest, window: windows[0] };
}

type Counts = WindowImage['counts'];

function writeRuns(counts: Counts): void {
  const starts: number[] = [];
  let end = -1;
  for (let at = 0; at < counts.length; at += 2) {
    const age = counts[at]!;
    if (!Number.isSafeInteger(age) || age < Math.max(0, end)) throw new Bug(`age ${age} in a window does not rise`);
    if (age !== end) starts.push(at);
    end = age + 1;
  }
  writer.varint(starts.length);
  end = 0;
  for (let run = 0; run < starts.length; run += 1) {
    const start = starts[run]!;
    const stop = starts[run + 1] ?? counts.length;
    writer.varint(counts[start]! - end);
    writer.varint((stop - start) / 2);
    for (let at = start; at < stop; at += 2) {
      const events = counts[at + 1]!;
      if (!Number.isInteger(events) || events <= 0) throw new Bug(`${events} events in a window are no count`);
      writer.varint(events);
    }
    end = counts[stop - 2]! + 1;
  }
}

function readRuns(reader: ByteReader): Counts {
  const counts: number[] = [];
  let age = 0;
  for (let runs = reader.varint(); runs > 0; runs -= 1) {
    age += reader.varint();
    for (let length = reader.varint(); length > 0; length -= 1) {
      counts.push(age, reader.varint());
      age += 1;
    }
  }
  return counts;
}

/** No single write is longer than the varint of the greatest double: 1024 bits, seven a byte. */
const LONGEST_BYTES = 147;

/** Reuses one buffer: thousands of contracts are written every cycle. */
class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = viewOf(this.#bytes);
  #length = 0;

  begin(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    this.#reserve();
    this.#bytes[this.#length++] = value;
  }

  bytes(value: Uint8Array): void {
    while (this.#bytes.length - this.#length < value.length + LONGEST_BYTES) this.#widen();
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  double(value: number): void {
    this.#reserve();
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** By division, not by shifts: shifts cut numbers down to 32 bits. Division by a power of two is exact. */
  varint(value: number): void {
    this.#reserve();
    let left = value;
    while (left >= 128) {
      const rest = Math.floor(left / 128);
      this.#bytes[this.#length++] = left - rest * 128 + 128;
      left = rest;
    }
    this.#bytes[this.#length++] = left;
  }

  /** Appends the checksum, begun with that of what stands beside. @returns a copy */
  end(besideChecksum: number): Uint8Array {
    this.#reserve();
    const checksum = crc32(this.#bytes.subarray(0, this.#length), besideChecksum);
    this.#view.setUint32(this.#length, checksum, true);
    return Buffer.from(this.#bytes.subarray(0, this.#length + CHECKSUM_BYTES));
  }

  #reserve(): void {
    if (this.#bytes.length - this.#length < LONGEST_BYTES) this.#widen();
  }

  #widen(): void {
    const wider = new Uint8Array(this.#bytes.length * 2);
    wider.set(this.#bytes);
    this.#bytes = wider;
    this.#view = viewOf(wider);
  }
}

const writer = new ByteWriter();

/** Reads bytes whose checksum holds: an early end is a bug of the writer, not damage. */
class ByteReader {
  #at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  byte(): number {
    const value = this.#bytes[this.#at++];
    assert(value !== undefined, 'the bytes of a window end too early');
    return value;
  }

  double(): number {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte();
      value += (byte % 128) * unit;
      if (byte < 128) return value;
    }
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
