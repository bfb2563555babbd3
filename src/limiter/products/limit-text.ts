// A limiter as a text: the one language of --limit, of `limiter: '…'` in a scenario, and of `limit` in the API.
//
//   100 in 60s                              requests in a rolling window; 100/min, 100 per 5m, 100 in 60 cycles
//   10 in 1s and 100 in 60s                 several windows: a request must fit into each
//   60 requests in 60s and 9000 tokens in 60s   `requests` counts each as 1; tokens, bytes or units count the cost
//   nginx 10r/s burst=5 nodelay             a product; values without a name are its parameters in their order
//   gcra 10/s burst=20                      a rule; `_ms` may be omitted if a unit is written: window=1m
//   limit_req_zone … ; limit_req … ;        a piece of configuration, with ` at location /api` to choose one of several limiters
//   none                                    admits everything
import { meantOr, nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { parseTime, parseTimeMs } from '../../schema/quantity.js';
import { type Primitive, primitiveRow, primitives, RuleDefinition } from '../rule/rule-definition.js';
import { namedText, unreadable, valueIn, type Word, wordsIn } from './limit-words.js';
import { looksLikeStanza } from './pasted.js';
import { productNames, productOf } from './products.js';

type Fields = Record<string, unknown>;
type Limiter = Readonly<Fields>;

const MOST_CHARACTERS = 20_000;

/** `checkLimiter` checks the bounds. @throws Failure `invalid_definition`, with the place of the error */
export function readLimit(given: string): Limiter {
  const text = given.trim();
  if (text === '') throw unreadable(text, undefined, 'it is empty');
  if (text.length > MOST_CHARACTERS)
    throw unreadable(text, undefined, `it has more than ${MOST_CHARACTERS} characters`);
  if (looksLikeStanza(text)) return pasteIn(text);
  const limits: Word[][] = [[]];
  for (const word of wordsIn(text)) {
    const isBetween = word.name === undefined && word.text === 'and' && limits.at(-1)!.length > 0;
    if (isBetween) limits.push([]);
    else limits.at(-1)!.push(word);
  }
  if (limits.at(-1)!.length === 0) throw unreadable(text, undefined, 'nothing follows the last "and"');
  const read = limits.map((words) => readOne(text, words, limits.length > 1));
  return read.length === 1 ? read[0]! : { and: read };
}

export function isLimiterName(word: string): boolean {
  return productNames.includes(word) || Object.hasOwn(primitives, word.replaceAll('-', '_'));
}

export function limitText(limiter: Limiter): string {
  const { and, paste, location, like, primitive, params, threshold = 100, within = 60, ...others } = limiter;
  if (and !== undefined) return (and as Limiter[]).map(limitText).join(' and ');
  if (paste !== undefined) return location === undefined ? String(paste) : `${String(paste)} at ${String(location)}`;
  const { template: _, ...fields } = others;
  if (like !== undefined) {
    const { like: __, ...parameters } = limiter;
    return namedText(String(like), parameters);
  }
  if (primitive !== undefined) return namedText(String(primitive), { ...(params as Fields), ...others });
  return namedText(`${String(threshold)} in ${typeof within === 'number' ? `${within} cycles` : within}`, fields);
}

function pasteIn(text: string): Limiter {
  const [, paste = text, location] = /^(.*[;}])\s*\bat\s+(\S[^;{}]*)$/s.exec(text) ?? [];
  return location === undefined ? { paste } : { paste, location };
}

