// The state of a contract or key as every store keeps it, in Redis in base64.
//
//   state     version (1 byte) | length and name | held until cycle (8 bytes) | refusals | number of windows | window … | rule | CRC-32 (4 bytes)
//   window    cycle (8 bytes)  | number of counts  | (gap, events) …
//   rule      refused (1 byte; 2: a cost above 1, which follows) | time in ms (8 bytes) | state, serialized by V8
//
//   age       0 1 2 3 4 5 6 7          Only cycles with events are kept; the gap of one is the number of empty cycles
//   events    3 1 . . . 7 2 .          before it. Here: 0 3, 0 1, 3 7, 0 2.
//
// Numbers without a width are varints: seven bits a byte, the lowest first, the high bit set on all bytes but the last. A busy
// window of 60 cycles takes some 140 bytes, an empty one 14. Numbers with a width are little-endian.
//
// The checksum covers id and key, then all bytes before it.
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { WindowImage } from '../../core/limiter/window.js';
import { assert, Bug } from '../../core/schema/failure.js';
import type { ContractState } from './store.js';

const VERSION = 1;
const CHECKSUM_BYTES = 4;
const REFUSED_COST = 2;

type Owner = Pick<ContractState, 'id' | 'key'>;

/** Copies everything. @throws Bug unless events are integers above zero and ages are ascending integers from zero */
export function encodeState(image: ContractState): Buffer {
  const { state, heldUntilCycle, refusals = 0, windows, rule } = image;
  const name = Buffer.from(state);
  const bytes = [VERSION];
  putVarint(bytes, name.length);
  for (const byte of name) bytes.push(byte);
  putDouble(bytes, heldUntilCycle);
  putVarint(bytes, refusals);
  putVarint(bytes, windows.length);
  for (const { cycle, counts } of windows) {
    putDouble(bytes, cycle);
    putCounts(bytes, counts);
  }
  if (rule !== undefined) {
    const { refused, cost } = rule;
    bytes.push(cost === undefined ? refused : REFUSED_COST);
    if (cost !== undefined) putVarint(bytes, cost);
    putDouble(bytes, rule.atMs);
    for (const byte of serialize(rule.state)) bytes.push(byte);
  }
  const { length } = bytes;
  bytes.push(0, 0, 0, 0);
  const whole = Buffer.from(bytes);
  whole.writeUInt32LE(crc32(whole.subarray(0, length), crc32(nameOf(image))), length);
  return whole;
}

/** Undefined if the checksum does not match these bytes and this owner, or for another version. */
export function decodeState(owner: Owner, bytes: Uint8Array): ContractState | undefined {
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  if (content[0] !== VERSION) return undefined;
  if (viewOf(bytes).getUint32(content.length, true) !== crc32(content, crc32(nameOf(owner)))) return undefined;
  const reader = new ByteReader(content.subarray(1));
  const state = Buffer.from(reader.bytes(reader.varint())).toString();
  const heldUntilCycle = reader.double();
  const refusals = reader.varint();
  const windows = Array.from({ length: reader.varint() }, () => ({ cycle: reader.double(), counts: countsIn(reader) }));
  return {
    id: owner.id,
    ...(owner.key === undefined ? {} : { key: owner.key }),
    ...{ state, heldUntilCycle, windows },
    ...(refusals === 0 ? {} : { refusals }),
    ...(reader.isAtEnd ? {} : { rule: ruleIn(reader) }),
  };
}

function nameOf({ id, key }: Owner): string {
  return key === undefined ? id : `${id} ${key}`;
}

function putCounts(bytes: number[], counts: WindowImage['counts']): void {
  putVarint(bytes, counts.length / 2);
  let next = 0;
  for (let at = 0; at < counts.length; at += 2) {
    const [age, events] = [counts[at]!, counts[at + 1]!];
    if (!Number.isSafeInteger(age) || age < next) throw new Bug(`age ${age} in a window does not rise`);
    if (!Number.isInteger(events) || events <= 0) throw new Bug(`${events} events in a window are no count`);
    putVarint(bytes, age - next);
    putVarint(bytes, events);
    next = age + 1;
  }
}

function countsIn(reader: ByteReader): WindowImage['counts'] {
  const counts: number[] = [];
  let next = 0;
  for (let left = reader.varint(); left > 0; left -= 1) {
    const age = next + reader.varint();
    counts.push(age, reader.varint());
    next = age + 1;
  }
  return counts;
}

function ruleIn(reader: ByteReader): NonNullable<ContractState['rule']> {
  const refused = reader.byte();
  const cost = refused === REFUSED_COST ? { cost: reader.varint() } : {};
  return { refused: refused === 0 ? 0 : 1, ...cost, atMs: reader.double(), state: deserialize(reader.bytes()) };
}

const eight = Buffer.alloc(8);

function putDouble(bytes: number[], value: number): void {
  eight.writeDoubleLE(value);
  for (const byte of eight) bytes.push(byte);
}

/** Division by a power of two is exact; shifts would cut numbers down to 32 bits. */
function putVarint(bytes: number[], value: number): void {
  let left = value;
  while (left >= 128) {
    const rest = Math.floor(left / 128);
    bytes.push(left - rest * 128 + 128);
    left = rest;
  }
  bytes.push(left);
}

/** The checksum was verified, so an early end is a bug of the writer, not damage. */
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

  /** Default: all that are left. */
  bytes(length = this.#bytes.length - this.#at): Uint8Array {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
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
