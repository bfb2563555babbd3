// All routes. Routing, validation, GET /api/endpoints, the OpenAPI document and the authorization tests derive from this list.
import { inDomain, type Route } from './route.js';
import { changeRoutes } from './routes/changes.js';
import { contractRoutes } from './routes/contracts.js';
import { eventRoutes } from './routes/events.js';
import { gateRoutes } from './routes/gate.js';
import { keyRoutes } from './routes/keys.js';
import { machineRoutes } from './routes/machines.js';
import { nodeRoutes, proveKey, publicKey } from './routes/node.js';
import { getOperator, listOperators, shift } from './routes/operators.js';
import { pages } from './routes/pages.js';
import { recordRoutes } from './routes/record.js';
import { templateRoutes } from './routes/templates.js';

export const routes: readonly Route[] = [
  ...inDomain('keys and sessions', keyRoutes),
  ...inDomain('state machines', machineRoutes),
  ...inDomain('contract templates', templateRoutes),
  ...inDomain('contracts', [...contractRoutes, ...changeRoutes]),
  ...inDomain('events', [...eventRoutes, ...gateRoutes]),
  ...inDomain('record', recordRoutes),
  ...inDomain('operators', [listOperators, getOperator]),
  ...inDomain('compute, wizard surface', [shift]),
  ...inDomain('node', nodeRoutes),
  ...inDomain('updates', [publicKey, proveKey]),
  ...inDomain('home', pages),
];
