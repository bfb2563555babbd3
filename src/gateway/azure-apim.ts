// Limits of Azure API Management: the policies rate-limit and quota, and those by key, in XML.
//
//   <rate-limit-by-key calls="10" renewal-period="60" counter-key="@(context.Request.IpAddress)" />
//   { like: azure-apim, calls: 10, renewal_period: 60 }                       key: client
//
// A policy limits each subscription; an api or operation in it has a count of its own.
// Source: the policy reference of learn.microsoft.com/azure/api-management.
import {
  everyone,
  type FoundLimiter,
  type FoundLimits,
  type LimitKey,
  perClient,
  type Source,
  unknownKey,
  type Written,
} from './found.js';

const LIMIT =
  /^(?:rate-limit|rate-limit-by-key|quota|quota-by-key|limit-concurrency|llm-token-limit|azure-openai-token-limit)$/;

const POLICY =
  /<(?:(?:rate-limit|quota)(?:-by-key)?|limit-concurrency|(?:llm|azure-openai)-token-limit|include-fragment)\s/;

export const looksLikeApim = (text: string) => POLICY.test(text) && !/^\s*(?:resource|module|data)\s+"/m.test(text);

interface Element extends Written {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly above: readonly Element[];
}

/** A policy does not say to which API it belongs: of several files, a request meets unknown ones. */
export function readApim(sources: readonly Source[], found: FoundLimits): void {
  const files = new Set(sources.map(({ name }) => name));
  for (const source of sources) readPolicies(elementsOf(source), files.size === 1 ? 'known' : 'unknown', found);
}

function readPolicies(elements: readonly Element[], reach: FoundLimiter['reach'], found: FoundLimits): void {
  for (const element of elements) {
    const { name, above, attributes } = element;
    if (name === 'include-fragment')
      found.refuse(element, `the fragment ${attributes.get('fragment-id') ?? ''} is elsewhere, and may have limits`);
    if (!LIMIT.test(name)) continue;
    const section = above.find((one) => /^(?:inbound|backend|outbound|on-error)$/.test(one.name))?.name;
    const conditions = above.filter((one) => /^(?:when|otherwise)$/.test(one.name));
    for (const one of conditions)
      found.refuse(
        one,
        `only requests of ${one.attributes.get('condition') ?? 'no other condition'} meet the limit; here all do`,
      );
    if (name === 'limit-concurrency') readConcurrency(element, reach, found);
    else if (section !== undefined && section !== 'inbound')
      found.unused(element, { name, what: `${name} belongs into inbound: in ${section} it limits nothing` });
    else if (name.endsWith('token-limit')) found.refuse(element, 'limits of tokens of a model are not read');
    else {
      readCalls(element, element, reach, found);
      for (const inner of elements) if (inner.above.includes(element)) readCalls(inner, element, 'unknown', found);
    }
  }
}

function readCalls(element: Element, policy: Element, reach: FoundLimiter['reach'], found: FoundLimits): void {
  const { attributes, name } = element;
  const number = (attribute: string): number | undefined => {
    const given = attributes.get(attribute);
    if (given === undefined) return undefined;
    const value = /^\d+$/.test(given) ? Number(given) : undefined;
    if (value === undefined) found.refuse(element, `${attribute} is ${given}, and no number that is written out`);
    return value;
  };
  const inherits = element === policy || attributes.has('renewal-period');
  const [calls, period] = [
    number('calls'),
    inherits ? number('renewal-period') : Number(policy.attributes.get('renewal-period')),
  ];
  for (const one of ['bandwidth', 'increment-condition', 'increment-count', 'first-period-start'])
    if (attributes.has(one)) found.refuse(element, `${one} of ${name} is not read`);
  if (!attributes.has('calls') && attributes.has('bandwidth')) return;
  if (calls === undefined || !Number.isInteger(period) || (period === 0 && calls > 0)) {
    const isSaid = ['calls', 'renewal-period'].some((one) => !/^\d+$/.test(attributes.get(one) ?? '0'));
    if (!isSaid) found.refuse(element, `${name} has no number of calls or no renewal-period above 0`);
    return;
  }
  const isQuota = policy.name.startsWith('quota');
  const title = `${name} ${attributes.get('name') ?? attributes.get('id') ?? ''}`;
  const by = policy.attributes.get('counter-key');
  found.limiter(element, {
    name: element === policy ? name : `${policy.name}, ${title}`,
    where: element === policy ? '' : title,
    reach,
    key: by === undefined ? unknownKey('subscription') : keyOf(by),
    limit: { like: isQuota ? 'azure-apim-quota' : 'azure-apim', calls, renewal_period: period },
    status: isQuota ? 403 : 429,
  });
}

