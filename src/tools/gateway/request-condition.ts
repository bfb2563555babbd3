// What a gateway's file asks of a request, and the texts it makes of one: one tree that every reader yields, and its evaluation.
//
//   Method(`POST`) && PathPrefix(`/api`)             allHold(test(method, equal POST), test(path, prefix /api))
//   map $request_method $key { POST $remote_addr; }  choice: if method = POST the client, else nothing
//
// What a log lacks is undefined, and so is a condition that depends on it: false and undefined is false.
import { isInRange } from './address-range.js';
import { expressionOf, literal } from './expression.js';

export type RequestField =
  | 'client'
  | 'host'
  | 'method'
  | 'path'
  | 'query'
  | 'url'
  | 'agent'
  | 'referer'
  | 'status'
  | 'user';

/** As logged; `url` is the path with its query. Absent: the log lacks the field. */
export type LoggedRequest = { readonly [field in RequestField]?: string | undefined };

export type RequestText =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'field'; readonly field: RequestField }
  /** The first value of a name in the query. */
  | { readonly kind: 'argument'; readonly name: string; readonly ignoresCase: boolean }
  | { readonly kind: 'joined'; readonly of: readonly RequestText[] }
  /** `normal`: of a path as nginx takes it: decoded, without empty segments, `.` and `..`. */
  | { readonly kind: 'lower' | 'decoded' | 'normal'; readonly of: RequestText }
  /** What a group of an expression matches; empty if it does not match. */
  | { readonly kind: 'captured'; readonly of: RequestText; readonly test: ValueTest; readonly group: string }
  | { readonly kind: 'choice'; readonly rows: readonly Choice[]; readonly otherwise: RequestText }
  /** No log has it: `the cookie session`. */
  | { readonly kind: 'missing'; readonly what: string };

interface Choice {
  readonly when: RequestCondition;
  readonly text: RequestText;
}

export interface ValueTest {
  readonly is: 'equal' | 'prefix' | 'suffix' | 'containing' | 'matching';
  readonly value: string;
  readonly ignoresCase?: boolean;
}

export type TextTest =
  | ValueTest
  | { readonly is: 'within'; readonly ranges: readonly string[] }
  | { readonly is: 'below' | 'above'; readonly number: number };

export type RequestCondition =
  | { readonly kind: 'and' | 'or'; readonly of: readonly RequestCondition[] }
  | { readonly kind: 'not'; readonly of: RequestCondition }
  | { readonly kind: 'test'; readonly text: RequestText; readonly test: TextTest }
  | { readonly kind: 'missing'; readonly what: string };

type Asked = RequestCondition | RequestText;

export const ALWAYS: RequestCondition = { kind: 'and', of: [] };
export const NEVER: RequestCondition = { kind: 'or', of: [] };

export const isAlways = (one: RequestCondition) => one.kind === 'and' && one.of.length === 0;
const isNever = (one: RequestCondition) => one.kind === 'or' && one.of.length === 0;

export function allHold(...all: readonly RequestCondition[]): RequestCondition {
  const of = all.flatMap((one) => (one.kind === 'and' ? one.of : [one]));
  return of.some(isNever) ? NEVER : of.length === 1 ? of[0]! : { kind: 'and', of };
}

export function oneHolds(...all: readonly RequestCondition[]): RequestCondition {
  const of = all.flatMap((one) => (one.kind === 'or' ? one.of : [one]));
  return of.some(isAlways) ? ALWAYS : of.length === 1 ? of[0]! : { kind: 'or', of };
}

export function not(of: RequestCondition): RequestCondition {
  return of.kind === 'not' ? of.of : isAlways(of) ? NEVER : isNever(of) ? ALWAYS : { kind: 'not', of };
}

export const missing = (what: string) => ({ kind: 'missing', what }) as const;
export const literalText = (text: string): RequestText => ({ kind: 'literal', text });
export const fieldText = (field: RequestField): RequestText => ({ kind: 'field', field });
export const argumentText = (name: string, ignoresCase = false) => ({ kind: 'argument', name, ignoresCase }) as const;

export function joinedText(of: readonly RequestText[]): RequestText {
  return of.length === 1 ? of[0]! : { kind: 'joined', of };
}

export function choiceText(rows: readonly Choice[], otherwise: RequestText): RequestText {
  return rows.length === 0 ? otherwise : { kind: 'choice', rows, otherwise };
}

export function tested(text: RequestText, test: TextTest): RequestCondition {
  return text.kind === 'missing' ? text : { kind: 'test', text, test };
}

export const isFrom = (ranges: readonly string[]) => tested(fieldText('client'), { is: 'within', ranges });

/** An argument may be there and empty. @param end what follows its name, as an expression */
export function isThere(text: RequestText, end = '(?:=|&|$)'): RequestCondition {
  if (text.kind === 'missing') return text;
  if (text.kind !== 'argument') return not(tested(text, equalTo('')));
  const value = `(?:^|&)${literal(text.name)}${end}`;
  return tested(fieldText('query'), { is: 'matching', value, ignoresCase: text.ignoresCase });
}

