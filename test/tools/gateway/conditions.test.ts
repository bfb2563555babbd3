// Conditions of every format on what an access log shows: which requests meet the limit, and what is not judged.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { isInRange } from '../../../src/tools/gateway/address-range.js';
import { LimitSide } from '../../../src/tools/gateway/limit-sides.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import {
  ALWAYS,
  allHold,
  argumentText,
  equalTo,
  fieldText,
  inWords,
  type LoggedRequest,
  missing,
  not,
  oneHolds,
  tested,
} from '../../../src/tools/gateway/request-condition.js';

/** `POST /a?x=1 192.0.2.7 curl`: method, path with query, client, agent. A dot: the log lacks it. */
function requestOf(text: string): LoggedRequest {
  const [method, url = '', client, agent] = text.split(' ').map((one) => (one === '.' ? undefined : one));
  const [path, query = ''] = url.split('?');
  return { method, path, query, url, client: client ?? '192.0.2.7', agent: agent ?? 'curl', host: 'a.example' };
}

/** Whether each request meets a limit: yes, no, or what the log lacks. */
function expectMet(name: string, text: string, expected: object): void {
  const found = Object.keys(expected).map((request) => {
    const side = new LimitSide(limitersInFiles([{ name, text }]), false);
    const { limits } = side.placeOf(requestOf(request));
    const [left] = side.leftOut;
    return [request, left?.why.replace(/^.*?(?:is|on) /, '') ?? (limits.length > 0 ? 'yes' : 'no')];
  });
  expect(Object.fromEntries(found)).toEqual(expected);
}

const nginx = (key: string, extra = '', location = '') =>
  `${extra}\nlimit_req_zone ${key} zone=z:1m rate=1r/s;\nserver { ${location.startsWith('if') || location.startsWith('set') ? `${location} ` : ''}location / { limit_req zone=z; ${/^(?:in |@)/.test(location) ? location.replace('in ', '') : ''} } }`;

const key = (map: string) => nginx('$key', map);
const client = '$binary_remote_addr';
// biome-ignore format: one case a line
it.each([
    ['a method', key(`map $request_method $key { default ""; POST ${client}; }`), { 'POST /': 'yes', 'GET /': 'no', '. /': 'the method of a request, which this log has not' }],
    ['the case of a text is no matter', key(`map $request_uri $key { /A ${client}; }`), { 'GET /a': 'yes', 'GET /a?b': 'no' }],
    ['an expression, in its case and not', key(`map $uri $key { ~^/a ${client}; ~*B$ ${client}; }`), { 'GET /a': 'yes', 'GET /A': 'no', 'GET /x/b': 'yes' }],
    ['a text before an expression', key(`map $uri $key { ~^/a ""; /ab ${client}; }`), { 'GET /ab': 'yes', 'GET /abc': 'no' }],
    ['no default is empty', key(`map $arg_key $key { "" ${client}; }`), { 'GET /': 'yes', 'GET /?key=1': 'no' }],
    ['a map of a map', key(`map $uri $kind { default small; ~big large; }\nmap $kind $key { default ""; large ${client}; }`), { 'GET /big': 'yes', 'GET /a': 'no' }],
    ['a map of two variables', key(`map "$request_method:$uri" $key { ~^POST:/a ${client}; }`), { 'POST /a': 'yes', 'GET /a': 'no' }],
    ['of names of hosts the longest', key(`map $host $key { hostnames; a.* ""; *.example ""; .a.example ${client}; b.test ""; }`), { 'GET /': 'yes' }],
    ['a network, the narrowest first', key(`geo $near { default 1; 192.0.2.0/24 0; 192.0.2.9 0; 192.0.2.9 1; 10.0.0.1 0; delete 10.0.0.1; }\nmap $near $key { 1 ${client}; }`), { 'GET /': 'no', 'GET / 192.0.2.9': 'yes', 'GET / 10.0.0.1': 'yes' }],
    ['ranges of a geo, the last first', key(`geo $near { ranges; default 0; 192.0.2.1-192.0.2.8 1; 192.0.2.5-192.0.2.6 0; }\nmap $near $key { 1 ${client}; }`), { 'GET /': 'yes', 'GET / 192.0.2.9': 'no', 'GET / 192.0.2.6': 'no' }],
    ['a user agent', key(`map $http_user_agent $key { ~*bot ${client}; }`), { 'GET / . Robot': 'yes', 'GET /': 'no' }],
    ['a cookie', key(`map $cookie_a $key { 1 ${client}; }`), { 'GET /': 'a cookie, which this log has not' }],
    ['a header', key(`map $http_x_key $key { "" ${client}; }`), { 'GET /': 'the header x-key, which this log has not' }],
    ['return in an if of the server', nginx(client, '', 'if ($request_method = OPTIONS) { return 204; }'), { 'GET /': 'yes', 'OPTIONS /': 'no' }],
    ['return in an if of the location', nginx(client, '', 'in if ($uri !~* "^/(a|b)") { return 403; }'), { 'GET /a': 'yes', 'GET /c': 'no' }],
    ['a variable alone', nginx(client, '', 'if ($arg_free) { return 200; }'), { 'GET /?free=1': 'no', 'GET /?free=0': 'yes', 'GET /': 'yes' }],
    ['set before a map, and set in an if', nginx('$key', 'map $uri $key { default 1; }', `set $key ""; if ($request_method = POST) { set $key ${client}; }`), { 'POST /': 'yes', 'GET /': 'no' }],
    ['limit_except comes after the limit', nginx(client, '', 'in limit_except GET { deny all; }'), { 'POST /': 'yes', 'GET /': 'yes' }],
    ['a status is none before the answer', key(`map $status $key { 429 ${client}; }`), { 'GET /': 'no' }],
  ])('requests meet a limit of nginx as its conditions say: %s', (_, text, expected) => {
    expectMet('nginx.conf', text, expected);
  });

