// Owns the list of commands, in the order in which help shows them.
import type { CommandModule } from 'yargs';
import { activeCommand } from './active.js';
import { clockCommand } from './clock.js';
import { contractsCommand } from './contracts.js';
import { deployCommand } from './deploy.js';
import { endpointsCommand } from './endpoints.js';
import { eventCommand } from './event.js';
import { followCommand } from './follow.js';
import { gateCommand } from './gate.js';
import { generateCommand } from './generate.js';
import { initCommand } from './init.js';
import { inspectCommand } from './inspect.js';
import { loadCommand } from './load.js';
import { machineCommand } from './machine.js';
import { mintCommand } from './mint.js';
import { operatorsCommand } from './operators.js';
import { recordCommand } from './record.js';
import { replayCommand } from './replay.js';
import { reportCommand } from './report.js';
import { rotateKeyCommand } from './rotate-key.js';
import { selfTestCommand } from './self-test.js';
import { serveCommand } from './serve.js';
import { sessionCommand } from './session.js';
import { shiftCommand } from './shift.js';
import { simulateCommand } from './simulate.js';
import { stressCommand } from './stress.js';
import { transitionCommand } from './transition.js';
import { verifyCommand } from './verify.js';

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
