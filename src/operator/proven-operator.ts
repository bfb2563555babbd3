// Owns how a formula and a second road to its result make an operator: what a proof carries and how it is checked. Leaves
// formulas and roads to the operators, ranges of inputs to fire.ts.
import type { Inputs, Operator, OperatorInput, Proof } from './operator.js';

/** Where a second road ends: two numbers that are one when the result is right, and the figures met on the way. */
interface Arrival {
  readonly left: number;
  readonly right: number;
  /** The size below which a difference is nothing, in the unit of the two numbers: it stands in for them where they vanish. */
  readonly least: number;
  readonly figures: Readonly<Record<string, number>>;
}

interface Formula<Name extends string>
  extends Omit<Operator, 'inputs' | 'proofRequired' | 'compute' | 'prove' | 'verify'> {
  readonly inputs: Readonly<Record<Name, OperatorInput>>;
  readonly compute: (inputs: Readonly<Record<Name, number>>) => number;
  readonly road: {
    readonly method: string;
    /** The greatest relative distance between the two numbers that the road itself may cause. */
    readonly tolerance: number;
    /** Comes to an end for whatever numbers it is given, NaN too: it is walked for damaged ones. */
    readonly walk: (inputs: Readonly<Record<Name, number>>, result: number) => Arrival;
  };
}

/**
 * An operator that proves its result by a second road and verifies a proof by walking that road again.
 *
 * The witness carries the inputs and the result besides the figures, so that a proof speaks of one firing alone: a result that is
 * off by its last bit lies within every tolerance, and still is not the one that was proved.
 */
export function provenOperator<Name extends string>({ road, ...formula }: Formula<Name>): Operator {
  const { method, tolerance, walk } = road;
  const prove = (inputs: Readonly<Record<Name, number>>, result: number): Proof => {
    const { left, right, least, figures } = walk(inputs, result);
    // A proof may travel as JSON, which has no -0.
    const written = Object.entries(figures).map(([name, figure]) => [name, figure + 0]);
    const witness = { ...inputs, result, ...Object.fromEntries(written) };
    return { method, witness, residual: relativeDistance(left, right, least), tolerance };
  };
  const verify = (inputs: Readonly<Record<Name, number>>, result: number, proof: Proof): boolean => {
    const again = prove(inputs, result);
    return again.residual <= tolerance && isSame(again, proof);
  };
  // `fire` hands over exactly the inputs that the operator declares: the names are known, and none is missing.
  const { compute } = formula;
  return Object.freeze({
    ...formula,
    proofRequired: formula.kind === 'physics',
    compute: compute as (inputs: Inputs) => number,
    prove: prove as Operator['prove'],
    verify: verify as Operator['verify'],
  });
}

/** `|left - right|` against the larger of the two, and of `least`; 0 for two zeros. */
function relativeDistance(left: number, right: number, least: number): number {
  if (left === right) return 0;
  return Math.abs(left - right) / Math.max(Math.abs(left), Math.abs(right), least);
}

/** Whether two values are the same to the last bit, member by member; the second may have come from anywhere. */
function isSame(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual);
  if (typeof actual !== 'object' || actual === null) return false;
  const theirs = new Map(Object.entries(actual));
  const ours = Object.entries(expected);
  return ours.length === theirs.size && ours.every(([name, value]) => isSame(value, theirs.get(name)));
}
