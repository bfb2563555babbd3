// Solves a condition for `count`: tree -> the set of counts for which it holds.
//
// A condition of a trigger compares expressions that are linear in the count, so it holds on whole ranges of counts.
// Knowing the ranges is what lets a gate count millions of events with two comparisons each: see gate.ts.
import { compare } from './evaluate.js';
import { ALL, complement, type IntegerSet, NONE, range, union } from './integer-set.js';
import { type Arithmetic, type Comparison, type ConditionNode, ExpressionError, type TermNode } from './parse.js';

/** slope * count + offset */
interface Linear {
  readonly slope: number;
  readonly offset: number;
}

/**
 * The counts (integers >= 0) for which the condition holds.
 * @throws ExpressionError where the condition is not linear in `count` (count * count, 100 / count)
 */
export function solveForCount(node: ConditionNode): IntegerSet {
  switch (node.kind) {
    case 'truth':
      return node.value ? ALL : NONE;
    case 'not':
      return complement(solveForCount(node.of));
    case 'and':
      return complement(union(...termsOf('and', node).map((term) => complement(solveForCount(term)))));
    case 'or':
      return union(...termsOf('or', node).map(solveForCount));
    case 'compare':
      return solveComparison(node.op, linear(node.left), linear(node.right));
  }
}

/** The terms of a chain such as `a or b or c`: joined at once, since joining them in pairs takes quadratic time. */
function termsOf(kind: 'and' | 'or', node: ConditionNode): ConditionNode[] {
  const terms: ConditionNode[] = [];
  let left = node;
  for (; left.kind === kind; left = left.left) terms.push(left.right);
  return [left, ...terms.reverse()];
}

//  a * count + b  op  0   becomes   count  op  -b / a   (turned round where a < 0)
function solveComparison(op: Comparison, left: Linear, right: Linear): IntegerSet {
  const slope = left.slope - right.slope;
  const offset = left.offset - right.offset;
  if (slope === 0) return compare(op, offset, 0) ? ALL : NONE;
  const bound = -offset / slope;
  switch (slope > 0 ? op : turned[op]) {
    case '>':
      return range(Math.floor(bound) + 1, Number.POSITIVE_INFINITY);
    case '>=':
      return range(Math.ceil(bound), Number.POSITIVE_INFINITY);
    case '<':
      return range(0, Math.ceil(bound) - 1);
    case '<=':
      return range(0, Math.floor(bound));
    case '==':
      return Number.isInteger(bound) ? range(bound, bound) : NONE;
    case '!=':
      return Number.isInteger(bound) ? complement(range(bound, bound)) : ALL;
  }
}

const turned: Readonly<Record<Comparison, Comparison>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '==': '==',
  '!=': '!=',
};

function linear(node: TermNode): Linear {
  switch (node.kind) {
    case 'number':
      return { slope: 0, offset: node.value };
    case 'name':
      return { slope: 1, offset: 0 };
    case 'negate': {
      const { slope, offset } = linear(node.of);
      return { slope: -slope, offset: -offset };
    }
    case 'arithmetic':
      return combine(node.op, linear(node.left), linear(node.right), node.at);
  }
}

function combine(op: Arithmetic, left: Linear, right: Linear, at: number): Linear {
  switch (op) {
    case '+':
      return { slope: left.slope + right.slope, offset: left.offset + right.offset };
    case '-':
      return { slope: left.slope - right.slope, offset: left.offset - right.offset };
    case '*': {
      const [factor, other] = left.slope === 0 ? [left, right] : [right, left];
      if (factor.slope !== 0) throw new ExpressionError('count cannot be multiplied by itself', at);
      return { slope: other.slope * factor.offset, offset: other.offset * factor.offset };
    }
    case '/':
      if (right.slope !== 0) throw new ExpressionError('nothing can be divided by count', at);
      if (right.offset === 0) throw new ExpressionError('a division by zero', at);
      return { slope: left.slope / right.offset, offset: left.offset / right.offset };
  }
}
