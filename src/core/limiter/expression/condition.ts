// Parses a condition such as `count > 100 && input.level >= 3`, once: whether it holds for given numbers, and for which counts it holds.
// Nothing is run as code.
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
// A condition of a trigger compares terms that are linear in the count, so it holds on whole ranges of counts:
//
//   a * count + b  op  0   becomes   count  op  -b / a   (turned round where a < 0)
//
// Knowing the ranges, a gate counts millions of events with two comparisons each: see gate.ts.
import { meantOr } from '../../schema/did-you-mean.js';
import { ALL, complement, type IntegerSet, NONE, range, union } from './integer-set.js';

type Scope = (name: string) => number | undefined;

export interface ReadCondition {
  readonly names: ReadonlySet<string>;
  /** A comparison with a missing number, or with NaN (0 / 0), is false. */
  holds(scope: Scope): boolean;
  /** For integers >= 0. @throws ExpressionError unless linear in the count (count * count, 100 / count) */
  counts(): IntegerSet;
}

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  constructor(
    message: string,
    readonly column: number,
  ) {
    super(`column ${column}: ${message}`);
  }
}

export interface Vocabulary {
  readonly names: readonly string[];
  readonly prefixes?: readonly string[];
}

const DEPTH = 64;
const LENGTH = 500;
/** A run has hundreds of figures: a list of all is not read. */
const MOST_NAMES = 24;

/** Numbers are compared with numbers, and truth is combined with truth. @throws ExpressionError */
export function parseCondition(text: string, vocabulary: Vocabulary): ReadCondition {
  if (text.length > LENGTH) throw new ExpressionError(`the condition is longer than ${LENGTH} characters`, LENGTH + 1);
  return new Parser(tokenize(text), text.length + 1, vocabulary).whole();
}

/** A numeric part; `at` is its first column (from 1). */
interface Term {
  readonly kind: 'term';
  readonly at: number;
  value(scope: Scope): number;
  linear(): Linear;
}

interface Truth extends Omit<ReadCondition, 'names'> {
  readonly kind: 'truth';
  readonly at: number;
}

type Part = Term | Truth;

/** slope * count + offset */
interface Linear {
  readonly slope: number;
  readonly offset: number;
}

const scaled = ({ slope, offset }: Linear, by: number): Linear => ({ slope: slope * by, offset: offset * by });

interface Arithmetic {
  value(left: number, right: number): number;
  linear(left: Linear, right: Linear, at: number): Linear;
}

const arithmetic: Readonly<Record<string, Arithmetic>> = {
  '+': {
    value: (left, right) => left + right,
    linear: (left, right) => ({ slope: left.slope + right.slope, offset: left.offset + right.offset }),
  },
  '-': {
    value: (left, right) => left - right,
    linear: (left, right) => ({ slope: left.slope - right.slope, offset: left.offset - right.offset }),
  },
  '*': {
    value: (left, right) => left * right,
    linear(left, right, at) {
      if (left.slope === 0) return scaled(right, left.offset);
      if (right.slope !== 0) throw new ExpressionError('count cannot be multiplied by itself', at);
      return scaled(left, right.offset);
    },
  },
  '/': {
    value: (left, right) => left / right,
    linear(left, right, at) {
      if (right.slope !== 0) throw new ExpressionError('nothing can be divided by count', at);
      if (right.offset === 0) throw new ExpressionError('a division by zero', at);
      return { slope: left.slope / right.offset, offset: left.offset / right.offset };
    },
  },
};

interface Comparison {
  holds(left: number, right: number): boolean;
  readonly turned: string;
  counts(bound: number): IntegerSet;
}