/** By format, or by what the file is; `requests` are by the RULE of the file. */
const formats: Record<string, { name?: string; file: string; requests: Record<string, object> }> = parse(
  readFileSync(new URL('conditions.yaml', import.meta.url), 'utf8'),
);
it.each(
  Object.entries(formats).flatMap(([format, { name = format, file, requests }]) =>
    Object.entries(requests).map(([rule, expected]) => [format, rule, name, file, expected] as const),
  ),
)('requests meet a limit of %s as its condition says: %s', (_, rule, name, file, expected) => {
  const quoted = file.replace('"RULE"', () => JSON.stringify(rule));
  expectMet(
    name,
    quoted.replace('RULE', () => rule),
    expected,
  );
});

it.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.0.0.5', '10.0.0.1-10.0.0.9', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ['2001:db8::1', '0.0.0.0/0', false],
  ['a.example', '0.0.0.0/0', false],
])('the address %s lies in %s: %s', (address, range, expected) => {
  expect(isInRange(address, range)).toBe(expected);
});

const path = fieldText('path');
const post = tested(fieldText('method'), equalTo('POST', true));
it.each([
  [ALWAYS, 'always'],
  [post, 'method is POST (case ignored)'],
  [tested(argumentText('id'), equalTo('7', true)), 'argument id is 7'],
  [not(tested(fieldText('user'), equalTo(''))), 'user is not empty'],
  [tested(path, { is: 'prefix', value: '/api' }), 'path begins with /api'],
  [not(tested(path, { is: 'suffix', value: '.png' })), 'path does not end with .png'],
  [tested(fieldText('agent'), { is: 'containing', value: 'bot' }), 'user agent contains bot'],
  [not(tested(path, { is: 'matching', value: '^/a' })), 'path does not match ^/a'],
  [tested(fieldText('client'), { is: 'within', ranges: ['10.0.0.0/8', '::1'] }), 'client is in 10.0.0.0/8 or ::1'],
  [tested(fieldText('status'), { is: 'above', number: 499 }), 'status is above 499'],
  [not(allHold(post, missing('a cookie'))), 'not (method is POST (case ignored) and a cookie)'],
  [allHold(post, oneHolds(missing('a'), missing('b'))), 'method is POST (case ignored) and (a or b)'],
])('%# in words: %s', (condition, words) => {
  expect(inWords(condition)).toBe(words);
});
