// The interface of a store of answers that are kept under an idempotency key, so that a repeated request is answered and not counted.
//
// Written in the same transaction as what the request counted: after a crash the store holds both or neither.

export interface KeptAnswer {
  /** Slug of the machine. */
  readonly machine: string;
  /** The idempotency key, hashed. Unique for a machine. */
  readonly key: string;
  /** The request, hashed: the same key with another request is a mistake of the sender. */
  readonly request: string;
  /** The cycle in which it is forgotten. */
  readonly untilCycle: number;
  /** The answer as JSON. */
  readonly answer: string;
}

/** test/suite/kept-answers.ts tests every implementation. Reads see writes at once. */
export interface KeptAnswers {
  /** Replaces one of the same machine and key. */
  put(answer: KeptAnswer): void;
  find(machine: string, key: string): KeptAnswer | undefined;
  /** Forgets up to `most` whose cycle has come, oldest first. @returns machine and length of each answer */
  purge(cycle: number, most: number): readonly KeptSize[];
  /** Removes up to `most` of a machine. @returns how many: fewer than `most` once all are */
  remove(machine: string, most: number): number;
  /** Number and length of the answers of each machine that has some. */
  sizes(): Iterable<KeptSize & { readonly count: number }>;
}

export interface KeptSize {
  readonly machine: string;
  /** Characters of the answers. */
  readonly length: number;
}
