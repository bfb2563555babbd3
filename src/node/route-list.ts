// All routes. Routing, validation, GET /api/endpoints, the OpenAPI document and the authorization tests derive from this list.
import type { Route } from './route.js';
import { changeContract, promoteCandidate, showCandidate } from './routes/changes.js';
import { createContract, deleteContract, getContract, listContracts, showStateMachine } from './routes/contracts.js';
import { countMany } from './routes/count-many.js';
import { countOne, openStream } from './routes/events.js';
import { gate, gateBelow, gateByPost } from './routes/gate.js';
import { gates, listContractKeys } from './routes/keyed.js';
import { endSession, listKeys, makeKey, mintKey, openSession, revokeKey, rotateKey } from './routes/keys.js';
import { createMachine, deleteMachine, getMachine, listActive, listMachines } from './routes/machines.js';
import { showMachineMetrics, showMetrics } from './routes/metrics.js';
import {
  listEndpoints,
  listLimits,
  listNodes,
  live,
  proveKey,
  publicKey,
  readClock,
  ready,
  showOpenApi,
} from './routes/node.js';
import { getOperator, listOperators, shift } from './routes/operators.js';
import { pages } from './routes/pages.js';
import { readRecord, verifyRecord } from './routes/record.js';
import {
  deployRateLimiter,
  deployTemplate,
  inspectRateLimiter,
  inspectTemplate,
  listTemplates,
} from './routes/templates.js';
import { driveTransition } from './routes/transition.js';

export const routes: readonly Route[] = [
  mintKey,
  makeKey,
  listKeys,
  rotateKey,
  revokeKey,
  openSession,
  endSession,
  createMachine,
  listMachines,
  getMachine,
  deleteMachine,
  listTemplates,
  inspectRateLimiter,
  inspectTemplate,
  deployRateLimiter,
  deployTemplate,
  createContract,
  listContracts,
  getContract,
  changeContract,
  promoteCandidate,
  showCandidate,
  deleteContract,
  showStateMachine,
  listContractKeys,
  driveTransition,
  countOne,
  countMany,
  gate,
  gateByPost,
  gateBelow,
  gates,
  readRecord,
  verifyRecord,
  openStream,
  listActive,
  showMachineMetrics,
  publicKey,
  proveKey,
  shift,
  listOperators,
  getOperator,
  listEndpoints,
  listLimits,
  listNodes,
  showOpenApi,
  readClock,
  live,
  ready,
  showMetrics,
  ...pages,
];