const comparisons: Readonly<Record<string, Comparison>> = {
  '<': { holds: (left, right) => left < right, turned: '>', counts: (bound) => range(0, Math.ceil(bound) - 1) },
  '<=': { holds: (left, right) => left <= right, turned: '>=', counts: (bound) => range(0, Math.floor(bound)) },
  '>': {
    holds: (left, right) => left > right,
    turned: '<',
    counts: (bound) => range(Math.floor(bound) + 1, Number.POSITIVE_INFINITY),
  },
  '>=': {
    holds: (left, right) => left >= right,
    turned: '<=',
    counts: (bound) => range(Math.ceil(bound), Number.POSITIVE_INFINITY),
  },
  '==': {
    holds: (left, right) => left === right,
    turned: '==',
    counts: (bound) => (Number.isInteger(bound) ? range(bound, bound) : NONE),
  },
  // Also false if either side is missing: no condition holds on a missing number.
  '!=': {
    holds: (left, right) => left !== right && !Number.isNaN(left) && !Number.isNaN(right),
    turned: '!=',
    counts: (bound) => (Number.isInteger(bound) ? complement(range(bound, bound)) : ALL),
  },
};

function compared(sign: string, left: Term, right: Term): Truth {
  const { holds, turned, counts } = comparisons[sign]!;
  return {
    kind: 'truth',
    at: left.at,
    holds: (scope) => holds(left.value(scope), right.value(scope)),
    counts() {
      const { slope, offset } = arithmetic['-']!.linear(left.linear(), right.linear(), left.at);
      if (slope === 0) return holds(offset, 0) ? ALL : NONE;
      return (slope > 0 ? counts : comparisons[turned]!.counts)(-offset / slope);
    },
  };
}

/** Sets of a chain such as `a or b or c` are joined all at once: joining in pairs takes quadratic time. */
const joined = {
  or: (terms: readonly Truth[]): Truth => ({
    kind: 'truth',
    at: terms[0]!.at,
    holds: (scope) => terms.some((term) => term.holds(scope)),
    counts: () => union(...terms.map((term) => term.counts())),
  }),
  and: (terms: readonly Truth[]): Truth => ({
    kind: 'truth',
    at: terms[0]!.at,
    holds: (scope) => terms.every((term) => term.holds(scope)),
    counts: () => complement(union(...terms.map((term) => complement(term.counts())))),
  }),
};

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

const signAdvice: Readonly<Record<string, string>> = {
  '=': ' (equality is written ==)',
  '&': ' (and is written &&)',
  '|': ' (or is written ||)',
};

