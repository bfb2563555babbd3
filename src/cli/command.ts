// A command: its options and its action. Each is a file that exports both, and is loaded only when the command is named.
import type { ArgumentsCamelCase, Argv } from 'yargs';
import { usageFailure } from './ending.js';

export interface Command {
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
export function register(yargs: Argv, { usage, summary }: Usage, { options, run }: Command, isListed = true): Argv {
  let lists: readonly string[] = [];
  return yargs.command(
    usage,
    (isListed && summary) as string,
    (inner) => {
      const built = options(isListed ? inner : inner.usage(`$0 ${usage}\n\n${summary}`)).strict();
      lists = (built as unknown as { getOptions(): { array: string[] } }).getOptions().array;
      return built;
    },
    (given) => {
      checkSpelling(given, lists);
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
