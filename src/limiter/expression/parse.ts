// The parser of conditions: text -> tree, or the column of the first error.
//
//   or          and ( ("or" | "||") and )*
//   and         not ( ("and" | "&&") not )*
//   not         ("not" | "!") not | comparison
//   comparison  sum ( ("<" | "<=" | ">" | ">=" | "==" | "!=") sum )?
//   sum         product ( ("+" | "-") product )*
//   product     unary ( ("*" | "/") unary )*
//   unary       "-" unary | primary
//   primary     number | name ("." name)* | "true" | "false" | "(" or ")"
//
// A condition is data: no part of it is run as code.
import { meantOr } from '../../schema/did-you-mean.js';

export type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=';
export type Arithmetic = '+' | '-' | '*' | '/';

/** An expression whose value is a number; `at` is the column (from 1) where it begins. */
export type TermNode =
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'name'; readonly name: string; readonly at: number }
  | { readonly kind: 'negate'; readonly of: TermNode; readonly at: number }
  | {
      readonly kind: 'arithmetic';
      readonly op: Arithmetic;
      readonly left: TermNode;
      readonly right: TermNode;
      readonly at: number;
    };

export type ConditionNode =
  | { readonly kind: 'truth'; readonly value: boolean; readonly at: number }
  | { readonly kind: 'not'; readonly of: ConditionNode; readonly at: number }
  | {
      readonly kind: 'compare';
      readonly op: Comparison;
      readonly left: TermNode;
      readonly right: TermNode;
      readonly at: number;
    }
  | { readonly kind: 'and' | 'or'; readonly left: ConditionNode; readonly right: ConditionNode; readonly at: number };

export type Node = TermNode | ConditionNode;

/** The first thing in a condition that cannot be understood, with its column (from 1). */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  constructor(
    message: string,
    readonly column: number,
  ) {
    super(`column ${column}: ${message}`);
  }
}

/** Which names a condition may use: whole names, or every name that begins with a prefix as `input.`. */
export interface Vocabulary {
  readonly names: readonly string[];
  readonly prefixes?: readonly string[];
}

const DEPTH = 64;
const LENGTH = 500;

/**
 * Reads a condition and checks that it is one: every name known, numbers compared with numbers, truth combined with truth.
 * @throws ExpressionError with the column of the first error
 */
export function parseCondition(text: string, vocabulary: Vocabulary): ConditionNode {
  if (text.length > LENGTH) throw new ExpressionError(`the condition is longer than ${LENGTH} characters`, LENGTH + 1);
  return asCondition(new Parser(tokenize(text), text.length + 1, vocabulary).whole());
}

interface Token {
  readonly text: string;
  readonly kind: 'number' | 'name' | 'sign' | 'end';
  readonly at: number;
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|(<=|>=|==|!=|&&|\|\||[<>+\-*/()!]))/y;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  for (let index = 0; index < end; index = TOKEN.lastIndex) {
    TOKEN.lastIndex = index;
    const match = TOKEN.exec(text);
    if (match === null) throw unknownSign(text, index);
    const word = match[1] ?? match[2] ?? match[3] ?? '';
    const at = TOKEN.lastIndex - word.length + 1;
    tokens.push({ text: word, at, kind: match[1] !== undefined ? 'number' : match[2] !== undefined ? 'name' : 'sign' });
  }
  return tokens;
}

function unknownSign(text: string, from: number): ExpressionError {
  const column = from + text.slice(from).search(/\S/) + 1;
  const sign = String.fromCodePoint(text.codePointAt(column - 1) ?? 0);
  const advice =
    sign === '='
      ? ' (equality is written ==)'
      : sign === '&'
        ? ' (and is written &&)'
        : sign === '|'
          ? ' (or is written ||)'
          : '';
  return new ExpressionError(`"${sign}" has no meaning here${advice}`, column);
}

class Parser {
  #next = 0;
  #depth = 0;

  readonly #tokens: readonly Token[];
  readonly #endColumn: number;
  readonly #vocabulary: Vocabulary;

  constructor(tokens: readonly Token[], endColumn: number, vocabulary: Vocabulary) {
    this.#tokens = tokens;
    this.#endColumn = endColumn;
    this.#vocabulary = vocabulary;
  }

  whole(): Node {
    const node = this.#or();
    const rest = this.#peek();
    if (rest.kind !== 'end')
      throw new ExpressionError(`"${rest.text}" was not expected after a whole condition`, rest.at);
    return node;
  }