function unknownSign(text: string, from: number): ExpressionError {
  const column = from + text.slice(from).search(/\S/) + 1;
  const sign = String.fromCodePoint(text.codePointAt(column - 1) ?? 0);
  return new ExpressionError(`"${sign}" has no meaning here${signAdvice[sign] ?? ''}`, column);
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #endColumn: number;
  readonly #vocabulary: Vocabulary;
  readonly #names = new Set<string>();
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], endColumn: number, vocabulary: Vocabulary) {
    this.#tokens = tokens;
    this.#endColumn = endColumn;
    this.#vocabulary = vocabulary;
  }

  whole(): ReadCondition {
    const part = this.#or();
    const token = this.#peek();
    if (token.kind !== 'end')
      throw new ExpressionError(`"${token.text}" was not expected after a whole condition`, token.at);
    const { holds, counts } = asTruth(part);
    return { names: this.#names, holds, counts };
  }

  #or(): Part {
    return this.#chain('or', '||', () => this.#and());
  }

  #and(): Part {
    return this.#chain('and', '&&', () => this.#not());
  }

  #chain(word: 'or' | 'and', sign: string, next: () => Part): Part {
    const first = next();
    const terms: Truth[] = [];
    while (this.#take(word, sign) !== undefined) {
      if (terms.length === 0) terms.push(asTruth(first));
      terms.push(asTruth(next()));
    }
    return terms.length === 0 ? first : joined[word](terms);
  }

  #not(): Part {
    const token = this.#take('not', '!');
    if (token === undefined) return this.#comparison();
    return this.#nested(token, () => {
      const of = asTruth(this.#not());
      const counts = () => complement(of.counts());
      return { kind: 'truth', at: token.at, holds: (scope) => !of.holds(scope), counts };
    });
  }

  #comparison(): Part {
    const left = this.#sum();
    const token = this.#take(...Object.keys(comparisons));
    if (token === undefined) return left;
    const right = this.#sum();
    const again = this.#take(...Object.keys(comparisons));
    if (again !== undefined) {
      throw new ExpressionError('comparisons cannot be chained: write a < b && b < c', again.at);
    }
    return compared(token.text, asTerm(left), asTerm(right));
  }

  #sum(): Part {
    return this.#arithmetic(['+', '-'], () => this.#product());
  }

  #product(): Part {
    return this.#arithmetic(['*', '/'], () => this.#unary());
  }

  #arithmetic(signs: readonly string[], next: () => Part): Part {
    let whole = next();
    for (let token = this.#take(...signs); token !== undefined; token = this.#take(...signs)) {
      // Parse the right side first, so that an error in the left type does not hide a syntax error.
      const further = next();
      const [left, right] = [asTerm(whole), asTerm(further)];
      const { value, linear } = arithmetic[token.text]!;
      whole = {
        kind: 'term',
        at: left.at,
        value: (scope) => value(left.value(scope), right.value(scope)),
        linear: () => linear(left.linear(), right.linear(), left.at),
      };
    }
    return whole;
  }

  #unary(): Part {
    const token = this.#take('-');
    if (token === undefined) return this.#primary();
    return this.#nested(token, () => {
      const of = asTerm(this.#unary());
      return { kind: 'term', at: token.at, value: (scope) => -of.value(scope), linear: () => scaled(of.linear(), -1) };
    });
  }

  #primary(): Part {
    const token = this.#peek();
    const { kind, text, at } = token;
    this.#next += 1;
    if (kind === 'number') {
      const value = Number(text);
      if (!Number.isFinite(value)) throw new ExpressionError(`the number ${text} is too large`, at);
      return { kind: 'term', at, value: () => value, linear: () => ({ slope: 0, offset: value }) };
    }
    if (kind === 'name') return this.#name(token);
    if (text !== '(') {
      const found = kind === 'end' ? 'the condition ends here' : `"${text}" was found`;
      throw new ExpressionError(`a number, a name or "(" was expected, but ${found}`, at);
    }
    return this.#nested(token, () => {
      const inner = this.#or();
      if (this.#take(')') === undefined) {
        throw new ExpressionError(`the "(" of column ${at} is not closed`, this.#peek().at);
      }
      return inner;
    });
  }

  #name({ text, at }: Token): Part {
    if (text === 'true' || text === 'false') {
      const holds = text === 'true';
      return { kind: 'truth', at, holds: () => holds, counts: () => (holds ? ALL : NONE) };
    }
    const { names, prefixes = [] } = this.#vocabulary;
    const known = names.includes(text) || prefixes.some((prefix) => text.startsWith(prefix));
    if (!known) {
      const allowed = [...prefixes.map((prefix) => `${prefix}<name>`), ...names];
      const more = allowed.length > MOST_NAMES ? `, and ${allowed.length - MOST_NAMES} more` : '';
      const advice = meantOr(text, names, `known here: ${allowed.slice(0, MOST_NAMES).join(', ')}${more}`);
      throw new ExpressionError(`the name "${text}" is not known (${advice})`, at);
    }
    this.#names.add(text);
    return {
      kind: 'term',
      at,
      value: (scope) => scope(text) ?? Number.NaN,
      linear: () => ({ slope: 1, offset: 0 }),
    };
  }

  #nested(token: Token, inner: () => Part): Part {
    this.#depth += 1;
    if (this.#depth > DEPTH) throw new ExpressionError(`the condition is nested deeper than ${DEPTH}`, token.at);
    const part = inner();
    this.#depth -= 1;
    return part;
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

function asTerm(part: Part): Term {
  if (part.kind === 'term') return part;
  throw new ExpressionError('a number was expected here, but this is a condition', part.at);
}

function asTruth(part: Part): Truth {
  if (part.kind === 'truth') return part;
  const why = 'a condition was expected here, but this is a number: compare it, for example count > 100';
  throw new ExpressionError(why, part.at);
}