function readConcurrency(element: Element, reach: FoundLimiter['reach'], found: FoundLimits) {
  const most = element.attributes.get('max-count') ?? '';
  if (!/^[1-9]\d*$/.test(most)) return found.refuse(element, `max-count is ${most || 'not there'}, and no number`);
  found.limiter(element, {
    name: 'limit-concurrency',
    reach,
    key: keyOf(element.attributes.get('key') ?? ''),
    counts: 'concurrency',
    limit: { like: 'in-flight', limit: Number(most) },
  });
}

function keyOf(text: string): LimitKey {
  const [, expression] = /^@\(\s*([\s\S]*?)\s*\)$/.exec(text) ?? [];
  if (expression === undefined)
    return text.startsWith('@') || text.includes('{{') ? unknownKey(text) : { ...everyone, text: `constant ${text}` };
  if (/^"[^"]*"$/.test(expression)) return { ...everyone, text: `constant ${expression}` };
  if (/^context\.Request\.Headers\.GetValueOrDefault\("X-Forwarded-For"(?:,\s*"[^"]*")?\)$/i.test(expression))
    return { text: 'forwarded address', parts: ['client'] };
  return expression === 'context.Request.IpAddress' ? perClient : unknownKey(expression);
}

/** Expressions in attributes, `"@(… "a" …)"`, have quotes and angles that XML would refuse; their brackets match. */
const TAG =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<(\/?)([A-Za-z][\w.:-]*)|(\/?)>|([\w.:-]+)\s*=\s*(["'])|@[({]|\n/g;

function elementsOf({ name: file, text }: Source): Element[] {
  const elements: Element[] = [];
  let [above, open]: [readonly Element[], { element: Element; attributes: Map<string, string> } | undefined] = [
    [],
    undefined,
  ];
  let [line, counted] = [1, 0];
  for (let match = next(0); match !== null; match = next(TAG.lastIndex)) {
    const [whole, closes, name, ends, attribute, quote] = match;
    line += text.slice(counted, match.index).split('\n').length - 1;
    counted = match.index;
    if (name !== undefined && closes === '/')
      above = above.slice(
        0,
        above.findLastIndex((one) => one.name === name),
      );
    else if (name !== undefined) {
      const attributes = new Map<string, string>();
      open = { attributes, element: { file, line, name, attributes, above } };
      elements.push(open.element);
    } else if (open !== undefined && attribute !== undefined) {
      const from = match.index + whole.length;
      const to = endOf(text, from, quote!);
      open.attributes.set(attribute, unescaped(text.slice(from, to)));
      TAG.lastIndex = to + 1;
    } else if (open !== undefined && ends !== undefined) {
      if (ends !== '/') above = [...above, open.element];
      open = undefined;
    } else if (open === undefined && /^@[({]/.test(whole)) TAG.lastIndex = bracketsEnd(text, match.index + 1);
  }
  return elements;

  function next(from: number): RegExpExecArray | null {
    TAG.lastIndex = from;
    return TAG.exec(text);
  }
}

const endOf = (text: string, from: number, quote: string): number => {
  const start = /^@[({]/.test(text.slice(from, from + 2)) ? bracketsEnd(text, from + 1) : from;
  const end = text.indexOf(quote, start);
  return end < 0 ? text.length : end;
};

/** The end of the brackets that open here, past strings and characters of C#. */
function bracketsEnd(text: string, from: number): number {
  const [opening, closing] = text[from] === '(' ? ['(', ')'] : ['{', '}'];
  let depth = 0;
  for (const match of text.slice(from).matchAll(/"(?:\\.|[^"\\\n])*"|&quot;.*?&quot;|'(?:\\.|[^'\\])'|[(){}]/g)) {
    if (match[0] === opening) depth += 1;
    else if (match[0] === closing) depth -= 1;
    if (depth === 0) return from + match.index + 1;
  }
  return from + 1;
}

const entities: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };
const unescaped = (text: string) => text.replace(/&(quot|apos|lt|gt|amp);/g, (_, name: string) => entities[name]!);
