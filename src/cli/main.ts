#!/usr/bin/env node
// The program `weir`.
import { runCommandLine } from './program.js';

// The reader of a pipe may close it early: `weir node endpoints | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommandLine(process.argv.slice(2));
