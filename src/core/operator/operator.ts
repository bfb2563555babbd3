// What every operator has: compute, prove, verify.

/** Unit (SI, or 'cycle', '1'), closed range, and meaning of one number. */
export interface OperatorInput {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly description: string;
  /** An input without a default is required. */
  readonly default?: number;
}

/** A published value that the operator must reproduce within `tolerance` (relative). */
export interface ReferenceCase {
  readonly inputs: Readonly<Record<string, number>>;
  readonly result: number;
  readonly tolerance: number;
  readonly source: string;
}

/** A second result. The proof holds if `residual`, the relative distance of both results, is at most `tolerance`. */
export interface Proof {
  readonly method: string;
  readonly witness: Readonly<Record<string, number>>;
  readonly residual: number;
  readonly tolerance: number;
}

export type Inputs = Readonly<Record<string, number>>;

/** `substrate` is part of every transition; `physics` operators are chosen by a definition and always proved. */
type OperatorKind = 'substrate' | 'physics';

export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly kind: OperatorKind;
  /** Written verbatim into `master_equation_block` of every audit row. */
  readonly equation: string;
  readonly inputs: Readonly<Record<string, OperatorInput>>;
  readonly result: { readonly unit: string; readonly description: string };
  readonly proofRequired: boolean;
  readonly cases: readonly ReferenceCase[];
  /** The closed form. May give a non-finite number; `fire` refuses it. */
  readonly compute: (inputs: Inputs) => number;
  /** A second method for the same result: back-substitution, or integration in small steps. */
  readonly prove: (inputs: Inputs, result: number) => Proof;
  /** Repeats the second method: false for any changed proof, result or input. */
  readonly verify: (inputs: Inputs, result: number, proof: Proof) => boolean;
}
