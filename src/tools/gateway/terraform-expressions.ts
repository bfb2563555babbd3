// Conditions in the languages of clouds: expressions of Cloudflare, matches of Google Cloud Armor, match conditions of Azure.
//
//   (http.request.uri.path eq "/login" and http.request.method in {"POST" "PUT"})        request.path.matches('^/api') && request.method == 'POST'
//
// Sources: developers.cloudflare.com/ruleset-engine; cloud.google.com/armor, custom rules language; the azurerm reference.
import { isRange } from './address-range.js';
import { readBoolean } from './boolean-text.js';
import { at, isGiven, listAt, type TreeEntry, textAt, textsAt } from './document.js';
import { literal } from './expression.js';
import { headerText } from './limit-key.js';
import {
  ALWAYS,
  allHold,
  anyOf,
  argumentText,
  equalTo,
  fieldText,
  joinedText,
  literalText,
  missing,
  NEVER,
  not,
  oneHolds,
  type RequestCondition,
  type RequestText,
  type TextTest,
  tested,
  testNamed,
} from './request-condition.js';

const CLOUDFLARE: Readonly<Record<string, RequestText>> = {
  'ip.src': fieldText('client'),
  'http.host': fieldText('host'),
  'http.request.method': fieldText('method'),
  'http.request.uri': fieldText('url'),
  'http.request.uri.path': fieldText('path'),
  'raw.http.request.uri.path': fieldText('path'),
  'http.request.uri.query': fieldText('query'),
  'http.user_agent': fieldText('agent'),
  'http.referer': fieldText('referer'),
  'http.response.code': fieldText('status'),
  'http.cookie': missing('a cookie'),
};

/** A condition in the language of Cloudflare. */
export function cloudflareCondition(text: string): RequestCondition {
  return readBoolean(text, cloudflareAt);
}

const STRING = String.raw`"(?:\\.|[^"\\])*"|r"[^"]*"|r#".*?"#`;
const NAME = String.raw`[a-z][\w.]*(?:\["[^"]*"\])?(?:\[(?:\d+|\*)\])?`;
const VALUE = new RegExp(
  String.raw`^((?:lower|url_decode)\(\s*(?:url_decode\(\s*${NAME}\s*\)|lower\(\s*${NAME}\s*\)|${NAME})\s*\)|${NAME})`,
);
const OPERATOR =
  /^\s*(==|eq\b|!=|ne\b|strict\s+wildcard\b|wildcard\b|contains\b|matches\b|~|in\b|<=?|l[te]\b|>=?|g[te]\b)\s*/;
const CALL = new RegExp(
  String.raw`^(starts_with|ends_with)\(\s*(${NAME}|lower\(\s*${NAME}\s*\))\s*,\s*(${STRING})\s*\)`,
);

function cloudflareAt(text: string) {
  const call = CALL.exec(text);
  if (call !== null) {
    const test = testNamed(call[1]!, unquoted(call[3]!))!;
    return { condition: tested(cloudflareText(call[2]!), test), length: call[0].length };
  }
  const name = VALUE.exec(text)?.[1];
  if (name === undefined) return undefined;
  if (name === 'true' || name === 'false') return { condition: name === 'true' ? ALWAYS : NEVER, length: name.length };
  const sign = OPERATOR.exec(text.slice(name.length));
  const own = cloudflareText(name);
  if (sign === null)
    return { condition: own.kind === 'missing' ? own : missing(`what ${name} is`), length: name.length };
  const from = name.length + sign[0].length;
  const operator = sign[1]!.replace(/\s+/g, ' ');
  const value = new RegExp(String.raw`^(?:\{[^}]*\}|${STRING}|\$[\w.]+|[\w.:/-]+)`).exec(text.slice(from))?.[0];
  if (value === undefined) return undefined;
  return { condition: compared(own, operator, value), length: from + value.length };
}

export function cloudflareText(name: string): RequestText {
  const [, wrapped, inner = ''] = /^(lower|url_decode)\(\s*(.*?)\s*\)$/s.exec(name) ?? [];
  if (wrapped !== undefined) return { kind: wrapped === 'lower' ? 'lower' : 'decoded', of: cloudflareText(inner) };
  const [, argument] = /^http\.request\.uri\.args\["([^"]*)"\]/.exec(name) ?? [];
  if (argument !== undefined) return argumentText(argument);
  const [, header] = /^http\.request\.headers\["([^"]*)"\]/.exec(name) ?? [];
  if (header !== undefined) return headerText(header);
  if (name === 'http.request.full_uri')
    return joinedText([literalText('https://'), fieldText('host'), fieldText('url')]);
  return CLOUDFLARE[name] ?? missing(name);
}

