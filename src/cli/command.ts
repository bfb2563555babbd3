// What every command is: its options, and what it does. A command is a file that exports both, loaded only when it is named.
import type { ArgumentsCamelCase, Argv } from 'yargs';
import { usageFailure } from './ending.js';

export interface Command {
  // biome-ignore lint/suspicious/noExplicitAny: each command has options of its own
  readonly options: (yargs: Argv) => Argv<any>;
  // biome-ignore lint/suspicious/noExplicitAny: and is given what they hold
  readonly run: (given: any) => Promise<void> | void;
}

/** What a command with these options is given. */
export type GivenTo<Options> = Options extends (yargs: Argv) => Argv<infer Given> ? ArgumentsCamelCase<Given> : never;

export interface Usage {
  /** Name and positional arguments, as yargs reads them. */
  readonly usage: string;
  readonly summary: string;
}

/** Registers a command with yargs; one that is not listed is known all the same. */
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
 * Refuses what yargs lets pass and no command can use: a number that is none, which is NaN, and an option that was given twice, which
 * is a list.
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

/** Stands for a lone dash, standard input, which yargs drops from positional arguments. No argument of a process can hold a zero. */
const DASH = '\u0000-';

/** For the arguments, before yargs sees them. */
export function hideDash(words: readonly string[]): string[] {
  return words.map((word) => (word === '-' ? DASH : word));
}

/** For `coerce` of a positional argument that may be a dash. */
export function showDash(word: string): string {
  return word === DASH ? '-' : word;
}

/** The same for a list of them. */
export function showDashes(words: readonly string[]): string[] {
  return words.map(showDash);
}
