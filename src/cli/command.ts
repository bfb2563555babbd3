// A command: its options and its action. Each is a file that exports both, and is loaded only when the command is named.
import type { ArgumentsCamelCase, Argv } from 'yargs';
import { usageFailure } from './ending.js';

/**
 * Which options have an effect only with one of others, and which have none beside others: such a command line is refused. `no-report` is a
 * switch that is on by default, `<url>` a positional argument.
 */
export interface OptionRules {
  readonly needs?: Readonly<Record<string, readonly string[]>>;
  readonly without?: Readonly<Record<string, readonly string[]>>;
}

export interface Command {
  readonly rules?: OptionRules;
  // biome-ignore lint/suspicious/noExplicitAny: each command has options of its own
  readonly options: (yargs: Argv) => Argv<any>;
  // biome-ignore lint/suspicious/noExplicitAny: and receives their values
  readonly run: (given: any) => Promise<void> | void;
}

/** The arguments that a command with these options receives. */
export type GivenTo<Options> = Options extends (yargs: Argv) => Argv<infer Given> ? ArgumentsCamelCase<Given> : never;

export interface Usage {
  /** Name and positional arguments, as yargs reads them. */
  readonly usage: string;
  readonly summary: string;
}

/** Registers a command with yargs. A command that is not listed can be used, too. */
export function register(
  yargs: Argv,
  { usage, summary }: Usage,
  { options, run, rules = {} }: Command,
  isListed = true,
): Argv {
  let lists: readonly string[] = [];
  let defaults: Readonly<Record<string, unknown>> = {};
  return yargs.command(
    usage,
    (isListed && summary) as string,
    (inner) => {
      const built = options(isListed ? inner : inner.usage(`$0 ${usage}\n\n${summary}`)).strict();
      const known = (built as unknown as { getOptions(): { array: string[]; default: object } }).getOptions();
      lists = known.array;
      defaults = { ...known.default };
      return built;
    },
    (given) => {
      checkSpelling(given, lists);
      checkEffect(given, rules, defaultsIn(yargs), defaults);
      return run(given);
    },
  );
}

/**
 * Refuses invalid values that yargs accepts: NaN for a text that is not a number, and a list for an option that was given twice.
 * @param lists options that may be given several times
 * @throws Failure `wrong_usage`
 */
function checkSpelling(given: object, lists: readonly string[]): void {
  const plain = (name: string) => name.replaceAll('-', '').toLowerCase();
  const areLists = new Set(lists.map(plain));
  for (const [name, value] of Object.entries(given)) {
    if (name === '_') continue;
    if (typeof value === 'number' && Number.isNaN(value)) throw usageFailure(`--${name} takes a number.`);
    if (Array.isArray(value) && !areLists.has(plain(name))) throw usageFailure(`--${name} was given more than once.`);
  }
}

/** The options that have a value because of their default. yargs does not declare it. */
function defaultsIn(yargs: Argv): Readonly<Record<string, boolean>> {
  return (yargs as unknown as { parsed: { defaulted: Record<string, boolean> } }).parsed.defaulted;
}

/** @throws Failure `wrong_usage` for an option that has no effect beside the others */
function checkEffect(
  given: Readonly<Record<string, unknown>>,
  { needs = {}, without = {} }: OptionRules,
  defaulted: Readonly<Record<string, boolean>>,
  defaults: Readonly<Record<string, unknown>>,
): void {
  const isGiven = (rule: string) => {
    const name = rule.replaceAll(/[<>]/g, '');
    if (name.startsWith('no-')) return given[name.slice(3)] === false;
    const value = given[name];
    const isEmpty =
      value === undefined || value === false || (Array.isArray(value) && value.every((one) => one === undefined));
    // yargs takes positional arguments for defaulted.
    return !isEmpty && (rule.startsWith('<') ? value !== defaults[name] : defaulted[name] !== true);
  };
  for (const [name, others] of Object.entries(needs)) {
    if (!isGiven(name) || others.some(isGiven)) continue;
    const wanted = others.map(written).join(' or ');
    throw usageFailure(
      `${written(name)} has no effect without ${wanted}.`,
      `Add ${wanted}, or leave ${written(name)} out.`,
    );
  }
  for (const [name, others] of Object.entries(without)) {
    const other = isGiven(name) ? others.find(isGiven) : undefined;
    if (other === undefined) continue;
    throw usageFailure(`${written(name)} has no effect with ${written(other)}.`, 'Leave one of the two out.');
  }
}

/** A name in rules as it is written on the command line. */
function written(name: string): string {
  return name.startsWith('<') ? name : `--${name}`;
}

/**
 * Replaces the argument `-`, standard input, which yargs drops from positional arguments. No argument of a process can contain a
 * zero character.
 */
const DASH = '\u0000-';

/** Applied to the arguments before yargs parses them. */
export function hideDash(words: readonly string[]): string[] {
  return words.map((word) => (word === '-' ? DASH : word));
}

/** For `coerce` of a positional argument that may be a dash. */
export function showDash(word: string): string {
  return word === DASH ? '-' : word;
}

/** The same for a list of words. */
export function showDashes(words: readonly string[]): string[] {
  return words.map(showDash);
}
