// Parses command-line words by the schema of the command: values within bounds, and no option without effect.
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearest } from '../core/schema/did-you-mean.js';
import type { Failure } from '../core/schema/failure.js';
import { shellWord } from '../report/reported.js';
import { type CommandLine, entriesOf, type Option, type Options, written } from './command.js';
import { usageFailure } from './exit-codes.js';

interface Read {
  readonly given: Readonly<Record<string, unknown>>;
  readonly line: CommandLine;
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number] & { readonly value?: string | undefined };

/** @param name of the command, without `weir` @throws Failure `wrong_usage` */
export function readArguments(name: string, options: Options, words: readonly string[]): Read {
  const known = new Map(entriesOf(options));
  const see = `See \`weir ${name} --help\`.`;
  const refused = (what: string, fix = see) => usageFailure(what, fix);
  const texts = textsOf(name, known, words, refused);
  const given: Record<string, unknown> = {};
  for (const [key, option] of known) {
    const found = texts.get(key);
    const values = found?.map((text) => readValue(text, option.items ?? option, written(key, option), refused));
    const value = option.type === 'array' ? values : (values?.[0] ?? option.default);
    if (value !== undefined) given[key] = value;
  }
  checkEffect(known, texts, refused);
  checkWritten(known, texts, refused);
  return {
    given,
    line: {
      has: (key) => texts.has(key),
      repeat: (files) => repeated(name, known, texts, files),
    },
  };
}

type Refused = (what: string, fix?: string) => Failure;
type Known = ReadonlyMap<string, Option>;
type Texts = Map<string, string[]>;

function textsOf(name: string, known: Known, words: readonly string[], refused: Refused): Texts {
  const keys = new Map(
    [...known].flatMap(([key, option]) => (option.place ? [] : [[written(key, option).slice(2), key] as const])),
  );
  const { tokens = [] } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      [...keys].map(([word, key]) => {
        const { type, bare, letter } = known.get(key)!;
        const takesNone = type === 'boolean' || bare !== undefined;
        return [word, { type: takesNone ? 'boolean' : 'string', multiple: true, ...(letter && { short: letter }) }];
      }),
    ),
  });
  const texts: Texts = new Map();
  const places = [...known].filter(([, { place }]) => place);
  const taken = new Set<Token>();
  const add = (key: string, text: string) => {
    const option = known.get(key)!;
    const before = texts.get(key);
    if (before !== undefined && option.type !== 'array')
      throw refused(`${written(key, option)} was given more than once.`);
    texts.set(key, [...(before ?? []), text]);
  };
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? Infinity;
  const rest = places.find((place) => place[1].rest);
  for (const token of tokens as Token[]) {
    if (token.kind === 'option-terminator' || taken.has(token)) continue;
    if (token.kind === 'positional') {
      const isRest = rest !== undefined && token.index > end;
      const free = isRest ? rest : places.find(([key, one]) => !one.rest && (one.type === 'array' || !texts.has(key)));
      if (free === undefined) throw refused(`Unknown argument: ${token.value}.`);
      add(free[0], token.value);
      continue;
    }
    const key = keys.get(token.name);
    if (key === undefined) throw unknownOption(name, token, [...keys.keys()], refused);
    const { type, bare } = known.get(key)!;
    if (type === 'boolean') {
      if (token.value !== undefined) throw refused(`--${token.name} takes no value.`);
      add(key, '');
    } else if (bare !== undefined && token.value === undefined) {
      const next = (tokens as Token[]).find(({ index }) => index === token.index + 1);
      const follows = next?.kind === 'positional' && bare.fits.test(next.value);
      if (follows) taken.add(next);
      add(key, follows ? next.value : bare.value);
    } else if (token.value === undefined || (token.inlineValue === false && /^-(?!\d|\.\d|$)/.test(token.value)))
      throw refused(`--${token.name} takes ${valueWords(known.get(key)!)}, and has none.`);
    else add(key, token.value);
  }
  for (const [key, option] of known)
    if (option.required && !texts.has(key)) throw refused(`${written(key, option)} is missing.`);
  return texts;
}

function unknownOption(
  command: string,
  { name, rawName }: Extract<Token, { kind: 'option' }>,
  known: readonly string[],
  refused: Refused,
): Failure {
  if (/^-\d/.test(rawName))
    return refused(`A word that begins with ${rawName} is read as an option.`, 'No number is negative here.');
  const what = `Unknown option: ${rawName}.`;
  const guess = nearest(name, known);
  return guess === undefined
    ? refused(what)
    : refused(what, `Did you mean --${guess}? See \`weir ${command} --help\`.`);
}

