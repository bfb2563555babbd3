// Owns the shape every operator has: compute, prove, verify. Leaves the formulas to one file each, look-up to registry.ts.

/** One number that an operator takes: its unit (SI, or 'cycle', '1'), the closed range it may lie in, and what it means. */
export interface OperatorInput {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly description: string;
  /** Taken when a firing does not give the input. An input without a default has to be given. */
  readonly default?: number;
}

/** A published value that the operator must reproduce within `tolerance` (relative). */
export interface ReferenceCase {
  readonly inputs: Readonly<Record<string, number>>;
  readonly result: number;
  readonly tolerance: number;
  readonly source: string;
}

/**
 * What `prove` hands to `verify`: a second road to the result, with the figures it met on the way.
 * `residual` is the relative distance between the two roads; a proof holds when it is at most `tolerance`.
 */
export interface Proof {
  readonly method: string;
  readonly witness: Readonly<Record<string, number>>;
  readonly residual: number;
  readonly tolerance: number;
}

export type Inputs = Readonly<Record<string, number>>;

/** `substrate` is part of every fire of every transition; `physics` operators are chosen by a definition and always proved. */
export type OperatorKind = 'substrate' | 'physics';

export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly kind: OperatorKind;
  /** The equation as it is written, verbatim, into `master_equation_block` of every audit row. */
  readonly equation: string;
  readonly inputs: Readonly<Record<string, OperatorInput>>;
  readonly result: { readonly unit: string; readonly description: string };
  readonly proofRequired: boolean;
  readonly cases: readonly ReferenceCase[];
  /** The closed form. May give a number that is not finite; `fire` refuses it. */
  readonly compute: (inputs: Inputs) => number;
  /** Another road to the same result: back-substitution, or integration in small steps. */
  readonly prove: (inputs: Inputs, result: number) => Proof;
  /** Walks the other road again and compares: false for any proof, result or input that was changed. */
  readonly verify: (inputs: Inputs, result: number, proof: Proof) => boolean;
}

/** Looks an operator up in the live registry. */
export type FindOperator = (id: string) => Operator | undefined;
