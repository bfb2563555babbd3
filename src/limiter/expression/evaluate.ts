// The value of a condition for given numbers.
import { Bug } from '../../schema/failure.js';
import type { Comparison, Node } from './parse.js';

/** The number of a name; undefined where none was given. */
type Scope = (name: string) => number | undefined;

/** Whether the condition holds. A comparison with a number that was not given, or that is NaN (0 / 0), is false. */
export function holds(node: Node, scope: Scope): boolean {
  switch (node.kind) {
    case 'truth':
      return node.value;
    case 'not':
      return !holds(node.of, scope);
    case 'and':
      return holds(node.left, scope) && holds(node.right, scope);
    case 'or':
      return holds(node.left, scope) || holds(node.right, scope);
    case 'compare':
      return compare(node.op, numberOf(node.left, scope), numberOf(node.right, scope));
    case 'number':
    case 'name':
    case 'negate':
    case 'arithmetic':
      throw new Bug('the parser accepted a number as a condition');
  }
}

/** The names that a condition uses. */
export function namesIn(node: Node, found: Set<string> = new Set()): Set<string> {
  switch (node.kind) {
    case 'name':
      found.add(node.name);
      break;
    case 'negate':
    case 'not':
      namesIn(node.of, found);
      break;
    case 'arithmetic':
    case 'compare':
    case 'and':
    case 'or':
      namesIn(node.left, found);
      namesIn(node.right, found);
      break;
    case 'number':
    case 'truth':
      break;
  }
  return found;
}

function numberOf(node: Node, scope: Scope): number {
  switch (node.kind) {
    case 'number':
      return node.value;
    case 'name':
      return scope(node.name) ?? Number.NaN;
    case 'negate':
      return -numberOf(node.of, scope);
    case 'arithmetic': {
      const left = numberOf(node.left, scope);
      const right = numberOf(node.right, scope);
      if (node.op === '+') return left + right;
      if (node.op === '-') return left - right;
      return node.op === '*' ? left * right : left / right;
    }
    case 'truth':
    case 'not':
    case 'compare':
    case 'and':
    case 'or':
      throw new Bug('the parser accepted a condition as a number');
  }
}

/** False, also for `!=`, when either side is missing: a condition never holds on a number that was not given. */
export function compare(op: Comparison, left: number, right: number): boolean {
  if (Number.isNaN(left) || Number.isNaN(right)) return false;
  switch (op) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    case '==':
      return left === right;
    case '!=':
      return left !== right;
  }
}
