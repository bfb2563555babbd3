// Statements of AWS WAF as conditions: which requests a rate-based rule counts, and which ones an earlier rule allows.
//
//   byte_match_statement { search_string = "/login", positional_constraint = "STARTS_WITH", field_to_match { uri_path {} } }     path ^ /login
//
// Source: the reference of aws_wafv2_web_acl at registry.terraform.io, and AWS WAF's developer guide.
import { at, isGiven, isThere, listAt, type TreeEntry, textAt } from './document.js';
import { literal } from './expression.js';
import { headerText, keyOfTexts, type LimitKey } from './limit-key.js';
import * as ask from './request-condition.js';
import { changedBy } from './terraform-expressions.js';

/** Addresses by the resource that lists them: `aws_wafv2_ip_set.office`. */
export type AddressSets = ReadonlyMap<string, readonly string[]>;

/** The names of an object or block, without those that a plan leaves empty. */
function namesIn(entry: TreeEntry | undefined): string[] {
  const block = entry?.items.length === 1 ? entry.items[0] : entry;
  return [...(block?.fields.keys() ?? [])].filter((name) => isThere(at(block, name)));
}

export function conditionOfStatement(statement: TreeEntry | undefined, sets: AddressSets): ask.RequestCondition {
  const inner = (name: string) => listAt(statement, name, 'statement').map((one) => conditionOfStatement(one, sets));
  const named = (name: string) => (isGiven(at(statement, name)) ? at(statement, name) : undefined);
  if (named('and_statement') !== undefined) return ask.allHold(...inner('and_statement'));
  if (named('or_statement') !== undefined) return ask.oneHolds(...inner('or_statement'));
  if (named('not_statement') !== undefined) return ask.not(ask.allHold(...inner('not_statement')));
  const bytes = named('byte_match_statement');
  if (bytes !== undefined) {
    const [position = '', value] = [textAt(bytes, 'positional_constraint'), textAt(bytes, 'search_string')];
    const isWord = position.toUpperCase() === 'CONTAINS_WORD';
    return isWord ? matched(bytes, value && `\\b${literal(value)}\\b`, 'matches') : matched(bytes, value, position);
  }
  const regex = named('regex_match_statement');
  if (regex !== undefined) return matched(regex, textAt(regex, 'regex_string'), 'regex');
  const addresses = named('ip_set_reference_statement');
  if (addresses !== undefined) {
    const arn = at(addresses, 'arn')?.expression ?? textAt(addresses, 'arn') ?? '';
    const ranges = sets.get(arn.replace(/\.arn$/, ''));
    const isForwarded = isGiven(at(addresses, 'ip_set_forwarded_ip_config'));
    if (ranges === undefined || isForwarded) return ask.missing(`the addresses of ${arn}`);
    return ask.isFrom(ranges);
  }
  const [kind = 'a statement'] = namesIn(statement);
  return ask.missing(`what ${kind} asks`);
}

function matched(statement: TreeEntry, value: string | undefined, by: string): ask.RequestCondition {
  const test = ask.testNamed(by, value ?? '');
  if (test === undefined) return ask.missing(`the position ${by}`);
  if (value === undefined) return ask.missing('a text that is known only once Terraform has evaluated it');
  return ask.tested(transformed(textOf(at(statement, 'field_to_match')), statement), test);
}

function transformed(given: ask.RequestText, holder: TreeEntry | undefined): ask.RequestText {
  const names = listAt(holder, 'text_transformation')
    .toSorted((a, b) => Number(textAt(a, 'priority') ?? 0) - Number(textAt(b, 'priority') ?? 0))
    .map((one) => textAt(one, 'type') ?? 'NONE');
  return changedBy(names, given);
}

const FIELDS: Readonly<Record<string, ask.RequestField>> = {
  ip: 'client',
  forwarded_ip: 'client',
  method: 'method',
  http_method: 'method',
  uri_path: 'path',
  query_string: 'query',
};

/** What `field_to_match` or a custom key names. */
function textOf(part: TreeEntry | undefined): ask.RequestText {
  const [kind = 'a part of a request'] = namesIn(part);
  const field = FIELDS[kind];
  if (field !== undefined) return ask.fieldText(field);
  if (/^(?:single_)?query_argument$/.test(kind)) return ask.argumentText(textAt(part, kind, 'name') ?? '', true);
  if (/^(?:single_)?header$/.test(kind)) return headerText(textAt(part, kind, 'name') ?? '');
  return ask.missing(/^cookies?$/.test(kind) ? 'a cookie' : kind.replaceAll('_', ' '));
}

/** Several values together. */
export const keyOfCustom = (keys: readonly TreeEntry[]): LimitKey =>
  keyOfTexts(
    keys.map((key) => [...key.fields.keys()].join()).join(', '),
    keys.map((key) => transformed(textOf(key), at(key, namesIn(key)[0] ?? ''))),
  );
