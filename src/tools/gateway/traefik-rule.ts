// The rule of a router of Traefik: Host(`a`) && (PathPrefix(`/x`) || Path(`/y`)) && !Method(`GET`).
//
// Sources: doc.traefik.io, routers of Traefik 3, and of 2: several values of a matcher, Headers(`k`, `v`), Query(`k=v`), {name:expression}.
import { reachFrom, readBoolean } from './boolean-text.js';
import { literal } from './expression.js';
import type { Reach } from './found.js';
import { headerText } from './limit-key.js';
import {
  allHold,
  anyOf,
  argumentText,
  equalTo,
  fieldText,
  missing,
  not,
  oneHolds,
  type RequestCondition,
  type TextTest,
  tested,
} from './request-condition.js';

/** Without a rule: all. */
export function traefikReach(rule: string | undefined): Reach {
  if (rule === undefined || rule.trim() === '') return { hosts: [], paths: [] };
  return reachFrom(readBoolean(rule, matcherAt));
}

const CALL =
  /^(\w+)\(\s*((?:`[^`]*`|"(?:\\.|[^"\\])*"|'[^']*')(?:\s*,\s*(?:`[^`]*`|"(?:\\.|[^"\\])*"|'[^']*'))*|[^()`"']*)\s*\)/;

function matcherAt(text: string) {
  const [whole, name = '', list = ''] = CALL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const quoted = [...list.matchAll(/`([^`]*)`|"((?:\\.|[^"\\])*)"|'([^']*)'/g)].map(
    ([, plain, double, single]) => plain ?? double?.replace(/\\(.)/g, '$1') ?? single!,
  );
  const values = quoted.length > 0 ? quoted : list.split(',').map((one) => one.trim());
  return { condition: conditionOf(name, values), length: whole.length };
}

const matching = (value: string): TextTest => ({ is: 'matching', value });

function conditionOf(name: string, values: readonly string[]): RequestCondition {
  const [first = '', second] = values;
  switch (name) {
    case 'Host':
    case 'HostHeader':
      return anyOf(fieldText('host'), values, (one) => equalTo(one, true));
    case 'HostRegexp':
      return anyOf(fieldText('host'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^.]+')}$`) : matching(one),
      );
    case 'Path':
      return anyOf(fieldText('path'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}$`) : equalTo(one),
      );
    case 'PathPrefix':
      return anyOf(fieldText('path'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}`) : { is: 'prefix', value: one },
      );
    case 'PathRegexp':
      return anyOf(fieldText('path'), values, matching);
    case 'Method':
      return anyOf(fieldText('method'), values, (one) => equalTo(one.toUpperCase()));
    case 'ClientIP':
      return tested(fieldText('client'), { is: 'within', ranges: values });
    case 'Header':
    case 'Headers':
      return tested(headerText(first), equalTo(second ?? ''));
    case 'HeaderRegexp':
    case 'HeadersRegexp':
      return tested(headerText(first), matching(second ?? ''));
    case 'Query':
      return second === undefined ? allHold(...values.map(argumentOf)) : tested(argumentText(first), equalTo(second));
    case 'QueryRegexp':
      return tested(argumentText(first), matching(second ?? ''));
    default:
      return missing(`what ${name}(${values.join(', ')}) asks`);
  }
}

/** `name=value`, and `name` alone: any value. */
function argumentOf(text: string): RequestCondition {
  const [name = '', value] = text.split(/=(.*)/s);
  if (value !== undefined) return tested(argumentText(name), equalTo(value));
  const query = fieldText('query');
  const named: TextTest = { is: 'matching', value: `(?:^|&)${literal(name)}(?:=|&|$)` };
  return oneHolds(not(tested(argumentText(name), equalTo(''))), tested(query, named));
}

/** Of Traefik 2: `{sub:[a-z]+}.example`. */
const isTemplate = (text: string) => /\{\w+(?::|\})/.test(text);

function templateOf(text: string, any: string): string {
  const parts = text.split(/(\{\w+(?::(?:[^{}]|\{[^{}]*\})*)?\})/);
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : `(?:${/:(.*)\}$/.exec(part)?.[1] ?? any})`)).join('');
}
