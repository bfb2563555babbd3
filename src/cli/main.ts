#!/usr/bin/env node
// Owns the command line: which commands there are, and how every one of them ends. Leaves what a command does to its own file,
// which is loaded only when it is called: `--help` has to be there at once.
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { VERSION } from '../version.js';
import { commands } from './commands.js';
import { hideDash } from './dash.js';
import { endWith, usageFailure } from './ending.js';

const given = hideDash(hideBin(process.argv));

/** Where the words of yargs are not those that a newcomer needs. Its types do not know that a text can have a plural. */
const tooFew = 'Something is missing: %s given after the command, and it takes at least %s';
const words = { 'Not enough non-option arguments: got %s, need at least %s': { one: tooFew, other: tooFew } };

// Whoever says nothing is asking what there is to say.
const cli = yargs(given.length === 0 ? ['--help'] : given)
  .scriptName('weir')
  .usage('$0 <command>\n\nSimulates windowed rate limiters, load-tests them live, and compares the two cycle by cycle.')
  .command(commands)
  .demandCommand(1, 'Say what to do: `weir --help` lists the commands.')
  .example('$0 simulate scenarios/burst.yaml', 'what a limiter does with a burst')
  .example('$0 replay access.log --threshold 100 --within 60', 'what it would have done to a log')
  .example('$0 load scenarios/burst.yaml', 'the same requests against a live node, compared')
  .strict()
  .recommendCommands()
  // One language for all: that of our own words, whatever the locale of the terminal is.
  .locale('en')
  .updateStrings(words as unknown as Record<string, string>)
  .completion('completion', 'prints a script for the completion of commands by the shell')
  .version(VERSION)
  .alias('help', 'h')
  .wrap(Math.min(120, process.stdout.columns ?? 100))
  .epilogue(
    'Exit codes: 0 all held; 1 an expectation did not hold; 2 wrong use or unreadable input; 3 observed differs from predicted;\n4 the run is invalid; 5 the node could not be reached; 70 a bug of ours.',
  )
  .fail((message, error) => {
    // What yargs itself cannot read it throws as a YError.
    throw error === undefined || error === null || error.name === 'YError'
      ? usageFailure(message, helpOf(given[0]))
      : error;
  })
  .exitProcess(false);

// Whoever reads us may have seen enough: `weir endpoints | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await cli.parseAsync();
} catch (error) {
  endWith(error, process.argv.includes('--json'));
}

function helpOf(word: string | undefined): string {
  const isCommand = commands.some(({ command }) => String(command).split(' ')[0] === word);
  return `See \`weir ${isCommand ? `${word} ` : ''}--help\`.`;
}
