// A command is data: one schema for arguments and options, examples, and `run`. Checks, help, completion, the page of all commands
// and the line that repeats a run derive from it. Command files are light: `run` loads what it needs.
import type * as TypeBox from 'typebox';
import { Type } from '../core/schema/json-schema.js';

type Schema = TypeBox.TSchema;
export type Options = Readonly<Record<string, Schema>>;
export type GivenTo<Known extends Options> = TypeBox.Static<TypeBox.TObject<Known>>;

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

/** Describes an option beyond its type. Options are referred to by schema name: `cycleMs` is --cycle-ms. */
export interface About {
  readonly default?: string | number;
  readonly required?: true;
  readonly place?: true;
  /** Collects all words after `--`. It is the last option. */
  readonly rest?: true;
  readonly needs?: readonly string[];
  readonly without?: readonly string[];
  /** Does not change the result, or is a secret; omitted from the line that repeats a run. */
  readonly local?: true;
  readonly letter?: string;
  /** A file that is written anew: it is none of the arguments. */
  readonly writes?: true;
}

export interface Option extends About {
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
}

type Kept<Kind extends Schema, Said> = Said extends { readonly default: unknown } | { readonly required: true }
  ? Kind
  : TypeBox.TOptional<Kind>;

function made(kind: string, description: string, said: object): never {
  const schema = { type: kind, description, ...said } as unknown as Schema;
  return ('default' in said || 'required' in said ? schema : Type.Optional(schema)) as never;
}

export function text<const Said extends About>(description: string, said = {} as Said): Kept<TypeBox.TString, Said> {
  return made('string', description, said);
}

export function flag(description: string, said: About = {}): TypeBox.TBoolean {
  return made('boolean', description, { ...said, default: false });
}

export function choice<
  const Values extends readonly string[],
  const Said extends About & Pick<Option, 'takes' | 'otherwise'>,
>(values: Values, description: string, said = {} as Said): Kept<TypeBox.TUnsafe<Values[number]>, Said> {
  return made('string', description, { enum: values, ...said });
}

export function whole<const Said extends About>(
  minimum: number,
  maximum: number,
  description: string,
  said = {} as Said,
): Kept<TypeBox.TInteger, Said> {
  return made('integer', description, { minimum, maximum, ...said });
}

export function decimal<const Said extends About & Pick<Option, 'minimum' | 'maximum' | 'exclusiveMinimum'>>(
  description: string,
  said = {} as Said,
): Kept<TypeBox.TNumber, Said> {
  return made('number', description, said);
}

export function value<Value, const Said extends About>(
  takes: string,
  read: (text: string, option: string) => Value | undefined,
  description: string,
  said = {} as Said,
): Kept<TypeBox.TUnsafe<Value>, Said> {
  return made('string', description, { takes, read, ...said });
}

export function perhaps(bare: NonNullable<Option['bare']>, takes: string, description: string, said: About = {}) {
  return made('string', description, { bare, takes, ...said }) as TypeBox.TOptional<TypeBox.TString>;
}

export function several<Item extends Schema>(
  item: Item,
): Item extends TypeBox.TOptional<infer One extends Schema>
  ? TypeBox.TOptional<TypeBox.TArray<One>>
  : TypeBox.TArray<Item> {
  const { required, default: _, ...said } = item as unknown as Option;
  return made('array', said.description, { ...said, items: item, type: 'array', ...(required && { required }) });
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
  return Object.entries(options) as unknown as [string, Option][];
}

export function usageOf(name: string, options: Options): string {
  const places = entriesOf(options).filter(([, { place }]) => place);
  const words = places.map(([place, { required, type, rest }]) => {
    const word = `${rest ? '-- ' : ''}${place}${type === 'array' ? '..' : ''}`;
    return required ? `<${word}>` : `[${word}]`;
  });
  return [name, ...words].join(' ');
}
