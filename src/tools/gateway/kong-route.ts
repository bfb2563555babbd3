// What a route of Kong asks besides its hosts and paths: methods, headers, sources, or an expression in their place.
//
//   methods: [POST]                         method = POST
//   expression: http.path ^= "/a" && http.method == "POST"
//
// Sources: docs.konghq.com, the route object, its priorities, and the expressions router.
import { readBoolean } from './boolean-text.js';
import { at, isGiven, listAt, type TreeEntry, textAt, textsAt } from './document.js';
import { conditionOfValues } from './header-match.js';
import { headerText } from './limit-key.js';
import {
  allHold,
  anyOf,
  argumentText,
  equalTo,
  fieldText,
  missing,
  not,
  type RequestCondition,
  type RequestText,
  type TextTest,
  tested,
  testNamed,
} from './request-condition.js';

const KINDS = ['hosts', 'paths', 'methods', 'headers', 'snis', 'sources', 'destinations'];

export const weightOf = (route: TreeEntry) => KINDS.filter((name) => isGiven(at(route, name))).length;

export function kongCondition(route: TreeEntry): RequestCondition {
  const [methods, expression] = [textsAt(route, 'methods'), textAt(route, 'expression')];
  const headers = [...(at(route, 'headers')?.fields.keys() ?? [])];
  const ranges = listAt(route, 'sources').flatMap((one) => textAt(one, 'ip') ?? []);
  return allHold(
    ...(methods.length === 0 ? [] : [anyOf(fieldText('method'), methods, (one) => equalTo(one.toUpperCase()))]),
    ...headers.map((name) => conditionOfValues(headerText(name), textsAt(at(route, 'headers'), name))),
    ...(ranges.length === 0 ? [] : [tested(fieldText('client'), { is: 'within', ranges })]),
    ...['snis', 'destinations'].flatMap((name) => (isGiven(at(route, name)) ? [missing(name)] : [])),
    ...(expression === undefined ? [] : [readBoolean(expression, comparisonAt)]),
  );
}

const FIELDS: Readonly<Record<string, RequestText>> = {
  'http.method': fieldText('method'),
  'http.host': fieldText('host'),
  'http.path': fieldText('path'),
  'net.src.ip': fieldText('client'),
};

const COMPARISON =
  /^((?:lower\()?)([\w.]+)\)?\s*(==|!=|\^=|=\^|~|not\s+in|in|contains)\s*(?:"((?:\\.|[^"\\])*)"|r#"(.*?)"#|([\w.:/]+))/;

function comparisonAt(text: string) {
  const [whole, lower = '', name = '', sign = '', quoted, raw, bare] = COMPARISON.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const value = quoted?.replace(/\\(.)/g, '$1') ?? raw ?? bare ?? '';
  const field = textOf(name);
  const own: RequestText = lower === '' ? field : { kind: 'lower', of: field };
  const test: TextTest = sign.endsWith('in')
    ? { is: 'within', ranges: [value] }
    : (testNamed(sign, value) ?? equalTo(value));
  const held = tested(own, test);
  return { condition: sign === '!=' || sign.startsWith('not') ? not(held) : held, length: whole.length };
}

function textOf(name: string): RequestText {
  const [, kind, own = ''] = /^http\.(headers|queries)\.(\w+)$/.exec(name) ?? [];
  if (kind === 'headers') return headerText(own.replaceAll('_', '-'));
  return kind === 'queries' ? argumentText(own) : (FIELDS[name] ?? missing(name));
}
