#!/usr/bin/env node
// The program `weir`.
import { unwritableFailure } from '../core/schema/unwritable.js';
import { endWith } from '../report/command/exit-codes.js';
import { runCommandLine } from './program.js';

// The reader of a pipe may close it early: `weir node endpoints | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE')
    endWith(unwritableFailure('Standard output', error, 'Make room on the disk, or send it elsewhere.'), false);
  process.exit();
});

await runCommandLine(process.argv.slice(2));
