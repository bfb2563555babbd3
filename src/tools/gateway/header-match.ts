// Headers, methods and arguments that routes of Envoy, of the Gateway API and of Kong match.
//
//   - name: ":method"                  method = POST         headers: [{ name: User-Agent, type: RegularExpression, value: bot }]
//     string_match: { exact: POST }
import { at, isGiven, listAt, type TreeEntry, textAt } from './document.js';
import { headerText } from './limit-key.js';
import * as ask from './request-condition.js';

/** Whole values: a regular expression matches all of a text. */
const whole = (expression: string): ask.ValueTest => ({ is: 'matching', value: `^(?:${expression})$` });

/** Of a value with its type, by default Exact. */
export function testOf(one: TreeEntry): ask.TextTest {
  const [type, value = ''] = [textAt(one, 'type'), textAt(one, 'value')];
  if (type === 'RegularExpression') return whole(value);
  return type === 'PathPrefix' ? { is: 'prefix', value } : ask.equalTo(value);
}

/** Of the Gateway API: all that a match asks besides its path. */
export function matchCondition(match: TreeEntry): ask.RequestCondition {
  const method = at(match, 'method');
  const asked =
    method === undefined || !isGiven(method)
      ? ask.ALWAYS
      : method.fields.size > 0
        ? ask.missing('the method of gRPC')
        : ask.tested(ask.fieldText('method'), ask.equalTo(String(method.value)));
  return ask.allHold(
    asked,
    ...listAt(match, 'headers').map((one) => ask.tested(headerText(textAt(one, 'name') ?? ''), testOf(one))),
    ...listAt(match, 'queryParams').map((one) => ask.tested(ask.argumentText(textAt(one, 'name') ?? ''), testOf(one))),
  );
}

/** Of Envoy: all that a match asks besides its path. */
export function envoyCondition(match: TreeEntry | undefined): ask.RequestCondition {
  const others = ['runtime_fraction', 'grpc', 'dynamic_metadata', 'path_template'].filter((name) =>
    isGiven(at(match, name)),
  );
  return ask.allHold(
    ...listAt(match, 'headers').map((one) => envoyTest(one, headerText(textAt(one, 'name') ?? ''))),
    ...listAt(match, 'query_parameters').map((one) => envoyTest(one, ask.argumentText(textAt(one, 'name') ?? ''))),
    ...others.map((name) => ask.missing(name)),
  );
}

/** A test of Envoy: of a path, a header or an argument; undefined if it asks for none. */
export function envoyText(matcher: TreeEntry): ask.ValueTest | undefined {
  const ignoresCase = textAt(matcher, 'ignore_case') === 'true' || textAt(matcher, 'case_sensitive') === 'false';
  for (const name of ['exact', 'path', 'prefix', 'suffix', 'contains']) {
    const value = textAt(matcher, name) ?? textAt(matcher, `${name}_match`);
    if (value !== undefined) return ask.testNamed(name === 'path' ? 'exact' : name, value, ignoresCase);
  }
  const regex = textAt(matcher, 'safe_regex', 'regex') ?? textAt(matcher, 'safe_regex_match', 'regex');
  return regex === undefined ? undefined : whole(regex);
}

function envoyTest(matcher: TreeEntry, text: ask.RequestText): ask.RequestCondition {
  const test = envoyText(at(matcher, 'string_match') ?? matcher);
  const isAbsent = textAt(matcher, 'present_match') === 'false';
  const present = isAbsent ? ask.not(ask.isThere(text)) : ask.isThere(text);
  const asked = test === undefined ? present : ask.tested(text, test);
  const held = isGiven(at(matcher, 'range_match')) ? ask.missing('the range of a header') : asked;
  return textAt(matcher, 'invert_match') === 'true' ? ask.not(held) : held;
}

/** Of Kong: a name with the values of a header, an expression after ~*. */
export function conditionOfValues(text: ask.RequestText, values: readonly string[]): ask.RequestCondition {
  return ask.anyOf(text, values, (value) =>
    value.startsWith('~*') ? { is: 'matching', value: value.slice(2), ignoresCase: true } : ask.equalTo(value, true),
  );
}