/** Whether a test of any of the values holds. */
export function anyOf(
  text: RequestText,
  values: readonly string[],
  test: (value: string) => TextTest = (value) => equalTo(value),
): RequestCondition {
  return oneHolds(...values.map((value) => tested(text, test(value))));
}

/** How products call a test, in small letters and without `_`. */
const NAMES: Readonly<Record<ValueTest['is'], RegExp>> = {
  equal: /^(?:==|eq|str|exact|equal|exactly)$/,
  prefix: /^(?:\^=|beg|prefix|startswith|beginswith)$/,
  suffix: /^(?:=\^|end|suffix|endswith)$/,
  containing: /^(?:sub|contains)$/,
  matching: /^(?:~|reg|regex|matches)$/,
};

/** `path_beg`, `STARTS_WITH`, `^=`: of a word that is none, undefined. */
export function testNamed(word: string, value: string, ignoresCase = false): ValueTest | undefined {
  const named = word.toLowerCase().replaceAll('_', '');
  const is = (Object.keys(NAMES) as ValueTest['is'][]).find((one) => NAMES[one].test(named));
  return is && { is, value, ...(ignoresCase && { ignoresCase }) };
}

export const equalTo = (value: string, ignoresCase = false): ValueTest => ({
  is: 'equal',
  value,
  ...(ignoresCase && { ignoresCase }),
});

/** A star matches anything. */
export const starred = (value: string, ignoresCase = false): ValueTest => ({
  is: 'matching',
  value: `^${value.split('*').map(literal).join('.*')}$`,
  ...(ignoresCase && { ignoresCase }),
});

/** Undefined if it depends on what the log lacks. */
export function holds(condition: RequestCondition, request: LoggedRequest): boolean | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const decisive = condition.kind === 'or';
      let found: boolean | undefined = !decisive;
      for (const one of condition.of) {
        const held = holds(one, request);
        if (held === decisive) return decisive;
        if (held === undefined) found = undefined;
      }
      return found;
    }
    case 'not': {
      const held = holds(condition.of, request);
      return held === undefined ? undefined : !held;
    }
    case 'test': {
      const text = requestText(condition.text, request);
      return text === undefined ? undefined : passes(condition.test, text);
    }
    case 'missing':
      return undefined;
  }
}

/** Undefined if it depends on what the log lacks. */
export function requestText(text: RequestText, request: LoggedRequest): string | undefined {
  switch (text.kind) {
    case 'literal':
      return text.text;
    case 'field':
      return request[text.field];
    case 'argument':
      return request.query === undefined ? undefined : argumentIn(request.query, text);
    case 'joined': {
      const all = text.of.map((one) => requestText(one, request));
      return all.includes(undefined) ? undefined : all.join('');
    }
    case 'lower':
    case 'decoded':
    case 'normal': {
      const given = requestText(text.of, request);
      return given === undefined ? undefined : CHANGES[text.kind].of(given);
    }
    case 'captured': {
      const { test, group } = text;
      const whole = requestText(text.of, request);
      const found = whole && expressionOf(test.value, test.ignoresCase === true)?.exec(whole);
      return whole === undefined ? undefined : ((found && (found.groups?.[group] ?? found[Number(group)])) ?? '');
    }
    case 'choice': {
      for (const { when, text: chosen } of text.rows) {
        const held = holds(when, request);
        if (held === undefined) return undefined;
        if (held) return requestText(chosen, request);
      }
      return requestText(text.otherwise, request);
    }
    case 'missing':
      return undefined;
  }
}

const CHANGES = {
  lower: { of: (text: string) => text.toLowerCase(), words: (text: string) => `${text} in lower case` },
  decoded: { of: decoded, words: (text: string) => `decoded ${text}` },
  normal: { of: normalPath, words: (text: string) => text },
};

function argumentIn(query: string, { name, ignoresCase }: ReturnType<typeof argumentText>): string {
  const spelt = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  for (const one of query.split('&')) {
    const end = one.indexOf('=');
    if (spelt(end < 0 ? one : one.slice(0, end)) === spelt(name)) return end < 0 ? '' : one.slice(end + 1);
  }
  return '';
}

function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch {
      return codes;
    }
  });
}

/** As nginx takes the path of a request: `//a/./b/../%63` is `/a/c`. */
export function normalPath(path: string): string {
  if (!/%|\/\/|\/\./.test(path)) return path;
  const segments: string[] = [];
  const all = decoded(path).split('/').slice(1);
  for (const one of all)
    if (one === '..') segments.pop();
    else if (one !== '' && one !== '.') segments.push(one);
  const isFolder = ['', '.', '..'].includes(all.at(-1) ?? '');
  return `/${segments.join('/')}${isFolder && segments.length > 0 ? '/' : ''}`;
}