function unquoted(text: string): string {
  const [, , raw] = /^r(#?)"(.*)"\1$/s.exec(text) ?? [];
  return raw ?? text.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1');
}

function compared(own: RequestText, operator: string, written: string): RequestCondition {
  if (written.startsWith('$')) return missing(`the list ${written}`);
  if (written.startsWith('{')) {
    const values = [...written.slice(1, -1).matchAll(new RegExp(String.raw`${STRING}|[^\s"]+`, 'g'))];
    return oneHolds(...values.map(([one]) => tested(own, valueTest(own, unquoted(one)))));
  }
  const value = unquoted(written);
  const number = Number(value);
  switch (operator) {
    case '!=':
    case 'ne':
      return not(tested(own, valueTest(own, value)));
    case 'contains':
    case 'matches':
    case '~':
      return tested(own, testNamed(operator, value)!);
    case 'wildcard':
    case 'strict wildcard': {
      const expression = `^${value.split('*').map(literal).join('.*')}$`;
      return tested(own, { is: 'matching', value: expression, ignoresCase: operator === 'wildcard' });
    }
    case '<':
    case 'lt':
      return tested(own, { is: 'below', number });
    case '>':
    case 'gt':
      return tested(own, { is: 'above', number });
    case '<=':
    case 'le':
      return not(tested(own, { is: 'above', number }));
    case '>=':
    case 'ge':
      return not(tested(own, { is: 'below', number }));
    default:
      return tested(own, valueTest(own, value));
  }
}

const valueTest = (own: RequestText, value: string): TextTest =>
  own.kind === 'field' && own.field === 'client' && isRange(value) ? { is: 'within', ranges: [value] } : equalTo(value);

/** Of a rule of Google Cloud Armor: addresses, or an expression. */
export function armorCondition(rule: TreeEntry): RequestCondition {
  const expression = at(rule, 'match', 'expr', 'expression');
  if (isGiven(expression)) return readBoolean(textAt(expression) ?? '?', armorAt);
  const ranges = textsAt(rule, 'match', 'config', 'src_ip_ranges');
  return ranges.length === 0 || ranges.includes('*') ? ALWAYS : tested(fieldText('client'), { is: 'within', ranges });
}

const ARMOR =
  /^(inIpRange\(\s*origin\.(?:user_)?ip\s*,\s*('[^']*'|"[^"]*")\s*\)|(request\.(?:path|method|query)|origin\.ip|request\.headers\[\s*(?:'[^']*'|"[^"]*")\s*\])(\.lower\(\))?\s*(==|!=|\.(?:matches|startsWith|endsWith|contains)\()\s*('[^']*'|"[^"]*")\s*(\))?)/;

function armorAt(text: string) {
  const [whole, , range, name = '', lower, sign = '', value = ''] = ARMOR.exec(text) ?? [];
  if (whole === undefined) return text.startsWith('true') ? { condition: ALWAYS, length: 4 } : undefined;
  const length = whole.length;
  if (range !== undefined)
    return { condition: tested(fieldText('client'), { is: 'within' as const, ranges: [range.slice(1, -1)] }), length };
  const header = /\[\s*['"](.*?)['"]/.exec(name)?.[1];
  const field = { 'request.path': 'path', 'request.method': 'method', 'request.query': 'query', 'origin.ip': 'client' };
  const plain = header === undefined ? fieldText(field[name as keyof typeof field] as 'path') : headerText(header);
  const own: RequestText = lower === undefined ? plain : { kind: 'lower', of: plain };
  const asked = value.slice(1, -1).replace(/\\\\/g, '\\');
  const held = tested(own, testNamed(sign.replace(/\W/g, ''), asked) ?? equalTo(asked));
  return { condition: sign === '!=' ? not(held) : held, length };
}

const AZURE: Readonly<Record<string, RequestText>> = {
  RemoteAddr: fieldText('client'),
  SocketAddr: fieldText('client'),
  RequestMethod: fieldText('method'),
  RequestUri: fieldText('url'),
  QueryString: fieldText('query'),
  Cookies: missing('a cookie'),
  RequestCookies: missing('a cookie'),
};

/** Of a rule of Azure: all of its conditions hold. */
export function azureCondition(rule: TreeEntry): RequestCondition {
  const all = [...listAt(rule, 'match_condition'), ...listAt(rule, 'match_conditions')];
  return allHold(
    ...all.map((one) => {
      const variable = at(one, 'match_variables');
      const name = textAt(variable, 'variable_name') ?? textAt(one, 'match_variable') ?? '';
      const header = textAt(variable, 'selector') ?? textAt(one, 'selector') ?? '';
      const operator = textAt(one, 'operator') ?? '';
      const values = textsAt(one, 'match_values');
      const plain = /^RequestHeaders?$/.test(name) ? headerText(header) : (AZURE[name] ?? missing(name));
      const isLower = listAt(one, 'transforms').some(({ value }) => value === 'Lowercase');
      const own: RequestText = isLower ? { kind: 'lower', of: plain } : plain;
      const isNamed = testNamed(operator, '') !== undefined;
      const held =
        operator === 'Any'
          ? ALWAYS
          : operator === 'IPMatch'
            ? tested(own, { is: 'within', ranges: values })
            : isNamed
              ? anyOf(own, values, (value) => testNamed(operator, value)!)
              : missing(operator);
      const isNegated = textAt(one, 'negation_condition') === 'true' || textAt(one, 'negate_condition') === 'true';
      return isNegated ? not(held) : held;
    }),
  );
}
