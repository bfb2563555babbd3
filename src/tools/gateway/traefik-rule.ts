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

function conditionOf(name: string, values: readonly string[]): ask.RequestCondition {
  const [first = '', second] = values;
  switch (name) {
    case 'Host':
    case 'HostHeader':
      return ask.anyOf(ask.fieldText('host'), values, (one) => ask.equalTo(one, true));
    case 'HostRegexp':
      return ask.anyOf(ask.fieldText('host'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^.]+')}$`) : matching(one),
      );
    case 'Path':
      return ask.anyOf(ask.fieldText('path'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}$`) : ask.equalTo(one),
      );
    case 'PathPrefix':
      return ask.anyOf(ask.fieldText('path'), values, (one) =>
        isTemplate(one) ? matching(`^${templateOf(one, '[^/]+')}`) : { is: 'prefix', value: one },
      );
    case 'PathRegexp':
      return ask.anyOf(ask.fieldText('path'), values, matching);
    case 'Method':
      return ask.anyOf(ask.fieldText('method'), values, (one) => ask.equalTo(one.toUpperCase()));
    case 'ClientIP':
      return ask.tested(ask.fieldText('client'), { is: 'within', ranges: values });
    case 'Header':
    case 'Headers':
      return ask.tested(headerText(first), ask.equalTo(second ?? ''));
    case 'HeaderRegexp':
    case 'HeadersRegexp':
      return ask.tested(headerText(first), matching(second ?? ''));
    case 'Query':
    case 'QueryRegexp': {
      if (second === undefined) return ask.allHold(...values.map(argumentOf));
      const argument = ask.argumentText(first);
      if (name === 'Query') return ask.tested(argument, ask.equalTo(second));
      return ask.allHold(ask.isThere(argument), ask.tested(argument, matching(second)));
    }
    default:
      return ask.missing(`what ${name}(${values.join(', ')}) asks`);
  }
}

/** `name=value`, and `name` alone: it is there, and empty. */
function argumentOf(text: string): ask.RequestCondition {
  const [name = '', value] = text.split(/=(.*)/s);
  const argument = ask.argumentText(name);
  return value === undefined ? ask.isThere(argument, '=?(?:&|$)') : ask.tested(argument, ask.equalTo(value));
}

/** Of Traefik 2: `{sub:[a-z]+}.example`. */
export const TEMPLATE = /(\{[A-Za-z_]\w*(?::(?:[^{}]|\{[^{}]*\})*)?\})/;
const isTemplate = (text: string) => TEMPLATE.test(text);

function templateOf(text: string, any: string): string {
  const parts = text.split(TEMPLATE);
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : `(?:${/:(.*)\}$/.exec(part)?.[1] ?? any})`)).join('');
}
