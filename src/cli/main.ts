#!/usr/bin/env node
// The program `weir`: parses the command line, runs the named command, and reports its failure.
import { hideBin } from 'yargs/helpers';
import { endWith } from './ending.js';
import { parserFor } from './parser.js';

// The reader of a pipe may close it early: `weir endpoints | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  const parser = await parserFor(hideBin(process.argv));
  await parser.parseAsync();
} catch (error) {
  endWith(error, process.argv.includes('--json'));
}
