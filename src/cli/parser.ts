// Reads a command line with yargs, by the data of the commands. What yargs refuses becomes a failure in our words.
import yargs, { type Argv, type FallbackCompletionFunction } from 'yargs';
import { isSameFile } from '../core/files/same-file.js';
import { nearest } from '../core/schema/did-you-mean.js';
import type { Failure } from '../core/schema/failure.js';
import { type Command, type CommandLine, entriesOf, type Option, written } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { shellWord } from '../report/reported.js';
import { type ListedCommand, namedBy } from './commands.js';
import { HELP } from './help.js';
import { topics } from './topics/topics.js';

/** @returns undefined if no command is named @throws Failure `wrong_usage` */
export async function read(words: readonly string[], among: readonly ListedCommand[]) {
  const listed = namedBy(words, among);
  if (listed === undefined) return undefined;
  const command = await listed.load();
  const reading = new Reading(listed.name, command);
  await withCommands(reading.parserOf(words), among, reading).parseAsync();
  return { command, given: reading.given(), line: reading };
}

/** Prints what may follow, as the scripts of `weir completion` ask. */
export async function complete(words: readonly string[], among: readonly ListedCommand[]): Promise<void> {
  const listed = namedBy(words.slice(2), among);
  const reading = listed && new Reading(listed.name, await listed.load());
  const parser = withCommands(parserOf(words), among, reading).command('help', HELP, (inner) => {
    for (const { name, about } of topics) inner.command(name, about);
  });
  await parser.completion('weir', false, withFiles).parseAsync();
}

/** yargs offers options where a file may follow, and a letter as `--c`. */
const withFiles: FallbackCompletionFunction = (word, _, found, done) =>
  found((_error, all = []) =>
    done(all.filter((one) => (word.startsWith('-') ? !/^--\w(\W|$)/.test(one) : !one.startsWith('-')))),
  );

function parserOf(words: readonly string[]): Argv {
  const configuration = {
    'boolean-negation': false,
    'camel-case-expansion': false,
    'dot-notation': false,
    'parse-numbers': false,
    'populate--': true,
  };
  const parser = yargs([...words])
    .scriptName('weir')
    .parserConfiguration(configuration)
    .strictOptions();
  return parser.exitProcess(false).detectLocale(false).help(false).version(false);
}

/** Adds the commands, and the options of the one that is read. */
function withCommands(parser: Argv, among: readonly ListedCommand[], reading?: Reading, depth = 0): Argv {
  const wordOf = ({ name }: ListedCommand) => name.split(' ')[depth]!;
  for (const word of new Set(among.map(wordOf))) {
    const below = among.filter((one) => wordOf(one) === word);
    const [{ name, about }] = below as [ListedCommand];
    if (name.split(' ').length > depth + 1)
      parser.command(word, 'several commands', (inner) => withCommands(inner, below, reading, depth + 1));
    else if (name === reading?.name) parser.command(word, about, reading.declare, reading.take);
    else parser.command(word, about);
  }
  return parser;
}

/** An option or argument: `shown` as `--cycle-ms` or `<file>`, which yargs knows as `cycle-ms` and `<file>`. */
interface Field extends Option {
  readonly key: string;
  readonly shown: string;
  readonly name: string;
}

/** What was given, by `name`. yargs has what is no option in `_`, and what comes after `--` apart. */
type Texts = Readonly<Record<string, readonly string[]>>;

/** One command, and what of its options and arguments a line has. */
class Reading implements CommandLine {
  readonly name: string;
  readonly #fields: readonly Field[];
  #texts: Texts = {};

