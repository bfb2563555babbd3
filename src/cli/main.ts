#!/usr/bin/env node
// The program `weir`.
import { hideBin } from 'yargs/helpers';
import { runCommandLine } from './parser.js';

// The reader of a pipe may close it early: `weir endpoints | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommandLine(hideBin(process.argv));
