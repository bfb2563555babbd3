// A limiter as a text: the one language of --limit, of `limiter: '…'` in a scenario, and of `limit` in the API.
//
//   100 in 60s                              requests in a rolling window; 100/min, 5 rps, 100 per 5m, 100 in 60 cycles
//   10 in 1s and 100 in 60s                 several windows: a request must fit into each
//   60 requests in 60s and 9000 tokens in 60s   `requests` counts each as 1; tokens, bytes or units count the cost
//   nginx 10r/s burst=5 nodelay             a product; values without a name are its parameters in their order
//   gcra 10/s burst=20                      a rule; `_ms` may be omitted if a unit is written: window=1m; also `token bucket …`
//   limit_req_zone … ; limit_req … ;        a piece of configuration, with ` at location /api` to choose one of several limiters
//   none                                    admits everything
import { meantOr, nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { parseMs, parseTime, writtenRate } from '../../schema/quantity.js';
import { type Primitive, primitiveRow, primitives, propertiesOf, RuleDefinition } from '../rule/rule-definition.js';
import { limitFiles } from './limit-files.js';
import { namedText, unreadable, valueIn, type Word, wordsIn, writtenWord } from './limit-words.js';
import { refuseIncomplete } from './needed-parameters.js';
import type { Paced } from './product.js';
import { nameAdvice, productNames, productOf } from './products.js';

type Fields = Record<string, unknown>;
type Limiter = Readonly<Fields>;

const MOST_CHARACTERS = 20_000;

/** Parameters may be missing. `checkLimiter` checks the bounds. @throws Failure `invalid_definition`, with the place of the error */
export function readLimit(given: string): Limiter {
  return limitIn(given, () => {});
}

/** @throws Failure `invalid_definition`, with the place of the error, or with the parameters that are missing */
export function completeLimit(given: string): Limiter {
  return limitIn(given, (limiter, words) => refuseIncomplete(limiter, words.map(writtenWord).join(' ')));
}

function limitIn(given: string, check: (limiter: Limiter, words: readonly Word[]) => void): Limiter {
  const text = given.trim();
  if (text === '') throw unreadable(text, undefined, 'it is empty');
  if (text.length > MOST_CHARACTERS)
    throw unreadable(text, undefined, `it has more than ${MOST_CHARACTERS} characters`);
  if (limitFiles().looksLikeStanza(text)) return pasteIn(text);
  const limits: Word[][] = [[]];
  for (const word of wordsIn(text)) {
    if (word.name === undefined && /^(?:[^"[{].*,|&&?|[+,])$/.test(word.text)) {
      const joined = text.replace(/\s*(?:,|\s[&+]+)\s+/g, ' and ');
      throw unreadable(text, word, 'limits are joined by "and"', `Write '${joined}'.`);
    }
    const isBetween = word.name === undefined && word.text === 'and' && limits.at(-1)!.length > 0;
    if (isBetween) limits.push([]);
    else limits.at(-1)!.push(word);
  }
  if (limits.at(-1)!.length === 0) throw unreadable(text, undefined, 'nothing follows the last "and"');
  const read = limits.map((words) => {
    const one = readOne(text, words, limits.length > 1);
    check(one, words);
    return one;
  });
  return read.length === 1 ? read[0]! : { and: read };
}

export function isLimiterName(word: string): boolean {
  return productNamed(word) !== undefined || primitiveNamed(word) !== undefined;
}

export function limitText(limiter: object): string {
  const given = limiter as Limiter;
  const { and, paste, location, like, primitive, params, threshold = 100, within = 60, ...others } = given;
  if (and !== undefined) return (and as Limiter[]).map(limitText).join(' and ');
  if (paste !== undefined) return location === undefined ? String(paste) : `${String(paste)} at ${String(location)}`;
  if (like !== undefined) {
    const { like: _, ...parameters } = given;
    return namedText(String(like), parameters);
  }
  if (primitive !== undefined) return namedText(String(primitive), { ...(params as Fields), ...others });
  return namedText(`${String(threshold)} in ${typeof within === 'number' ? `${within} cycles` : within}`, others);
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
  const product = productNamed(name);
  if (product !== undefined) return likeIn(text, product, words.slice(1));
  const second = words[1]?.name === undefined ? words[1]?.text : undefined;
  const two = primitiveNamed(`${name}_${second}`);
  const primitive = two ?? primitiveNamed(name);
  const rest = words.slice(two === undefined ? 1 : 2);
  if (primitive === 'rolling_count' && rest[0]?.name === undefined && rest.length > 0)
    return windowIn(text, rest, isOfSeveral);
  if (primitive !== undefined) return ruleIn(text, primitive, rest);
  const number = words.findIndex((word) => /^\d/.test(word.text));
  if (number > 0 && /^(?:limit|max|maximum|only|at|up)$/i.test(name)) {
    const written = words.slice(number).map(writtenWord).join(' ');
    throw unreadable(text, first, 'a limit begins with its number', `Write '${written}'.`);
  }
  if (/^(?:unlimited|infinite|infinity|off)$/i.test(name))
    throw unreadable(text, first, 'what admits everything has another name', "Write 'none'.");
  if (/^(?:one|two|three|five|ten|twenty|fifty|hundred|thousand)$/i.test(name))
    throw unreadable(text, first, IN_DIGITS);
  const [part] = name.toLowerCase().split(/[-_]/);
  const rules = Object.keys(primitives).filter((one) => one.split('_').includes(part!));
  const guess = rules.join(' or ') || nearest(name, [...productNames, ...Object.keys(primitives)]);
  const file = /[./\\]/.test(name) ? '; a file ends in .conf, .cfg, .yaml, .yml or .json, or begins with ./' : '';
  throw unreadable(text, first, `no limiter is called so${file}`, nameAdvice(guess));
}

function productNamed(word: string): string | undefined {
  const name = word.toLowerCase();
  return productNames.includes(name) ? name : undefined;
}

function primitiveNamed(word: string): Primitive | undefined {
  const name = word.toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(primitives, name) ? (name as Primitive) : undefined;
}

const WINDOW_FIELDS = { near_limit: { type: 'number' }, shadow: { type: 'boolean' } };

function windowIn(text: string, words: readonly Word[], isOfSeveral: boolean): Limiter {
  const fields: Readonly<Record<string, Kind>> = isOfSeveral ? { counts: { type: 'string' } } : WINDOW_FIELDS;
  const pace = paceAt(text, words, Object.keys(fields));
  const others = words.slice(pace.words);
  const burst = others.findIndex(({ name, text: bare }) => (name ?? bare) === 'burst');
  if (burst >= 0) {
    const { name, text: size } = others[burst]!;
    const written = words.slice(0, pace.words).map((one) => one.text);
    const bucket = `${written.join(' ')} burst=${(name === undefined ? others[burst + 1]?.text : size) || 20}`;
    const why = 'a window has no burst: all that it admits may come at once';
    throw unreadable(text, others[burst], why, `Write 'token_bucket ${bucket}' or 'gcra ${bucket}'.`);
  }
  const { given, rest } = fieldsIn(text, 'A window', fields, others);
  const [first] = rest;
  if (first !== undefined && /^\d/.test(first.text)) {
    const [one, other] = [words.slice(0, pace.words), rest].map((part) => part.map((word) => word.text).join(' '));
    throw unreadable(text, first, 'two limits need a word between them', `Write '${one} and ${other}'.`);
  }
  if (first !== undefined && /^(?:per|by|each)$/i.test(first.text))
    throw unreadable(text, first, 'whom a limit is for is said beside it', 'Give --key, or keyed in a scenario.');
  if (first !== undefined) throw unknown(text, 'A window', first, first.text, Object.keys(fields));
  if (pace.n === 0) throw unreadable(text, words[0], ONE_OR_MORE);
  if (pace.n > 1e9) throw unreadable(text, words[0], 'no window holds as many requests', 'Give at most 1000000000.');
  if (!Number.isSafeInteger(pace.n))
    throw unreadable(text, words[0], 'it is no whole number of requests', wholePace(pace));
  const [, cycles] = /^(\d+)(?:\s*cycles?)?$/i.exec(pace.time) ?? [];
  const counts = isOfSeveral && /^(?:[rqch]|ti)/i.test(pace.noun ?? '') ? { counts: 'requests' } : {};
  return { threshold: pace.n, within: cycles === undefined ? pace.time : Number(cycles), ...counts, ...given };
}

function wholePace({ n, time }: Pace): string {
  const times = Array.from({ length: MOST_TIMES }, (_, i) => i + 1).find((k) => Number.isInteger(n * k));
  if (times === undefined) return 'Give a longer time.';
  return `Write '${n * times} in ${(times * parseMs(time, 1)) / 1000}s'.`;
}

const MOST_TIMES = 1000;

interface Pace {
  readonly n: number;
  readonly time: string;
  readonly noun: string | undefined;
  readonly words: number;
}

const MOST_PACE_WORDS = 8;
const IN_DIGITS = 'the number is to be written in digits';
const ONE_OR_MORE = 'a limit admits one request or more';

/** @param fields what may follow a pace */
function paceAt(text: string, words: readonly Word[], fields: readonly string[]): Pace {
  let why = 'it does not say in what time, as 100 in 60s does';
  const [first] = words;
  if (/^-\d/.test(first!.text)) throw unreadable(text, first, ONE_OR_MORE);
  if (/^[\d.]+(?:e[+-]?\d|[_,']\d|[km](?![a-z]))/i.test(first!.text)) throw unreadable(text, first, IN_DIGITS);
  const end = words.findIndex((one) => one.name !== undefined || fields.includes(one.text));
  const bare = words.slice(0, end < 0 ? undefined : end).slice(0, MOST_PACE_WORDS);
  for (let count = bare.length; count >= 1; count -= 1) {
    const written = bare
      .slice(0, count)
      .map((one) => one.text)
      .join(' ');
    const { amount, noun, time = '' } = writtenRate(written) ?? {};
    if (amount === undefined) continue;
    // `100 in 5 fortnights` is no window of 5 cycles.
    const isCut = count < bare.length && /^\d+$/.test(time);
    try {
      parseTime(isCut ? `${time} ${bare[count]!.text}` : time, 777, '', 0);
      return { n: Number(amount), noun, time: time.replace(/\s+/g, ' '), words: count };
    } catch (error) {
      why = error instanceof Failure ? (error.faults[0]?.message ?? why) : why;
    }
  }
  throw unreadable(text, words[0], why);
}

const { primitive: _, params: __, ...outer } = propertiesOf(RuleDefinition);

function likeIn(text: string, name: string, words: readonly Word[]): Limiter {
  const { product } = productOf(name);
  const known = propertiesOf(product.params);
  const named = product.paced === undefined ? words : withPaceNamed(text, known, product.paced, words);
  const { given, rest } = fieldsIn(text, name, { ...known, hold_ms: outer['hold_ms']!, counts: {} }, named);
  giveInOrder(text, name, known, given, rest);
  const inOrder = [...Object.keys(known), 'hold_ms', 'counts'].flatMap((one) =>
    one in given ? [[one, given[one]]] : [],
  );
  return { like: name, ...Object.fromEntries(inOrder) };
}

/** A pace such as `100 in 60s` as words that name the parameters of the product. */
function withPaceNamed(
  text: string,
  known: Readonly<Record<string, Kind>>,
  paced: Paced,
  words: readonly Word[],
): readonly Word[] {
  const from = words.findIndex(({ name }, index) => {
    const before = words[index - 1];
    if (name !== undefined || (before?.name === undefined && known[before?.text ?? '']?.type === 'string'))
      return false;
    const some = words.slice(index, index + MOST_PACE_WORDS).map((one) => one.text);
    return [some[0]!, some.join(' ')].some((written) => writtenRate(written) !== undefined);
  });
  if (from < 0) return words;
  const first = words[from]!;
  const pace = paceAt(text, words.slice(from), []);
  const named = Object.entries(paced(pace.n, pace.time)).map(([name, value]) => {
    if (value === undefined) throw unreadable(text, first, 'the product has no such time');
    return { name, text: String(value), at: first.at };
  });
  return [...words.slice(0, from), ...named, ...words.slice(from + pace.words)];
}

function giveInOrder(
  text: string,
  title: string,
  known: Readonly<Record<string, Kind>>,
  given: Fields,
  values: readonly Word[],
): void {
  const places = Object.keys(known).filter((name) => !(name in given));
  for (const value of values) {
    const place = places.shift();
    const isOther = place !== undefined && known[place]!.type === 'boolean' && !/^(?:true|false)$/.test(value.text);
    if (place === undefined || isOther) throw unknown(text, title, value, value.text, Object.keys(known));
    given[place] = readValue(text, value, place, known[place]!);
  }
}

function ruleIn(text: string, primitive: Primitive, words: readonly Word[]): Limiter {
  const { params: schema, paced } = primitiveRow(primitive);
  const known = propertiesOf(schema);
  const burst = paced?.burst === undefined || 'burst' in known ? {} : { burst: { type: 'number' } };
  const { given, rest } = fieldsIn(text, primitive, { ...known, ...burst, ...outer }, words);
  const [first] = rest;
  if (first !== undefined && !(paced === undefined ? /^[\d.]+$/ : /^[\d.]/).test(first.text))
    throw unknown(text, primitive, first, first.text, Object.keys({ ...known, ...burst }));
  const params: Fields = Object.create(null);
  if (paced === undefined) giveInOrder(text, primitive, known, given, rest);
  else if (first !== undefined) {
    const pace = paceAt(text, rest, []);
    if (pace.words < rest.length)
      throw unknown(text, primitive, rest[pace.words]!, rest[pace.words]!.text, Object.keys(known));
    Object.assign(params, paced.at(pace.n, msOf(text, first, pace.time)));
    if (Object.values(params).includes(Number.POSITIVE_INFINITY)) throw unreadable(text, first, ONE_OR_MORE);
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
    return parseMs(time, 1);
  } catch (error) {
    throw unreadable(
      text,
      word,
      error instanceof Failure ? (error.faults[0]?.message ?? error.message) : String(error),
    );
  }
}
