// Makes an operator from a formula and a second method for its result: what a proof contains and how it is verified.
import type { Inputs, Operator, OperatorInput, Proof } from './operator.js';

/** Two numbers that are equal if the result is right, and the intermediate figures of the method. */
interface Checked {
  readonly left: number;
  readonly right: number;
  /** Differences are relative to the largest of the two numbers and this, for where both vanish. */
  readonly least: number;
  readonly figures: Readonly<Record<string, number>>;
}

interface Formula<Name extends string>
  extends Omit<Operator, 'inputs' | 'proofRequired' | 'compute' | 'prove' | 'verify'> {
  readonly inputs: Readonly<Record<Name, OperatorInput>>;
  readonly compute: (inputs: Readonly<Record<Name, number>>) => number;
  readonly check: {
    readonly method: string;
    /** Largest relative distance that the method itself may cause. */
    readonly tolerance: number;
    /** Terminates for all numbers, NaN included: damaged proofs are verified with it. */
    readonly evaluate: (inputs: Readonly<Record<Name, number>>, result: number) => Checked;
  };
}

/** The witness contains inputs and result, so a proof fits one firing only: tolerances ignore another last bit. */
export function provenOperator<Name extends string>({ check, ...formula }: Formula<Name>): Operator {
  const { method, tolerance, evaluate } = check;
  const prove = (inputs: Readonly<Record<Name, number>>, result: number): Proof => {
    const { left, right, least, figures } = evaluate(inputs, result);
    // A proof may be sent as JSON, which has no -0.
    const written = Object.entries(figures).map(([name, figure]) => [name, figure + 0]);
    const witness = { ...inputs, result, ...Object.fromEntries(written) };
    return { method, witness, residual: relativeDistance(left, right, least), tolerance };
  };
  const verify = (inputs: Readonly<Record<Name, number>>, result: number, proof: Proof): boolean => {
    const again = prove(inputs, result);
    return again.residual <= tolerance && isSame(again, proof);
  };
  // `fire` passes exactly the inputs that the operator declares.
  const { compute } = formula;
  return Object.freeze({
    ...formula,
    proofRequired: formula.kind === 'physics',
    compute: compute as (inputs: Inputs) => number,
    prove: prove as Operator['prove'],
    verify: verify as Operator['verify'],
  });
}

/** `|left - right|` over the largest of |left|, |right| and `least`; 0 for two zeros. */
function relativeDistance(left: number, right: number, least: number): number {
  if (left === right) return 0;
  return Math.abs(left - right) / Math.max(Math.abs(left), Math.abs(right), least);
}

/** Equal to the last bit, member by member; `actual` is not trusted. */
function isSame(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual);
  if (typeof actual !== 'object' || actual === null) return false;
  const theirs = new Map(Object.entries(actual));
  const ours = Object.entries(expected);
  return ours.length === theirs.size && ours.every(([name, value]) => isSame(value, theirs.get(name)));
}
