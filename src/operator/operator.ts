// What every operator has: compute, prove, verify.

/** One number that an operator takes: its unit (SI, or 'cycle', '1'), the closed range it may lie in, and what it means. */
export interface OperatorInput {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly description: string;
  /** Used when a firing does not give the input. An input without a default is required. */
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
 * What `prove` gives to `verify`: the result of a second method, with its intermediate figures.
 * `residual` is the relative distance between the two results; a proof holds when it is at most `tolerance`.
 */
export interface Proof {
  readonly method: string;
  readonly witness: Readonly<Record<string, number>>;
  readonly residual: number;
  readonly tolerance: number;
}

export type Inputs = Readonly<Record<string, number>>;

/** `substrate` is part of every fire of every transition; `physics` operators are chosen by a definition and always proved. */
type OperatorKind = 'substrate' | 'physics';

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
  /** A second method for the same result: back-substitution, or integration in small steps. */
  readonly prove: (inputs: Inputs, result: number) => Proof;
  /** Repeats the second method and compares: false for any proof, result or input that was changed. */
  readonly verify: (inputs: Inputs, result: number, proof: Proof) => boolean;
}

export type FindOperator = (id: string) => Operator | undefined;