  #or(): Node {
    return this.#joined('or', '||', () => this.#and());
  }

  #and(): Node {
    return this.#joined('and', '&&', () => this.#not());
  }

  #joined(kind: 'or' | 'and', sign: string, next: () => Node): Node {
    let left = next();
    while (this.#take(kind, sign) !== undefined)
      left = { kind, left: asCondition(left), right: asCondition(next()), at: left.at };
    return left;
  }

  #not(): Node {
    const token = this.#take('not', '!');
    if (token === undefined) return this.#comparison();
    return this.#nested(token, () => ({ kind: 'not', of: asCondition(this.#not()), at: token.at }));
  }

  #comparison(): Node {
    const left = this.#sum();
    const token = this.#take('<', '<=', '>', '>=', '==', '!=');
    if (token === undefined) return left;
    const right = this.#sum();
    const again = this.#take('<', '<=', '>', '>=', '==', '!=');
    if (again !== undefined) {
      throw new ExpressionError('comparisons cannot be chained: write a < b && b < c', again.at);
    }
    return { kind: 'compare', op: token.text as Comparison, left: asTerm(left), right: asTerm(right), at: left.at };
  }

  #sum(): Node {
    return this.#arithmetic(['+', '-'], () => this.#product());
  }

  #product(): Node {
    return this.#arithmetic(['*', '/'], () => this.#unary());
  }

  #arithmetic(ops: readonly Arithmetic[], next: () => Node): Node {
    let left = next();
    for (let token = this.#take(...ops); token !== undefined; token = this.#take(...ops)) {
      // The term on the right is read before the one on the left is refused.
      const right = next();
      left = {
        kind: 'arithmetic',
        op: token.text as Arithmetic,
        left: asTerm(left),
        right: asTerm(right),
        at: left.at,
      };
    }
    return left;
  }

  #unary(): Node {
    const token = this.#take('-');
    if (token === undefined) return this.#primary();
    return this.#nested(token, () => ({ kind: 'negate', of: asTerm(this.#unary()), at: token.at }));
  }

  #primary(): Node {
    const token = this.#peek();
    this.#next += 1;
    if (token.kind === 'number') return { kind: 'number', value: finite(token), at: token.at };
    if (token.kind === 'name') return this.#name(token);
    if (token.text !== '(') {
      const found = token.kind === 'end' ? 'the condition ends here' : `"${token.text}" was found`;
      throw new ExpressionError(`a number, a name or "(" was expected, but ${found}`, token.at);
    }
    return this.#nested(token, () => {
      const inner = this.#or();
      if (this.#take(')') === undefined) {
        throw new ExpressionError(`the "(" of column ${token.at} is not closed`, this.#peek().at);
      }
      return inner;
    });
  }

  #name(token: Token): Node {
    if (token.text === 'true' || token.text === 'false')
      return { kind: 'truth', value: token.text === 'true', at: token.at };
    const { names, prefixes = [] } = this.#vocabulary;
    const known = names.includes(token.text) || prefixes.some((prefix) => token.text.startsWith(prefix));
    if (!known) {
      const allowed = [...names, ...prefixes.map((prefix) => `${prefix}<name>`)].join(', ');
      const advice = meantOr(token.text, names, `known here: ${allowed}`);
      throw new ExpressionError(`the name "${token.text}" is not known (${advice})`, token.at);
    }
    return { kind: 'name', name: token.text, at: token.at };
  }

  #nested(token: Token, inner: () => Node): Node {
    this.#depth += 1;
    if (this.#depth > DEPTH) throw new ExpressionError(`the condition is nested deeper than ${DEPTH}`, token.at);
    const node = inner();
    this.#depth -= 1;
    return node;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { text: '', kind: 'end', at: this.#endColumn };
  }

  #take(...texts: string[]): Token | undefined {
    const token = this.#peek();
    if (token.kind === 'end' || !texts.includes(token.text)) return undefined;
    this.#next += 1;
    return token;
  }
}

function finite(token: Token): number {
  const value = Number(token.text);
  if (!Number.isFinite(value)) throw new ExpressionError(`the number ${token.text} is too large`, token.at);
  return value;
}

function isTerm(node: Node): node is TermNode {
  return node.kind === 'number' || node.kind === 'name' || node.kind === 'negate' || node.kind === 'arithmetic';
}

function asTerm(node: Node): TermNode {
  if (isTerm(node)) return node;
  throw new ExpressionError('a number was expected here, but this is a condition', node.at);
}

function asCondition(node: Node): ConditionNode {
  if (!isTerm(node)) return node;
  const why = 'a condition was expected here, but this is a number: compare it, for example count > 100';
  throw new ExpressionError(why, node.at);
}