  constructor(name: string, { options }: Command) {
    this.name = name;
    this.#fields = entriesOf(options).map(([key, option]) => {
      const shown = written(key, option);
      return { ...option, key, shown, name: shown.replace(/^--/, '') };
    });
  }

  parserOf(words: readonly string[]): Argv {
    return parserOf(this.#withBare(words)).fail((message, error) => {
      throw message ? this.#refusalOf(message, words) : error;
    });
  }

  readonly declare = (parser: Argv): Argv => {
    // yargs' own arguments lose a `-`, and what begins with one after `--`.
    parser.middleware((parsed) => void Object.assign(parsed, this.#placed(parsed as never)), true);
    for (const { name, place, letter, type, description, items, needs, without = [], ...field } of this.#fields) {
      const choices = field.enum ?? items?.enum;
      parser.option(name, {
        description,
        hidden: place === true,
        ...(type === 'boolean' ? { nargs: 0 } : { nargs: 1, string: true }),
        ...(choices && { choices }),
        ...(letter && { alias: letter }),
        // As a list an empty text counts as given, and a second one is seen.
        coerce: (texts: unknown) => [texts].flat(),
      });
      if (place) parser.group(name, 'Positionals:');
      if (needs !== undefined) parser.implies(name, this.#field(needs).name);
      for (const other of without) parser.conflicts(name, this.#field(other).name);
    }
    return parser;
  };

  readonly take = (texts: object): void => {
    this.#texts = texts as Texts;
  };

  given(): Readonly<Record<string, unknown>> {
    const values = this.#fields.map((field) => [field.key, this.#valueOf(field)] as const);
    this.#checkWritten();
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  has(key: string): boolean {
    return this.#textsOf(this.#field(key)).length > 0;
  }

  repeat(files?: readonly string[]): string {
    const places: string[] = [];
    const flags: string[] = [];
    for (const field of this.#fields) {
      const { place, local, type, bare, shown } = field;
      if (local) continue;
      for (const text of this.#textsOf(field)) {
        if (place) places.push(fileWord(text));
        else if (type === 'boolean') flags.push(shown);
        // A value with a leading dash would be read as another option.
        else if (bare !== undefined || text.startsWith('-'))
          flags.push(text === bare?.value ? shown : `${shown}=${text}`);
        else flags.push(shown, withoutCredentials(text));
      }
    }
    return ['weir', this.name, ...(files?.map(fileWord) ?? places), ...flags].map(shellWord).join(' ');
  }

  /** By its key, or as yargs names it. */
  #field(word: string): Field {
    return this.#fields.find(({ key, name, letter }) => [key, name, letter].includes(word))!;
  }

  #textsOf({ name }: Field): readonly string[] {
    return this.#texts[name] ?? [];
  }

  #refused(what: string, fix = `See \`weir ${this.name} --help\`.`): Failure {
    return usageFailure(what, fix);
  }

  /** An option that may have no value takes the next word only if it fits. */
  #withBare(words: readonly string[]): string[] {
    return words.map((word, at) => {
      const bare = this.#fields.find(({ shown }) => shown === word)?.bare;
      return bare === undefined || bare.fits.test(words[at + 1] ?? '') ? word : `${word}=${bare.value}`;
    });
  }

  /** Which word is which argument. */
  #placed({ _: words, '--': after = [] }: Texts): Texts {
    const texts: Record<string, string[]> = {};
    const places = this.#fields.filter(({ place, rest }) => place && !rest);
    const rest = this.#fields.find((field) => field.rest);
    if (rest !== undefined && after.length > 0) texts[rest.name] = [...after];
    for (const word of [...words!.slice(this.name.split(' ').length), ...(rest === undefined ? after : [])]) {
      const free = places.find(({ type, name }) => type === 'array' || texts[name] === undefined);
      if (free === undefined) throw this.#refused(`Unknown argument: ${word}.`);
      texts[free.name] = [...(texts[free.name] ?? []), String(word)];
    }
    return texts;
  }

  /** The failure for what yargs says. */
  #refusalOf(message: string, words: readonly string[]): Failure {
    const namesIn = (saying: RegExp) => saying.exec(message)?.slice(1) as [string, string] | undefined;
    const [unknown] = namesIn(/^Unknown arguments?: ([^,]*)/) ?? [];
    if (unknown !== undefined) return this.#unknown(unknown, words);
    const shown = (name: string) => this.#field(name).shown;
    const [empty] = namesIn(/^Not enough arguments following: (.*)/) ?? [];
    if (empty !== undefined)
      return this.#refused(`${shown(empty)} takes ${valueWords(this.#field(empty))}, and has none.`);
    const [full] = namesIn(/^Argument unexpected for: (.*)/) ?? [];
    if (full !== undefined) return this.#refused(`${shown(full)} takes no value.`);
    const [chosen, text = ''] = namesIn(/^Invalid values:\s+Argument: (.*?), Given: "(.*?)", /s) ?? [];
    if (chosen !== undefined) return this.#takes(text, this.#field(chosen));
    const [one, wanted] = namesIn(/:\s+(\S+) -> (\S+)/)?.map(shown) ?? [];
    if (one !== undefined)
      return this.#refused(`${one} has no effect without ${wanted}.`, `Add ${wanted}, or leave ${one} out.`);
    const [first, second] = namesIn(/^Arguments (\S+) and (\S+) are mutually exclusive/)?.map(shown) ?? [];
    if (first === undefined) throw new Error(message);
    return this.#refused(`${first} has no effect with ${second}.`, 'Leave one of the two out.');
  }

  #unknown(name: string, words: readonly string[]): Failure {
    const word = words.find((one) => one.startsWith('-') && nameIn(one) === name)?.split('=')[0] ?? `-${name}`;
    if (/^-\d/.test(word))
      return this.#refused(`A word that begins with ${word} is read as an option.`, 'No number is negative here.');
    const place = this.#fields.find((field) => field.place && field.key === name);
    if (place !== undefined) return this.#refused(`${word} is no option.`, `Give its value alone, as ${place.shown}.`);
    const guess = nearest(
      name,
      this.#fields.flatMap((field) => (field.place ? [] : [field.name])),
    );
    const fix = guess === undefined ? undefined : `Did you mean --${guess}? See \`weir ${this.name} --help\`.`;
    return this.#refused(`Unknown option: ${word}.`, fix);
  }

  /** @returns undefined for what is not given and has no default */
  #valueOf(field: Field): unknown {
    const [first, second] = this.#textsOf(field);
    if (first === undefined && field.required) throw this.#refused(`${field.shown} is missing.`);
    if (first === undefined) return field.default;
    if (field.type === 'array')
      return this.#textsOf(field).map((text) => this.#valueIn(text, { ...field, ...field.items }));
    if (second !== undefined) throw this.#refused(`${field.shown} was given more than once.`);
    return this.#valueIn(first, field);
  }

  #valueIn(text: string, field: Field): unknown {
    const { type, read, bare, shown, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = field;
    if (type === 'boolean') return true;
    if (type === 'string' && bare === undefined && text === '')
      throw this.#refused(
        `${shown} is empty.`,
        'Give a value, or leave it out; an unset variable of the shell gives none.',
      );
    if (read !== undefined) {
      const value = read(text, shown);
      if (value === undefined) throw this.#takes(text, field);
      return value;
    }
    if (bare !== undefined && text !== bare.value && !bare.fits.test(text)) throw this.#takes(text, field);
    if (type === 'string') return text;
    const value = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    const fits = Number.isFinite(value) && value >= minimum && value > exclusiveMinimum && value <= maximum;
    if (!fits || (type === 'integer' && !Number.isSafeInteger(value))) throw this.#takes(text, field);
    return value;
  }

  #takes(text: string, field: Field): Failure {
    const guess = nearest(text, field.enum ?? field.items?.enum ?? []);
    const fix = guess === undefined ? (field.otherwise ?? field.items?.otherwise) : `Did you mean ${guess}?`;
    return this.#refused(`${field.shown} takes ${valueWords(field)}, not "${text}".`, fix);
  }

  /** Where a file would be written that an argument names, what it holds would be lost. */
  #checkWritten(): void {
    const read = this.#fields.flatMap((field) => (field.place ? this.#textsOf(field) : []));
    for (const field of this.#fields.filter(({ writes }) => writes)) {
      const same = this.#textsOf(field).flatMap((path) => read.filter((one) => isSameFile(path, one)))[0];
      if (same !== undefined)
        throw this.#refused(`${field.shown} would overwrite ${same}, which is read.`, 'Name another file.');
    }
  }
}

/** As yargs names it. */
function nameIn(word: string): string {
  return word.replace(/^-+|=.*$/gs, '').replace('__proto__', '___proto___');
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

/** Reports must not contain the user name and password of a URL. */
function withoutCredentials(text: string): string {
  return text.replace(/^(\w+:\/\/)[^/]*@/, '$1');
}

function fileWord(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}
