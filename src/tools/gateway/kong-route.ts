// What a route of Kong asks besides its hosts and paths: methods, headers, sources, or an expression in their place.
//
//   methods: [POST]                         method = POST
//   expression: http.path ^= "/a" && http.method == "POST"
//
// Sources: docs.konghq.com, the route object, its priorities, and the expressions router.
import { readBoolean } from './boolean-text.js';
import { at, isGiven, listAt, numberAt, type TreeEntry, textAt, textsAt } from './document.js';
import { conditionOfValues } from './header-match.js';
import { headerText } from './limit-key.js';
import * as ask from './request-condition.js';

const KINDS = ['hosts', 'paths', 'methods', 'headers', 'snis', 'sources', 'destinations'];

/** Of routes that fit, one that asks for more kinds of things goes first. */
export const weightOf = (route: TreeEntry) =>
  isGiven(at(route, 'expression'))
    ? (numberAt(route, 'priority') ?? 0)
    : KINDS.filter((name) => isGiven(at(route, name))).length;

export function kongCondition(route: TreeEntry): ask.RequestCondition {
  const [methods, expression] = [textsAt(route, 'methods'), textAt(route, 'expression')];
  const headers = [...(at(route, 'headers')?.fields.keys() ?? [])];
  const ranges = listAt(route, 'sources').flatMap((one) => textAt(one, 'ip') ?? []);
  return ask.allHold(
    ...(methods.length === 0 ? [] : [isOneOf(methods)]),
    ...headers.map((name) => conditionOfValues(headerText(name), textsAt(at(route, 'headers'), name))),
    ...(ranges.length === 0 ? [] : [ask.isFrom(ranges)]),
    ...['snis', 'destinations'].flatMap((name) => (isGiven(at(route, name)) ? [ask.missing(name)] : [])),
    ...(expression === undefined ? [] : [readBoolean(expression, comparisonAt)]),
  );
}

const isOneOf = (methods: readonly string[]) =>
  ask.anyOf(ask.fieldText('method'), methods, (one) => ask.equalTo(one.toUpperCase()));

/** Of an Ingress: `konghq.com/methods: POST,PUT`, `konghq.com/headers.x-version: v1,v2`. */
export function annotatedCondition(ingress: TreeEntry): ask.RequestCondition {
  const asked = [...(at(ingress, 'metadata', 'annotations')?.fields ?? [])].flatMap(([name, { value }]) => {
    const [, kind, header = ''] = /^konghq\.com\/(methods$|headers\.(.+))/.exec(name) ?? [];
    const values = String(value).split(/\s*,\s*/);
    if (kind === undefined) return [];
    return kind === 'methods' ? isOneOf(values) : conditionOfValues(headerText(header), values);
  });
  return ask.allHold(...asked);
}

const FIELDS: Readonly<Record<string, ask.RequestText>> = {
  'http.method': ask.fieldText('method'),
  'http.host': ask.fieldText('host'),
  'http.path': ask.fieldText('path'),
  'net.src.ip': ask.fieldText('client'),
};

const COMPARISON =
  /^((?:lower\()?)([\w.]+)\)?\s*(==|!=|\^=|=\^|~|not\s+in|in|contains)\s*(?:"((?:\\.|[^"\\])*)"|r#"(.*?)"#|([\w.:/]+))/;

function comparisonAt(text: string) {
  const [whole, lower = '', name = '', sign = '', quoted, raw, bare] = COMPARISON.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const value = quoted?.replace(/\\(.)/g, '$1') ?? raw ?? bare ?? '';
  const field = textOf(name);
  const own: ask.RequestText = lower === '' ? field : { kind: 'lower', of: field };
  const test: ask.TextTest = sign.endsWith('in')
    ? { is: 'within', ranges: [value] }
    : (ask.testNamed(sign, value) ?? ask.equalTo(value));
  const held = ask.tested(own, test);
  return { condition: sign === '!=' || sign.startsWith('not') ? ask.not(held) : held, length: whole.length };
}

function textOf(name: string): ask.RequestText {
  const [, kind, own = ''] = /^http\.(headers|queries)\.(\w+)$/.exec(name) ?? [];
  if (kind === 'headers') return headerText(own.replaceAll('_', '-'));
  return kind === 'queries' ? ask.argumentText(own) : (FIELDS[name] ?? ask.missing(name));
}
