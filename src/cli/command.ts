// A command is data: its arguments and options as one schema, its examples, and `run`. Check, help, completion, the page of all commands
// and the line that repeats a run are made of it. A file of a command is light: what a run needs is loaded inside `run`.
import type * as TypeBox from 'typebox';
import { Type } from '../schema/json-schema.js';

type Schema = TypeBox.TSchema;
export type Options = Readonly<Record<string, Schema>>;
export type GivenTo<Known extends Options> = TypeBox.Static<TypeBox.TObject<Known>>;

/** The words of a command line after the name of the command. */
export interface CommandLine {
  /** Whether the option or argument is on it: a default is not. */
  has(name: string): boolean;
  /**
   * The command that repeats the run, for reports: everything given that changes the result, without secrets.
   * @param files instead of the files that are given, where others belong to other runs
   */
  repeat(files?: readonly string[]): string;
}

export interface Command<Known extends Options = Options> {
  readonly options: Known;
  /** Words after `weir`, and what they do. */
  readonly examples: readonly (readonly [words: string, about: string])[];
  readonly more?: string;
  readonly run: (given: GivenTo<Known>, line: CommandLine) => Promise<void> | void;
}

/** What is said of an option beside its type. Names of others are those of the schema: `cycleMs` is --cycle-ms. */
interface About {
  readonly default?: string | number;
  readonly required?: true;
  /** An argument: given by its place and not by its name. */
  readonly place?: true;
  /** An argument of several words: those after `--`. It is the last of the options. */
  readonly rest?: true;
  readonly needs?: readonly string[];
  readonly without?: readonly string[];
  /** Does not change the result of a run, or is a secret: the line that repeats a run leaves it out. */
  readonly local?: true;
  readonly letter?: string;
  readonly hidden?: true;
}

export interface Option extends About {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly takes?: string;
  /** The value of a text; undefined for one that cannot be read. A failure of its own says why. */
  readonly read?: (text: string, option: string) => unknown;
  /** The value where the option is given without one. A word that follows is its value if it fits. */
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

/** A switch: off unless it is given. */
export function flag(description: string, said: About = {}): TypeBox.TBoolean {
  return made('boolean', description, { ...said, default: false });
}

export function choice<const Values extends readonly string[], const Said extends About>(
  values: Values,
  description: string,
  said = {} as Said,
): Kept<TypeBox.TUnsafe<Values[number]>, Said> {
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

/** How an option or argument is written: `--cycle-ms`, `<scenario>`. */
export function written(name: string, { place, hidden }: Pick<About, 'place' | 'hidden'>): string {
  return place ? `<${name}>` : `--${hidden ? name : optionName(name)}`;
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
