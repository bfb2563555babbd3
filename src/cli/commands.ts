// Owns the list of commands, in the order in which help shows them.
import type { CommandModule } from 'yargs';
import { activeCommand } from './client/active.js';
import { clockCommand } from './client/clock.js';
import { contractsCommand } from './client/contracts.js';
import { deployCommand } from './client/deploy.js';
import { endpointsCommand } from './client/endpoints.js';
import { eventCommand } from './client/event.js';
import { followCommand } from './client/follow.js';
import { gateCommand } from './client/gate.js';
import { inspectCommand } from './client/inspect.js';
import { machineCommand } from './client/machine.js';
import { mintCommand } from './client/mint.js';
import { operatorsCommand } from './client/operators.js';
import { recordCommand } from './client/record.js';
import { sessionCommand } from './client/session.js';
import { shiftCommand } from './client/shift.js';
import { transitionCommand } from './client/transition.js';
import { verifyCommand } from './client/verify.js';
import { generateCommand } from './generate.js';
import { initCommand } from './init.js';
import { loadCommand } from './load.js';
import { replayCommand } from './replay.js';
import { reportCommand } from './report.js';
import { rotateKeyCommand } from './rotate-key.js';
import { selfTestCommand } from './self-test.js';
import { serveCommand } from './serve.js';
import { simulateCommand } from './simulate.js';
import { stressCommand } from './stress.js';

// biome-ignore lint/suspicious/noExplicitAny: each command has options of its own; yargs takes them all in one list
export const commands: CommandModule<object, any>[] = [
  simulateCommand,
  replayCommand,
  loadCommand,
  stressCommand,
  reportCommand,
  initCommand,
  generateCommand,
  selfTestCommand,
  serveCommand,
  rotateKeyCommand,
  mintCommand,
  sessionCommand,
  machineCommand,
  inspectCommand,
  deployCommand,
  transitionCommand,
  eventCommand,
  gateCommand,
  contractsCommand,
  activeCommand,
  followCommand,
  recordCommand,
  verifyCommand,
  shiftCommand,
  operatorsCommand,
  endpointsCommand,
  clockCommand,
];
