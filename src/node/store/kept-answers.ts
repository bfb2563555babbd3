// The interface of a store of answers by idempotency key: a repeated request is answered again but not counted again.
//
// Written in the same transaction as the counts of the request: after a crash the store holds both or neither.

export interface KeptAnswer {
  readonly machine: string;
  /** Hash of the idempotency key; unique per machine. */
  readonly key: string;
  /** Hash of the request: reusing the key for another request is an error of the client. */
  readonly request: string;
  readonly untilCycle: number;
  readonly answer: string;
}

/** test/suite/kept-answers.ts tests every implementation. Reads see writes at once. */
export interface KeptAnswers {
  put(answer: KeptAnswer): void;
  find(machine: string, key: string): KeptAnswer | undefined;
  /** Deletes up to `most` expired answers, oldest first. */
  purge(cycle: number, most: number): readonly KeptSize[];
  /** Removes up to `most` answers of a machine. @returns the number removed: below `most` once all are gone */
  remove(machine: string, most: number): number;
  sizes(): Iterable<KeptSize & { readonly count: number }>;
}

export interface KeptSize {
  readonly machine: string;
  readonly length: number;
}
