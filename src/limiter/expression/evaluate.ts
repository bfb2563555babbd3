// The value of a condition for given numbers.
import type { Comparison, ConditionNode, Node, TermNode } from './parse.js';

type Scope = (name: string) => number | undefined;

/** Whether the condition holds. A comparison with a number that was not given, or that is NaN (0 / 0), is false. */
export function holds(node: ConditionNode, scope: Scope): boolean {
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
  }
}

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
  }
  return found;
}

function numberOf(node: TermNode, scope: Scope): number {
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