function readValue(text: string, option: Option, name: string, refused: Refused): unknown {
  const {
    type,
    read,
    bare,
    enum: words,
    minimum = -Infinity,
    exclusiveMinimum = -Infinity,
    maximum = Infinity,
  } = option;
  const takes = (also = '') => refused(`${name} takes ${valueWords(option)}, not "${text}".`, also || undefined);
  if (type === 'boolean') return true;
  if (words !== undefined) {
    if (words.includes(text)) return text;
    const guess = nearest(text, words);
    throw takes(guess === undefined ? option.otherwise : `Did you mean ${guess}?`);
  }
  if (read !== undefined) {
    const value = read(text, name);
    if (value === undefined) throw takes();
    return value;
  }
  if (bare !== undefined && text !== bare.value && !bare.fits.test(text)) throw takes();
  if (type === 'string' && bare === undefined && text === '')
    throw refused(`${name} is empty.`, 'Give a value, or leave it out; an unset variable of the shell gives none.');
  if (type === 'string') return text;
  const value = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const fits = Number.isFinite(value) && value >= minimum && value > exclusiveMinimum && value <= maximum;
  if (!fits || (type === 'integer' && !Number.isSafeInteger(value))) throw takes();
  return value;
}

function valueWords({ type, takes, enum: words, minimum, exclusiveMinimum, maximum, items }: Option): string {
  if (items !== undefined) return valueWords(items);
  if (takes !== undefined) return takes;
  if (words !== undefined) return new Intl.ListFormat('en', { type: 'disjunction' }).format(words);
  if (type === 'string') return 'a value';
  const from = exclusiveMinimum === undefined ? (minimum === undefined ? '' : ` from ${minimum}`) : ' above 0';
  const to = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`;
  return `a ${type === 'integer' ? 'whole ' : ''}number${from}${to}`;
}

function checkEffect(known: Known, texts: Texts, refused: Refused): void {
  const shown = (key: string) => written(key, known.get(key)!);
  for (const key of texts.keys()) {
    const { needs, without = [] } = known.get(key)!;
    if (needs !== undefined && !needs.some((other) => texts.has(other))) {
      const wanted = needs.map(shown).join(' or ');
      throw refused(`${shown(key)} has no effect without ${wanted}.`, `Add ${wanted}, or leave ${shown(key)} out.`);
    }
    const other = without.find((one) => texts.has(one));
    if (other !== undefined)
      throw refused(`${shown(key)} has no effect with ${shown(other)}.`, 'Leave one of the two out.');
  }
}

/** Where a file would be written that an argument names, what it holds would be lost. */
function checkWritten(known: Known, texts: Texts, refused: Refused): void {
  const keys = [...texts.keys()];
  const read = keys.filter((key) => known.get(key)?.place).flatMap((key) => texts.get(key) ?? []);
  for (const key of keys.filter((key) => known.get(key)?.writes)) {
    const [path = ''] = texts.get(key) ?? [];
    const file = fileOf(path);
    const same = file === undefined ? undefined : read.find((one) => fileOf(one) === file);
    if (same !== undefined)
      throw refused(`${written(key, known.get(key)!)} would overwrite ${same}, which is read.`, 'Name another file.');
  }
}

/** The same for all paths of a regular file; undefined for any other path. */
export function fileOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true });
    return found.isFile() ? `${found.dev} ${found.ino}` : undefined;
  } catch {
    return undefined;
  }
}

function repeated(name: string, known: Known, texts: Texts, files?: readonly string[]): string {
  const places: string[] = [];
  const flags: string[] = [];
  for (const [key, option] of known) {
    const { place, local, type, bare } = option;
    if (local) continue;
    for (const text of texts.get(key) ?? []) {
      const word = written(key, option);
      if (place) places.push(fileWord(text));
      else if (type === 'boolean') flags.push(word);
      // A value with a leading dash would be read as another option.
      else if (bare !== undefined || text.startsWith('-')) flags.push(text === bare?.value ? word : `${word}=${text}`);
      else flags.push(word, withoutCredentials(text));
    }
  }
  return ['weir', name, ...(files?.map(fileWord) ?? places), ...flags].map(shellWord).join(' ');
}

/** Reports must not contain the user name and password of a URL. */
function withoutCredentials(text: string): string {
  return text.replace(/^(\w+:\/\/)[^/]*@/, '$1');
}

function fileWord(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}
