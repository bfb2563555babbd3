// The rule of a router of Traefik: Host(`a`) && (PathPrefix(`/x`) || Path(`/y`)) && !Method(`GET`).
//
// Sources: doc.traefik.io, routers of Traefik 3, and of 2: several values of a matcher, Headers(`k`, `v`), Query(`k=v`), {name:expression}.
import { reachFrom, readBoolean } from './boolean-text.js';
import { literal } from './expression.js';
import type { Reach } from './found.js';
import { headerText } from './limit-key.js';
import * as ask from './request-condition.js';

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

const matching = (value: string): ask.TextTest => ({ is: 'matching', value });

type Matcher = (values: readonly string[]) => ask.RequestCondition;

/** Of any of its values. */
const anyWith =
  (field: ask.RequestField, test: (value: string) => ask.TextTest): Matcher =>
  (values) =>
    ask.anyOf(ask.fieldText(field), values, test);

const MATCHERS: Readonly<Record<string, Matcher>> = {
  Host: anyWith('host', (one) => ask.equalTo(one, true)),
  HostRegexp: anyWith('host', (one) => matching(isTemplate(one) ? `^${templateOf(one, '[^.]+')}$` : one)),
  Path: anyWith('path', (one) => (isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}$`) : ask.equalTo(one))),
  PathPrefix: anyWith('path', (one) =>
    isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}`) : { is: 'prefix', value: one },
  ),
  PathRegexp: anyWith('path', matching),
  Method: anyWith('method', (one) => ask.equalTo(one.toUpperCase())),
  ClientIP: ask.isFrom,
  Header: ([name = '', value = '']) => ask.tested(headerText(name), ask.equalTo(value)),
  HeaderRegexp: ([name = '', value = '']) => ask.tested(headerText(name), matching(value)),
  Query: ([name = '', value]) =>
    value === undefined ? argumentOf(name) : ask.tested(ask.argumentText(name), ask.equalTo(value)),
  QueryRegexp: ([name = '', value]) => {
    if (value === undefined) return argumentOf(name);
    const argument = ask.argumentText(name);
    return ask.allHold(ask.isThere(argument), ask.tested(argument, matching(value)));
  },
};

function conditionOf(name: string, values: readonly string[]): ask.RequestCondition {
  const known = name === 'HostHeader' ? 'Host' : name.replace(/^Headers/, 'Header');
  if (Object.hasOwn(MATCHERS, known)) return MATCHERS[known]!(values);
  return ask.missing(`what ${name}(${values.join(', ')}) asks`);
}

/** `name=value`, and `name` alone: it is there, and empty. */
function argumentOf(text: string): ask.RequestCondition {
  const [name = '', value] = text.split(/=(.*)/s);
  const argument = ask.argumentText(name);
  return value === undefined ? ask.isThere(argument, '=?(?:&|$)') : ask.tested(argument, ask.equalTo(value));
}

/** Of Traefik 2: `{sub:[a-z]+}.example`. */
export const TEMPLATE = /((?<!\$)\{[A-Za-z_]\w*(?::(?:[^{}]|\{[^{}]*\})*)?\})/;
const isTemplate = (text: string) => TEMPLATE.test(text);

function templateOf(text: string, any: string): string {
  const parts = text.split(TEMPLATE);
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : `(?:${/:(.*)\}$/.exec(part)?.[1] ?? any})`)).join('');
}
