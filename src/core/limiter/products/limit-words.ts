// The tokenizer of limiter texts.
//
//   nginx 10r/s burst=5 nodelay            words are separated by blanks
//   or a={"primitive": "gcra", …} …        a value that begins with { [ or " is JSON, and may contain blanks
import { Failure } from '../../schema/failure.js';

export interface Word {
  readonly name: string | undefined;
  readonly text: string;
  readonly at: number;
}

export function wordsIn(text: string): Word[] {
  const words: Word[] = [];
  for (let at = nextWord(text, 0); at < text.length; ) {
    NAMED.lastIndex = at;
    const name = NAMED.exec(text)?.[1];
    const from = name === undefined ? at : at + name.length + 1;
    const to = '{["'.includes(text[from] ?? ' ') ? endOfJson(text, from) : endOfWord(text, from);
    words.push({ name, text: text.slice(from, to), at: at + 1 });
    at = nextWord(text, to);
  }
  return words;
}

const NAMED = /([A-Za-z_][\w-]*)=/y;

function nextWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at]!)) at += 1;
  return at;
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && !/\s/.test(text[at]!)) at += 1;
  return at;
}

function endOfJson(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '"') {
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
      if (at >= text.length) break;
    } else if ('{['.includes(text[at]!)) depth += 1;
    else if (']}'.includes(text[at]!)) depth -= 1;
    if (depth === 0) return endOfWord(text, at + 1);
  }
  throw unreadable(text, { name: undefined, text: text.slice(from), at: from + 1 }, 'it does not end');
}

export function valueIn(text: string, word: Word): unknown {
  if (/^["{[]/.test(word.text)) {
    try {
      return JSON.parse(word.text);
    } catch {
      throw unreadable(text, word, 'it is not JSON');
    }
  }
  if (NUMBER.test(word.text)) return Number(word.text);
  return word.text === 'true' ? true : word.text === 'false' ? false : word.text;
}

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

function writtenValue(value: unknown): string {
  const isPlain = typeof value !== 'object' && /^[^\s"{[]\S*$/.test(String(value));
  const reads = isPlain && valueIn('', { name: undefined, text: String(value), at: 1 }) === value;
  return reads ? String(value) : JSON.stringify(value);
}

export function namedText(name: string, fields: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(fields).flatMap(([field, value]) => {
    if (value === undefined) return [];
    return value === true ? [field] : [`${field}=${writtenValue(value)}`];
  });
  return [name, ...words].join(' ');
}

export function writtenWord({ name, text }: Word): string {
  return name === undefined ? text : `${name}=${text}`;
}

const SHOWN = 120;

export function unreadable(text: string, word: Word | undefined, why: string, fix?: string): Failure {
  const small = (one: string) => `${one.charAt(0).toLowerCase()}${one.slice(1)}`.replace(/\.$/, '');
  const shown = (one: string) => JSON.stringify(one.length > SHOWN ? `${one.slice(0, SHOWN)}…` : one);
  const written = word && writtenWord(word);
  const place = word === undefined ? why : `${shown(written!)} at character ${word.at}: ${why}`;
  return new Failure('invalid_definition', {
    what: `The limiter ${shown(text)} cannot be read.`,
    why: `${place.charAt(0).toUpperCase()}${place.slice(1)}.`,
    fix:
      fix ??
      "Write for example '100 in 60s', 'token_bucket 10/s burst=20', 'nginx 10r/s burst=5' or 'concurrency 20'; `weir limiter` lists all.",
    faults: [{ path: '', message: `cannot be read: ${place}${fix === undefined ? '' : `; ${small(fix)}`}` }],
  });
}
