// All routes. Routing, validation, GET /api/endpoints, the OpenAPI document and the authorization tests derive from this list.
import type { Route } from './route.js';
import { changeRoutes } from './routes/changes.js';
import { contractRoutes } from './routes/contracts.js';
import { countMany } from './routes/count-many.js';
import { eventRoutes } from './routes/events.js';
import { gateRoutes } from './routes/gate.js';
import { keyedRoutes } from './routes/keyed.js';
import { keyRoutes } from './routes/keys.js';
import { machineRoutes } from './routes/machines.js';
import { nodeRoutes } from './routes/node.js';
import { operatorRoutes } from './routes/operators.js';
import { pages } from './routes/pages.js';
import { recordRoutes } from './routes/record.js';
import { templateRoutes } from './routes/templates.js';

export const routes: readonly Route[] = [
  ...[...keyRoutes, ...machineRoutes, ...templateRoutes, ...contractRoutes, ...changeRoutes, ...keyedRoutes],
  ...[...eventRoutes, countMany, ...gateRoutes, ...recordRoutes, ...operatorRoutes, ...nodeRoutes, ...pages],
];