function readOne(text: string, words: readonly Word[], isOfSeveral: boolean): Limiter {
  const [first] = words;
  if (first!.name !== undefined)
    throw unreadable(text, first, 'a limiter begins with its name or its number of requests');
  if (/^[\d.+-]/.test(first!.text)) return windowIn(text, words, isOfSeveral);
  const name = first!.text;
  const primitive = name.replaceAll('-', '_');
  if (productNames.includes(name)) return likeIn(text, words);
  if (isLimiterName(name)) return ruleIn(text, primitive as Primitive, words.slice(1));
  const guess = nearest(name, [...productNames, ...Object.keys(primitives)]);
  const fix = guess === undefined ? '`weir limiter` lists those that there are.' : `Did you mean ${guess}?`;
  const file = /[./\\]/.test(name) ? '; a file ends in .conf, .cfg, .yaml, .yml or .json, or begins with ./' : '';
  throw unreadable(text, first, `no limiter is called so${file}`, fix);
}

const WINDOW_FIELDS = { near_limit: { type: 'number' }, shadow: { type: 'boolean' } };

function windowIn(text: string, words: readonly Word[], isOfSeveral: boolean): Limiter {
  const fields: Readonly<Record<string, Kind>> = isOfSeveral ? { counts: { type: 'string' } } : WINDOW_FIELDS;
  const pace = paceAt(text, words, 0);
  const { given, rest } = fieldsIn(text, 'A window', fields, words.slice(pace.words));
  if (rest.length > 0) throw unknown(text, 'A window', rest[0]!, rest[0]!.text, Object.keys(fields));
  if (!Number.isSafeInteger(pace.n)) throw unreadable(text, words[0], 'it is no whole number of requests');
  const [, cycles] = /^(\d+)(?:\s*cycles?)?$/i.exec(pace.time) ?? [];
  const counts = isOfSeveral && /^requests?$/i.test(pace.unit ?? '') ? { counts: 'requests' } : {};
  return { threshold: pace.n, within: cycles === undefined ? pace.time : Number(cycles), ...counts, ...given };
}

interface Pace {
  readonly n: number;
  readonly time: string;
  readonly unit: string | undefined;
  readonly words: number;
}

const MOST_PACE_WORDS = 8;
const PACE = /^\+?(\d+(?:\.\d+)?)\s*(?:(requests?|tokens?|bytes?|units?)\s*)?(?:\/|\b(?:in|per)\b)\s*(\S.*)$/i;

function paceAt(text: string, words: readonly Word[], from: number): Pace {
  let why = 'it does not say in what time, as 100 in 60s does';
  const end = words.findIndex((one, at) => at >= from && one.name !== undefined);
  const bare = words.slice(from, end < 0 ? undefined : end).slice(0, MOST_PACE_WORDS);
  for (let count = bare.length; count >= 1; count -= 1) {
    const written = bare.slice(0, count).map((one) => one.text);
    const [, n, unit, rest = ''] = PACE.exec(written.join(' ')) ?? [];
    const time = /^\d/.test(rest) ? rest : `1 ${rest}`;
    if (n === undefined || !/^(\d|\p{L}+$)/u.test(rest)) continue;
    try {
      parseTime(time, 777, '', 0);
      return { n: Number(n), unit, time: time.replace(/\s+/g, ' '), words: count };
    } catch (error) {
      why = error instanceof Failure ? (error.faults[0]?.message ?? why) : why;
    }
  }
  throw unreadable(text, words[from], why);
}

const { primitive: _, params: __, ...outer } = propertiesOf(RuleDefinition);

function likeIn(text: string, [first, ...words]: readonly Word[]): Limiter {
  const { product } = productOf(first!.text);
  const known = propertiesOf(product.params);
  const { given, rest } = fieldsIn(text, first!.text, { ...known, hold_ms: outer['hold_ms']!, counts: {} }, words);
  const places = Object.keys(known).filter((name) => !(name in given));
  for (const word of rest) {
    const place = places.shift();
    if (place === undefined) throw unknown(text, first!.text, word, word.text, Object.keys(known));
    given[place] = readValue(text, word, place, known[place]!);
  }
  const inOrder = [...Object.keys(known), 'hold_ms', 'counts'].flatMap((name) =>
    name in given ? [[name, given[name]]] : [],
  );
  return { like: first!.text, ...Object.fromEntries(inOrder) };
}

