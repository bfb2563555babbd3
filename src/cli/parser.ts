// The parser of the command line. Only the file of the named command is loaded, so that `weir --help` starts fast.
import yargs, { type Argv } from 'yargs';
import { nearest } from '../schema/did-you-mean.js';
import { topics } from '../topics/topics.js';
import { VERSION } from '../version.js';
import { hideDash, register } from './command.js';
import { commands, type ListedCommand, nameOf, nodeCommands } from './commands.js';
import { endWith, usageFailure } from './ending.js';

/** Replacements for unclear messages of yargs. Its types do not include the plural form. */
const tooFew = 'Arguments are missing: %s given after the command, and it takes at least %s';
const words = { 'Not enough non-option arguments: got %s, need at least %s': { one: tooFew, other: tooFew } };

/**
 * Runs the named command to its end, and reports its failure. It sets the exit code and does not exit the process.
 * @param given the arguments after `weir`
 */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  try {
    const parser = await parserFor(given);
    await parser.parseAsync();
  } catch (error) {
    endWith(error, given.includes('--json'));
  }
}

/**
 * A parser for the given arguments. `parseAsync` runs the named command and rejects with its failure.
 * @param given the arguments after `weir`
 */
export async function parserFor(given: readonly string[]): Promise<Argv> {
  const asked = hideDash(asHelp(given));
  const known = [...commands, ...nodeCommands];
  refuseUnknown(asked);
  const named = known.find((one) => nameOf(one) === asked.find((word) => known.some((each) => nameOf(each) === word)));
  const loaded = await named?.load();
  const add = (to: Argv, one: ListedCommand, isListed = true): Argv =>
    one === named && loaded !== undefined
      ? register(to, one, loaded, isListed)
      : to.command(one.usage, (isListed && one.summary) as string);

  const cli: Argv = yargs(asked)
    .scriptName('weir')
    .usage(
      '$0 <command>\n\nSimulates windowed rate limiters, load-tests them live, and compares the two cycle by cycle.',
    )
    .demandCommand(1, 'Say what to do: `weir --help` lists the commands.')
    .example('$0 simulate scenarios/burst.yaml', 'what a limiter does with a burst')
    .example('$0 replay access.log --threshold 100 --within 60', 'what it would have done to a log')
    .example('$0 load scenarios/burst.yaml', 'the same requests against a live node, compared')
    .strict()
    // The language of all other texts, for any locale of the terminal.
    .locale('en')
    .updateStrings(words as unknown as Record<string, string>)
    .version(VERSION)
    .alias('help', 'h')
    .wrap(Math.min(120, process.stdout.columns ?? 100))
    .epilogue(
      `\`weir help <topic>\` says more: ${topics.map(({ name }) => name).join(', ')}.\n\nExit codes: 0 all held; 1 an expectation did not hold; 2 wrong use or unreadable input; 3 observed differs from predicted; 4 the run is invalid; 5 the node could not be reached; 70 an internal error; 74 the disk.`,
    )
    .fail((message: string, error: Error | null | undefined) => {
      // A YError is an error of yargs: it cannot parse the arguments.
      throw error === undefined || error === null || error.name === 'YError'
        ? usageFailure(message, fixFor(message, cli, named))
        : error;
    })
    .exitProcess(false);
  for (const one of commands) add(cli, one);
  cli.command('node', 'a client of a running node: mint, machine, deploy, event, gate, …', (group) => {
    for (const one of nodeCommands) add(group, one);
    return group
      .demandCommand(1, 'Say what to do: `weir node --help` lists the commands.')
      .example('$0 node gate edge-gateway', 'ask a gate to admit one request')
      .example('$0 gate edge-gateway', 'the same: `node` may be left out')
      .epilogue('`node` may be left out: `weir node gate` and `weir gate` are the same command.');
  });
  for (const one of nodeCommands) add(cli, one, false);
  return cli;
}

/** @throws Failure `wrong_usage` for a first word that is no command, with the command that is probably meant */
function refuseUnknown([first = '-', second = '-']: readonly string[]): void {
  const isOfNode = first === 'node';
  const word = isOfNode ? second : first;
  const names = [...(isOfNode ? [] : [...commands.map(nameOf), 'node']), ...nodeCommands.map(nameOf)];
  if (word.startsWith('-') || names.includes(word)) return;
  const guess = nearest(word, names);
  const group = isOfNode ? 'weir node' : 'weir';
  throw usageFailure(
    `There is no command "${group.slice(5)}${isOfNode ? ' ' : ''}${word}".`,
    `${guess === undefined ? '' : `Did you mean \`${group} ${guess}\`? `}See \`${group} --help\`.`,
  );
}

/** `weir` and `weir help` show the help of all commands, `weir help gate` the help of one; any other word is a topic. */
function asHelp(given: readonly string[]): readonly string[] {
  if (given.length === 0) return ['--help'];
  const [first, asked] = given;
  if (first !== 'help') return given;
  const isCommand =
    asked === undefined || asked === 'node' || [...commands, ...nodeCommands].some((one) => nameOf(one) === asked);
  return isCommand ? [...given.slice(1), '--help'] : given;
}

function fixFor(message: string, at: Argv, named: ListedCommand | undefined): string {
  const see = `See \`weir ${named === undefined ? '' : `${nameOf(named)} `}--help\`.`;
  const [, unknown] = /^Unknown arguments?: ([\w-]+)/.exec(message) ?? [];
  const options = (at as unknown as { getOptions(): { key: Record<string, unknown> } }).getOptions().key;
  const guess = unknown === undefined ? undefined : nearest(unknown, Object.keys(options));
  return guess === undefined ? see : `Did you mean --${guess}? ${see}`;
}
