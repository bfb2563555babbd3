// An acl of HAProxy as a condition on a request: a sample, converters, flags and patterns.
//
//   path_beg -i /api /v2        METH_POST        src 10.0.0.0/8        req.hdr(user-agent),lower -m sub bot
//
// Source: HAProxy's configuration manual 2.6, 7.1 to 7.4.
import { isRange } from './address-range.js';
import { literal } from './expression.js';
import { headerText } from './limit-key.js';
import * as ask from './request-condition.js';

const METHOD = /^METH_(CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;
const PREDEFINED: Readonly<Record<string, ask.RequestCondition>> = {
  TRUE: ask.ALWAYS,
  always_true: ask.ALWAYS,
  always_false: ask.NEVER,
  WAIT_END: ask.ALWAYS,
  HTTP: ask.ALWAYS,
  FALSE: ask.NEVER,
  LOCALHOST: ask.tested(ask.fieldText('client'), { is: 'within', ranges: ['127.0.0.1/8', '::1'] }),
  HTTP_URL_SLASH: ask.tested(ask.fieldText('url'), { is: 'prefix', value: '/' }),
};

/** An acl that HAProxy knows without a definition. */
export function predefined(name: string): ask.RequestCondition | undefined {
  const [, method] = METHOD.exec(name) ?? [];
  if (method !== undefined) return ask.anyOf(ask.fieldText('method'), method === 'GET' ? ['GET', 'HEAD'] : [method]);
  return Object.hasOwn(PREDEFINED, name) ? PREDEFINED[name] : undefined;
}

/** The match of a suffix of a fetch: `path_beg` is `path -m beg`. */
const MATCHES = ['str', 'beg', 'end', 'sub', 'reg', 'dir', 'dom', 'found', 'len', 'ip', 'int', 'bool'] as const;
type Match = (typeof MATCHES)[number];

export function conditionOfAcl(text: string): ask.RequestCondition {
  const [, sample = '', rest = ''] = /^((?:[^\s(]|\([^)]*\))+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const [fetch = '', ...converters] = sample.split(/,(?![^(]*\))/);
  const [, name = '', suffix, given = ''] =
    /^([a-z.\d]+?(?:_(?:param|ip))?)(?:_(str|beg|end|sub|reg|dir|dom))?(?:\(([^)]*)\))?$/.exec(fetch) ?? [];
  let own = sampleText(name === '' ? fetch : name, given);
  for (const converter of converters) {
    const [, kind = ''] = /^(\w+)/.exec(converter) ?? [];
    if (kind === 'lower' || kind === 'url_dec') own = { kind: kind === 'lower' ? 'lower' : 'decoded', of: own };
    else own = ask.missing(`what ${sample} is`);
  }
  const { match, ignoresCase, values, isListed } = flagsOf(rest, name);
  if (own.kind === 'missing') return own;
  if (isListed) return ask.missing('a list in another file');
  const by: Match = match ?? (suffix as Match | undefined) ?? (name === 'src' || name.endsWith('_ip') ? 'ip' : 'str');
  if (by === 'found') return ask.isThere(own, '=');
  if (by === 'ip') {
    const ranges = values.filter(isRange);
    return ranges.length < values.length
      ? ask.missing('a name of an address')
      : ask.tested(own, { is: 'within', ranges });
  }
  if (by === 'len' || by === 'int' || by === 'bool') return ask.missing(`what ${text} asks`);
  return ask.anyOf(own, values, (value) => ask.testNamed(by, value, ignoresCase) ?? partTest(by, value, ignoresCase));
}

/** Of whole parts: of a path between slashes, of a host between dots, too. */
function partTest(by: Match, value: string, ignoresCase: boolean): ask.TextTest {
  const ends = by === 'dir' ? '/' : '/.:';
  const inner = literal(value.replace(new RegExp(`^[${ends}?]+|[${ends}?]+$`, 'g'), ''));
  return { is: 'matching', value: `(?:^|[${ends}?])${inner}(?:[${ends}?]|$)`, ignoresCase };
}

export const FETCHES: Readonly<Record<string, ask.RequestText>> = {
  method: ask.fieldText('method'),
  path: ask.fieldText('path'),
  pathq: ask.fieldText('url'),
  url: ask.fieldText('url'),
  query: ask.fieldText('query'),
  src: ask.fieldText('client'),
  base: ask.joinedText([ask.fieldText('host'), ask.fieldText('path')]),
  status: ask.fieldText('status'),
};

export function sampleText(name: string, given: string): ask.RequestText {
  const [argument = ''] = given.split(',');
  if (/^(?:req\.)?f?hdr(?:_ip)?$/.test(name)) return headerText(argument);
  if (name === 'url_param' || name === 'urlp') return ask.argumentText(argument);
  if (/^(?:req\.)?cook$/.test(name)) return ask.missing('a cookie');
  return FETCHES[name] ?? ask.missing(`what ${given === '' ? name : `${name}(${given})`} is`);
}

function flagsOf(rest: string, fetch: string) {
  const words = (rest.match(/(?:\\\s|\S)+/g) ?? []).map((word) => word.replace(/\\(\s)/g, '$1'));
  let match: Match | undefined;
  let [ignoresCase, isListed] = [false, false];
  while (words[0]?.startsWith('-') === true) {
    const flag = words.shift()!;
    if (flag === '--') break;
    if (flag === '-i') ignoresCase = fetch !== 'method';
    else if (flag === '-m') match = MATCHES.find((one) => one === words[0] && words.shift() !== undefined);
    else if (flag === '-f' || flag === '-M') isListed = true;
    if (flag === '-f') words.shift();
  }
  return { match, ignoresCase, isListed, values: words };
}
