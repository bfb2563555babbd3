// Conditions in the languages of clouds: expressions of Cloudflare, matches of Google Cloud Armor, match conditions of Azure.
//
//   (http.request.uri.path eq "/login" and http.request.method in {"POST" "PUT"})        request.path.matches('^/api') && request.method == 'POST'
//
// Sources: developers.cloudflare.com/ruleset-engine; cloud.google.com/armor, custom rules language; the azurerm reference.
import { isRange } from './address-range.js';
import { readBoolean } from './boolean-text.js';
import { at, isGiven, listAt, type TreeEntry, textAt, textsAt } from './document.js';
import { headerText } from './limit-key.js';
import * as ask from './request-condition.js';

const CLOUDFLARE: Readonly<Record<string, ask.RequestText>> = {
  'ip.src': ask.fieldText('client'),
  'http.host': ask.fieldText('host'),
  'http.request.method': ask.fieldText('method'),
  'http.request.uri': ask.fieldText('url'),
  'http.request.uri.path': ask.fieldText('path'),
  'raw.http.request.uri.path': ask.fieldText('path'),
  'http.request.uri.query': ask.fieldText('query'),
  'http.user_agent': ask.fieldText('agent'),
  'http.referer': ask.fieldText('referer'),
  'http.response.code': ask.fieldText('status'),
  'http.cookie': ask.missing('a cookie'),
};

/** A condition in the language of Cloudflare. */
export function cloudflareCondition(text: string): ask.RequestCondition {
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
    const test = ask.testNamed(call[1]!, unquoted(call[3]!))!;
    return { condition: ask.tested(cloudflareText(call[2]!), test), length: call[0].length };
  }
  const name = VALUE.exec(text)?.[1];
  if (name === undefined) return undefined;
  if (name === 'true' || name === 'false')
    return { condition: name === 'true' ? ask.ALWAYS : ask.NEVER, length: name.length };
  const sign = OPERATOR.exec(text.slice(name.length));
  const own = cloudflareText(name);
  if (sign === null)
    return { condition: own.kind === 'missing' ? own : ask.missing(`what ${name} is`), length: name.length };
  const from = name.length + sign[0].length;
  const operator = sign[1]!.replace(/\s+/g, ' ');
  const value = new RegExp(String.raw`^(?:\{[^}]*\}|${STRING}|\$[\w.]+|[\w.:/-]+)`).exec(text.slice(from))?.[0];
  if (value === undefined) return undefined;
  return { condition: compared(own, operator, value), length: from + value.length };
}

export function cloudflareText(name: string): ask.RequestText {
  const [, wrapped, inner = ''] = /^(lower|url_decode)\(\s*(.*?)\s*\)$/s.exec(name) ?? [];
  if (wrapped !== undefined) return { kind: wrapped === 'lower' ? 'lower' : 'decoded', of: cloudflareText(inner) };
  const [, argument] = /^http\.request\.uri\.args\["([^"]*)"\]/.exec(name) ?? [];
  if (argument !== undefined) return ask.argumentText(argument);
  const [, header] = /^http\.request\.headers\["([^"]*)"\]/.exec(name) ?? [];
  if (header !== undefined) return headerText(header);
  if (name === 'http.request.full_uri')
    return ask.joinedText([ask.literalText('https://'), ask.fieldText('host'), ask.fieldText('url')]);
  return CLOUDFLARE[name] ?? ask.missing(name);
}

