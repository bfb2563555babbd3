// A command is data: its arguments and options, examples, and `run`. Checks, help, completion, the page of all commands
// and the line that repeats a run derive from it. Command files are light: `run` loads what it needs.

export type Options = Readonly<Record<string, Option>>;
export type GivenTo<Known extends Options> = {
  readonly [Key in keyof Known]: Known[Key] extends Option<infer Value> ? Value : never;
};

export interface CommandLine {
  /** Whether the words contain the option or argument; a default does not count. */
  has(name: string): boolean;
  /** Repeats the run, for reports: words that change the result, no secrets. @param files replace the given ones */
  repeat(files?: readonly string[]): string;
}

export interface Command<Known extends Options = Options> {
  readonly options: Known;
  readonly examples: readonly (readonly [words: string, about: string])[];
  readonly more?: string;
  readonly run: (given: GivenTo<Known>, line: CommandLine) => Promise<void> | void;
}

/** Describes an option beyond its type. Options are referred to by their key: `cycleMs` is --cycle-ms. */
export interface About {
  readonly default?: string | number | boolean;
  readonly required?: true;
  readonly place?: true;
  /** Collects all words after `--`. It is the last option. */
  readonly rest?: true;
  readonly needs?: string;
  readonly without?: readonly string[];
  /** Does not change the result, or is a secret; omitted from the line that repeats a run. */
  readonly local?: true;
  readonly letter?: string;
  /** A file that is written anew: it is none of the arguments. */
  readonly writes?: true;
}

export interface Option<Value = unknown> extends About {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly takes?: string;
  /** What to do about a word that is none of `enum` and near to none. Default: see the help of the command. */
  readonly otherwise?: string;
  /** Parses a text; undefined if it is invalid. It may throw a more specific failure. */
  readonly read?: (text: string, option: string) => unknown;
  /** Default of an option given without a value. The next word is its value if it fits. */
  readonly bare?: { readonly value: string; readonly fits: RegExp };
  readonly items?: Option;
  /** Only a type: of what `run` is given. */
  readonly given?: Value;
}

type Kept<Value, Said> = Said extends { readonly default: unknown } | { readonly required: true }
  ? Value
  : Value | undefined;

export function text<const Said extends About>(description: string, said = {} as Said): Option<Kept<string, Said>> {
  return { type: 'string', description, ...said };
}

export function flag(description: string, said: About = {}): Option<boolean> {
  return { type: 'boolean', description, default: false, ...said };
}

export function choice<
  const Values extends readonly string[],
  const Said extends About & Pick<Option, 'takes' | 'otherwise'>,
>(values: Values, description: string, said = {} as Said): Option<Kept<Values[number], Said>> {
  return { type: 'string', description, enum: values, ...said };
}

export function whole<const Said extends About>(
  minimum: number,
  maximum: number,
  description: string,
  said = {} as Said,
): Option<Kept<number, Said>> {
  return { type: 'integer', description, minimum, maximum, ...said };
}

export function decimal<const Said extends About & Pick<Option, 'minimum' | 'maximum' | 'exclusiveMinimum'>>(
  description: string,
  said = {} as Said,
): Option<Kept<number, Said>> {
  return { type: 'number', description, ...said };
}

export function value<Value, const Said extends About>(
  takes: string,
  read: (text: string, option: string) => Value | undefined,
  description: string,
  said = {} as Said,
): Option<Kept<Value, Said>> {
  return { type: 'string', description, takes, read, ...said };
}

export function perhaps(
  bare: NonNullable<Option['bare']>,
  takes: string,
  description: string,
  said: About = {},
): Option<string | undefined> {
  return { type: 'string', description, bare, takes, ...said };
}

export function several<Value>(item: Option<Value>): Option<NonNullable<Value>[] | Extract<Value, undefined>> {
  const { given: _, ...said } = item;
  return { ...said, type: 'array', items: item };
}

export function command<Known extends Options>(parts: Command<Known>): Command<Known> {
  return parts;
}

export function written(name: string, { place }: Pick<About, 'place'>): string {
  return place ? `<${name}>` : `--${optionName(name)}`;
}

export function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function entriesOf(options: Options): [name: string, option: Option][] {
  return Object.entries(options);
}

export function usageOf(name: string, options: Options): string {
  const places = entriesOf(options).filter(([, { place }]) => place);
  const words = places.map(([place, { required, type, rest }]) => {
    const word = `${rest ? '-- ' : ''}${place}${type === 'array' ? '..' : ''}`;
    return required ? `<${word}>` : `[${word}]`;
  });
  return [name, ...words].join(' ');
}
