// Makes strings of bytes that are often the same, as the addresses in a log.

/** A power of two: how many texts are kept to be given out again. */
const SLOTS = 1 << 13;

/** Longer texts are made anew each time: comparing them costs as much. */
const MAX_POOLED_BYTES = 64;

/**
 * Gives the text of a range of bytes. Making a string takes a call into the engine and an allocation; a text met not long
 * ago is given again for the price of reading its bytes. Each slot keeps the last text whose hash led there, so memory is bounded.
 */
export class TextPool {
  readonly #slots = new Array<string>(SLOTS).fill('');

  /** The bytes from `from` up to `to` as UTF-8. */
  text(bytes: Buffer, from: number, to: number): string {
    const length = to - from;
    if (length > MAX_POOLED_BYTES) return bytes.toString('utf8', from, to);
    let hash = length;
    for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
    const pooled = this.#slots[slot]!;
    if (isAsciiText(pooled, bytes, from, to)) return pooled;
    const text = bytes.toString('utf8', from, to);
    this.#slots[slot] = text;
    return text;
  }
}

/** Whether the bytes are the text, letter by letter; never true for bytes beyond ASCII, whose letters are not bytes. */
function isAsciiText(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[from + i]!;
    if (byte >= 0x80 || text.charCodeAt(i) !== byte) return false;
  }
  return true;
}