function unquoted(text: string): string {
  const [, , raw] = /^r(#?)"(.*)"\1$/s.exec(text) ?? [];
  return raw ?? text.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1');
}

function compared(own: ask.RequestText, operator: string, written: string): ask.RequestCondition {
  if (written.startsWith('$')) return ask.missing(`the list ${written}`);
  if (written.startsWith('{')) {
    const values = [...written.slice(1, -1).matchAll(new RegExp(String.raw`${STRING}|[^\s"]+`, 'g'))];
    return ask.oneHolds(...values.map(([one]) => ask.tested(own, valueTest(own, unquoted(one)))));
  }
  const held = ask.tested(own, testBy(own, operator, unquoted(written)));
  return /^(?:!=|ne|<=|le|>=|ge)$/.test(operator) ? ask.not(held) : held;
}

/** Of an operator, or of that which it negates. */
function testBy(own: ask.RequestText, operator: string, value: string): ask.TextTest {
  if (/^(?:<|lt|>=|ge)$/.test(operator)) return { is: 'below', number: Number(value) };
  if (/^(?:>|gt|<=|le)$/.test(operator)) return { is: 'above', number: Number(value) };
  if (/^(?:contains|matches|~)$/.test(operator)) return ask.testNamed(operator, value)!;
  return operator.endsWith('wildcard') ? ask.starred(value, operator === 'wildcard') : valueTest(own, value);
}

const valueTest = (own: ask.RequestText, value: string): ask.TextTest =>
  own.kind === 'field' && own.field === 'client' && isRange(value)
    ? { is: 'within', ranges: [value] }
    : ask.equalTo(value);

/** Of a rule of Google Cloud Armor: addresses, or an expression. */
export function armorCondition(rule: TreeEntry): ask.RequestCondition {
  const expression = at(rule, 'match', 'expr', 'expression');
  if (isGiven(expression)) return readBoolean(textAt(expression) ?? '?', armorAt);
  const ranges = textsAt(rule, 'match', 'config', 'src_ip_ranges');
  return ranges.length === 0 || ranges.includes('*') ? ask.ALWAYS : ask.isFrom(ranges);
}

const ARMOR =
  /^(inIpRange\(\s*origin\.(?:user_)?ip\s*,\s*('[^']*'|"[^"]*")\s*\)|(request\.(?:path|method|query)|origin\.ip|request\.headers\[\s*(?:'[^']*'|"[^"]*")\s*\])(\.lower\(\))?\s*(==|!=|\.(?:matches|startsWith|endsWith|contains)\()\s*('[^']*'|"[^"]*")\s*(\))?)/;

function armorAt(text: string) {
  const [whole, , range, name = '', lower, sign = '', value = ''] = ARMOR.exec(text) ?? [];
  if (whole === undefined) return text.startsWith('true') ? { condition: ask.ALWAYS, length: 4 } : undefined;
  if (range !== undefined) return { condition: ask.isFrom([range.slice(1, -1)]), length: whole.length };
  const header = /\[\s*['"](.*?)['"]/.exec(name)?.[1];
  const field = { 'request.path': 'path', 'request.method': 'method', 'request.query': 'query', 'origin.ip': 'client' };
  const plain = header === undefined ? ask.fieldText(field[name as keyof typeof field] as 'path') : headerText(header);
  const own: ask.RequestText = lower === undefined ? plain : { kind: 'lower', of: plain };
  const asked = value.slice(1, -1).replace(/\\\\/g, '\\');
  const held = ask.tested(own, ask.testNamed(sign.replace(/\W/g, ''), asked) ?? ask.equalTo(asked));
  return { condition: sign === '!=' ? ask.not(held) : held, length: whole.length };
}

const AZURE: Readonly<Record<string, ask.RequestText>> = {
  RemoteAddr: ask.fieldText('client'),
  SocketAddr: ask.fieldText('client'),
  RequestMethod: ask.fieldText('method'),
  RequestUri: ask.fieldText('url'),
  QueryString: ask.fieldText('query'),
  Cookies: ask.missing('a cookie'),
  RequestCookies: ask.missing('a cookie'),
};

/** What transformations make of a text, in their order: `LOWERCASE` of AWS, `Lowercase` of Azure. */
export const changedBy = (names: readonly string[], text: ask.RequestText): ask.RequestText =>
  names.reduce<ask.RequestText>((of, name) => {
    if (/^lowercase$/i.test(name)) return { kind: 'lower', of };
    if (/^url_?decode$/i.test(name)) return { kind: 'decoded', of };
    return name === 'NONE' ? of : ask.missing(`what ${name} makes of a text`);
  }, text);

/** Of a rule of Azure: all of its conditions hold. */
export function azureCondition(rule: TreeEntry): ask.RequestCondition {
  const all = [...listAt(rule, 'match_condition'), ...listAt(rule, 'match_conditions')];
  return ask.allHold(
    ...all.map((one) => {
      const variable = at(one, 'match_variables');
      const name = textAt(variable, 'variable_name') ?? textAt(one, 'match_variable') ?? '';
      const header = textAt(variable, 'selector') ?? textAt(one, 'selector') ?? '';
      const operator = textAt(one, 'operator') ?? '';
      const values = textsAt(one, 'match_values');
      const plain = /^RequestHeaders?$/.test(name) ? headerText(header) : (AZURE[name] ?? ask.missing(name));
      const own = changedBy(textsAt(one, 'transforms'), plain);
      const held =
        operator === 'Any'
          ? ask.ALWAYS
          : operator === 'IPMatch'
            ? ask.tested(own, { is: 'within', ranges: values })
            : ask.testNamed(operator, '')
              ? ask.anyOf(own, values, (value) => ask.testNamed(operator, value)!)
              : ask.missing(operator);
      const isNegated = textAt(one, 'negation_condition') === 'true' || textAt(one, 'negate_condition') === 'true';
      return isNegated ? ask.not(held) : held;
    }),
  );
}
