// HalfSipHash-1-3 (Aumasson, Bernstein): a short hash under a random key, so that outsiders cannot choose colliding texts.
// For tables in memory only: nothing stored or shown may depend on it.

/** One compression and three final rounds, on words of 32 bits. */
export class KeyedHash {
  readonly #key = crypto.getRandomValues(new Int32Array(2));

  /** Hashes the first `count` words and a number. @returns 32 bits, signed */
  of(words: Uint32Array, count: number, number: number): number {
    let v0 = this.#key[0]!;
    let v1 = this.#key[1]!;
    let v2 = v0 ^ 0x6c796765;
    let v3 = v1 ^ 0x74656462;
    // The rounds: each word, the number, and three final ones.
    for (let round = 0; round < count + 4; round += 1) {
      const word = round < count ? words[round]! : round === count ? number : 0;
      v3 ^= word;
      if (round === count + 1) v2 ^= 0xff;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    return v1 ^ v3;
  }
}
