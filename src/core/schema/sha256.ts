// Synchronous SHA-256 (FIPS 180-4) of a text or of bytes. WebCrypto is asynchronous, and a seed or a digest cannot wait.
//
//   Node      node:crypto
//   browser   the function below, at some 100 MB/s

/** 32 bytes. Text is hashed as UTF-8. */
export function sha256(content: string | Uint8Array): Uint8Array {
  return native === undefined ? sha256Plain(content) : native.createHash('sha256').update(content).digest();
}

export function sha256Hex(content: string | Uint8Array): string {
  if (native !== undefined) return native.createHash('sha256').update(content).digest('hex');
  return hexOf(sha256Plain(content));
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const native = globalThis.process?.getBuiltinModule?.('node:crypto');

/** The first 32 bits of the fractional parts of square roots (BEGIN) and cube roots (ADDED) of the first primes. */
function rootBits(root: (n: number) => number, count: number): Int32Array {
  const bits = new Int32Array(count);
  for (let [n, found] = [2, 0]; found < count; n += 1) {
    if (isPrime(n)) bits[found++] = ((root(n) % 1) * 2 ** 32) | 0;
  }
  return bits;
}

function isPrime(n: number): boolean {
  for (let factor = 2; factor * factor <= n; factor += 1) if (n % factor === 0) return false;
  return true;
}

const BEGIN = rootBits(Math.sqrt, 8);
const ADDED = rootBits(Math.cbrt, 64);

/** SHA-256 without Node. */
export function sha256Plain(content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const padded = new Uint8Array((bytes.length + 72) & ~63);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = BEGIN.slice();
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) block(state, words, view, at);
  const digest = new DataView(new ArrayBuffer(32));
  for (let index = 0; index < 8; index += 1) digest.setInt32(4 * index, state[index]!);
  return new Uint8Array(digest.buffer);
}

const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by));

function block(state: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let t = 0; t < 16; t += 1) words[t] = view.getInt32(at + 4 * t);
  for (let t = 16; t < 64; t += 1) {
    const [w2, w15] = [words[t - 2]!, words[t - 15]!];
    const s0 = turned(w15, 7) ^ turned(w15, 18) ^ (w15 >>> 3);
    const s1 = turned(w2, 17) ^ turned(w2, 19) ^ (w2 >>> 10);
    words[t] = words[t - 16]! + s0 + words[t - 7]! + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t += 1) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + ADDED[t]! + words[t]!) | 0;
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = state[index]! + word;
  });
}