function ruleIn(text: string, primitive: Primitive, words: readonly Word[]): Limiter {
  const { params: schema, paced } = primitiveRow(primitive);
  const known = propertiesOf(schema);
  const burst = paced?.burst === undefined || 'burst' in known ? {} : { burst: { type: 'number' } };
  const { given, rest } = fieldsIn(text, primitive, { ...known, ...burst, ...outer }, words);
  const [first] = rest;
  if (first !== undefined && (paced === undefined || !/^[\d.]/.test(first.text)))
    throw unknown(text, primitive, first, first.text, Object.keys({ ...known, ...burst }));
  const params: Fields = Object.create(null);
  if (first !== undefined) {
    const pace = paceAt(text, rest, 0);
    if (pace.words < rest.length)
      throw unknown(text, primitive, rest[pace.words]!, rest[pace.words]!.text, Object.keys(known));
    Object.assign(params, paced!.at(pace.n, msOf(text, first, pace.time)));
  }
  const rule: Fields = { primitive };
  for (const [name, value] of Object.entries(given)) {
    if (name in burst) continue;
    if (name in params) throw unreadable(text, first, `${name} is given twice`);
    if (Object.hasOwn(known, name)) params[name] = value;
    else rule[name] = value;
  }
  if (given['burst'] !== undefined && 'burst' in burst)
    Object.assign(params, paced!.burst!(Number(given['burst']), params));
  return { ...rule, params: { ...params } };
}

interface Kind {
  readonly type?: string;
}

function propertiesOf(schema: unknown): Readonly<Record<string, Kind>> {
  return (schema as { readonly properties: Readonly<Record<string, Kind>> }).properties;
}

function fieldsIn(text: string, title: string, known: Readonly<Record<string, Kind>>, words: readonly Word[]) {
  // Without a prototype, because names are arbitrary, even __proto__.
  const given: Fields = Object.create(null);
  const rest: Word[] = [];
  const nameOf = ({ name, text: bare }: Word) => {
    if (Object.hasOwn(known, name ?? bare)) return name ?? bare;
    return name !== undefined && Object.hasOwn(known, `${name}_ms`) ? `${name}_ms` : undefined;
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const name = nameOf(word);
    if (name === undefined) {
      if (word.name !== undefined) throw unknown(text, title, word, word.name, Object.keys(known));
      rest.push(word);
      continue;
    }
    if (name in given) throw unreadable(text, word, `${name} is given twice`);
    const isFlag = word.name === undefined && known[name]!.type === 'boolean';
    const value = word.name !== undefined ? word : words[at + 1];
    if (isFlag) given[name] = true;
    else if (value === undefined || (value !== word && value.name !== undefined) || value.text === '')
      throw unreadable(text, word, 'its value is missing');
    else given[name] = readValue(text, value, name, known[name]!);
    if (value !== word && !isFlag) at += 1;
  }
  return { given, rest };
}

function unknown(text: string, title: string, word: Word, name: string, known: readonly string[]): Failure {
  const advice = meantOr(name, known, known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`);
  return unreadable(text, word, `${title} has no such parameter`, advice.replace(/^d/, 'D'));
}

function readValue(text: string, word: Word, name: string, { type }: Kind): unknown {
  const value = valueIn(text, word);
  if (type === 'string' && typeof value !== 'object') return typeof value === 'string' ? value : word.text;
  const isTime = type === 'number' && name.endsWith('_ms') && typeof value === 'string';
  return isTime ? msOf(text, word, value) : value;
}

function msOf(text: string, word: Word, time: string): number {
  if (/^[\d.\s]*(cycles?)?$/i.test(time))
    throw unreadable(text, word, 'a rule takes a time with a unit, as 60s or 500ms');
  try {
    return parseTimeMs(time, 1);
  } catch (error) {
    throw unreadable(
      text,
      word,
      error instanceof Failure ? (error.faults[0]?.message ?? error.message) : String(error),
    );
  }
}
