// Owns the list of every route of the node. Routing, validation, GET /api/endpoints, the OpenAPI document and the tests of who may
// ask all come from it. Leaves each route to its file in routes/.
import type { Route } from './route.js';
import { listActive } from './routes/active.js';
import { createContract, deployRateLimiter, getContract, listContracts } from './routes/contracts.js';
import { countOne } from './routes/event.js';
import { countMany } from './routes/events.js';
import { gate, gateByPost } from './routes/gate.js';
import { homeIcon, homePage, homeScript, homeStyle } from './routes/home.js';
import { createMachine, getMachine, listMachines } from './routes/machines.js';
import { mintKey } from './routes/mint.js';
import { getOperator, listOperators } from './routes/operators.js';
import { readRecord, verifyRecord } from './routes/record.js';
import { listEndpoints, live, ready, showMetrics, showOpenApi, tellCycle } from './routes/self.js';
import { endSession, openSession } from './routes/session.js';
import { shift } from './routes/shift.js';
import { openStream } from './routes/stream.js';
import { inspectRateLimiter, listTemplates } from './routes/templates.js';
import { driveTransition } from './routes/transition.js';
import { publicKey } from './routes/updates.js';

export const routes: readonly Route[] = [
  mintKey,
  openSession,
  endSession,
  createMachine,
  listMachines,
  getMachine,
  listTemplates,
  inspectRateLimiter,
  deployRateLimiter,
  createContract,
  listContracts,
  getContract,
  driveTransition,
  countOne,
  countMany,
  gate,
  gateByPost,
  readRecord,
  verifyRecord,
  openStream,
  listActive,
  publicKey,
  shift,
  listOperators,
  getOperator,
  listEndpoints,
  showOpenApi,
  tellCycle,
  live,
  ready,
  showMetrics,
  homePage,
  homeScript,
  homeStyle,
  homeIcon,
];
