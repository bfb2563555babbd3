// Owns the list of commands, in the order in which help shows them.
import type { CommandModule } from 'yargs';
import { replayCommand } from './replay.js';
import { selfTestCommand } from './self-test.js';
import { simulateCommand } from './simulate.js';

// biome-ignore lint/suspicious/noExplicitAny: each command has options of its own; yargs takes them all in one list
export const commands: CommandModule<object, any>[] = [simulateCommand, replayCommand, selfTestCommand];