export function passes(test: TextTest, text: string): boolean {
  switch (test.is) {
    case 'within':
      return test.ranges.some((range) => isInRange(text, range));
    case 'below':
      return text !== '' && Number(text) < test.number;
    case 'above':
      return text !== '' && Number(text) > test.number;
    case 'matching':
      return expressionOf(test.value, test.ignoresCase === true)?.test(text) === true;
    default: {
      const ignoresCase = test.ignoresCase === true;
      const [asked, value] = ignoresCase ? [text.toLowerCase(), test.value.toLowerCase()] : [text, test.value];
      if (test.is === 'equal') return asked === value;
      return test.is === 'prefix'
        ? asked.startsWith(value)
        : test.is === 'suffix'
          ? asked.endsWith(value)
          : asked.includes(value);
    }
  }
}

/** In words, what the log lacks of what the conditions or texts depend on; by default the path. */
export function lackOf(all: readonly Asked[], request: LoggedRequest): string {
  const { fields, missing: none } = needsOf(all);
  const absent = [...fields].find((field) => request[field] === undefined);
  return [...none][0] ?? `the ${absent ?? 'path'} of a request`;
}

/** What conditions and texts depend on; `missing`: what no log has. */
export function needsOf(all: readonly Asked[]): { readonly fields: Set<RequestField>; readonly missing: Set<string> } {
  const found = { fields: new Set<RequestField>(), missing: new Set<string>() };
  const visit = (one: Asked): void => {
    if (one.kind === 'field') found.fields.add(one.field);
    if (one.kind === 'argument') found.fields.add('query');
    if (one.kind === 'missing') found.missing.add(one.what);
    for (const part of partsOf(one)) visit(part);
    if ('test' in one && one.test.is === 'matching' && expressionOf(one.test.value, false) === undefined)
      found.missing.add(`the expression ${one.test.value}`);
  };
  for (const one of all) visit(one);
  return found;
}

/** The conditions and texts that it is made of. */
function partsOf(one: Asked): readonly Asked[] {
  if (one.kind === 'choice') return [...one.rows.flatMap(({ when, text }) => [when, text]), one.otherwise];
  return one.kind === 'test' ? [one.text] : 'of' in one ? [one.of].flat() : [];
}

/** And what is said where it does not hold. */
const VERBS = {
  equal: ['is', 'is not'],
  prefix: ['begins with', 'does not begin with'],
  suffix: ['ends with', 'does not end with'],
  containing: ['contains', 'does not contain'],
  matching: ['matches', 'does not match'],
  within: ['is in', 'is not in'],
  below: ['is below', 'is not below'],
  above: ['is above', 'is not above'],
} as const;

const testedWords = ({ text, test }: RequestCondition & { readonly kind: 'test' }, isNegated: boolean) =>
  `${inWords(text)} ${testWords(test, isNegated)}`;

/** `begins with /api` */
export function testWords(test: TextTest, isNegated = false): string {
  const value =
    test.is === 'within' ? test.ranges.join(' or ') : 'number' in test ? test.number : test.value || 'empty';
  const hasCase = String(value).toLowerCase() !== String(value).toUpperCase();
  const ignoresCase = hasCase && 'ignoresCase' in test && test.ignoresCase === true ? ' (case ignored)' : '';
  return `${VERBS[test.is][isNegated ? 1 : 0]} ${value}${ignoresCase}`;
}

/** `method is POST and path does not begin with /api`; of a text: `decoded path`. */
export function inWords(one: Asked): string {
  switch (one.kind) {
    case 'and':
    case 'or':
      if (one.of.length === 0) return one.kind === 'and' ? 'always' : 'never';
      return one.of
        .map((part) => (part.kind === 'and' || part.kind === 'or' ? `(${inWords(part)})` : inWords(part)))
        .join(` ${one.kind} `);
    case 'not':
      return one.of.kind === 'test' ? testedWords(one.of, true) : `not (${inWords(one.of)})`;
    case 'test':
      return testedWords(one, false);
    case 'literal':
      return one.text === '' ? 'nothing' : JSON.stringify(one.text);
    case 'field':
      return one.field === 'agent' ? 'user agent' : one.field;
    case 'argument':
      return `argument ${one.name}`;
    case 'joined':
      return one.of.map(inWords).join(' ');
    case 'lower':
    case 'decoded':
    case 'normal':
      return CHANGES[one.kind].words(inWords(one.of));
    case 'captured':
      return `group ${one.group} of ${one.test.value} in ${inWords(one.of)}`;
    case 'choice': {
      const rows = one.rows.map(({ when, text }) => `${inWords(text)} if ${inWords(when)}`);
      return `(${[...rows, inWords(one.otherwise)].join(', else ')})`;
    }
    case 'missing':
      return one.what;
  }
}
