// Method and path of every endpoint without its schemas, which WeirClient does not need. The compiler checks them against src/api.
import type { RouteAddress } from '../api/endpoint.js';
import type * as endpoints from './endpoints.js';

export type Endpoints = typeof endpoints;

type RouteTable = {
  readonly [Name in keyof Endpoints]: `${Endpoints[Name]['method']} ${Endpoints[Name]['path']}`;
};

const routes: RouteTable = {
  createContract: 'POST /api/chain/{slug}/contracts',
  deployRateLimiter: 'POST /api/contracts/templates/rate-limiter/deploy',
  deployTemplate: 'POST /api/contracts/templates/{template_id}/deploy',
  driveTransition: 'POST /api/chain/{slug}/contracts/{contract_id}/transition',
  getContract: 'GET /api/chain/{slug}/contracts/{contract_id}',
  showStateMachine: 'GET /api/chain/{slug}/contracts/{contract_id}/state-machine',
  inspectRateLimiter: 'GET /api/contracts/templates/rate-limiter',
  inspectTemplate: 'GET /api/contracts/templates/{template_id}',
  listContracts: 'GET /api/chain/{slug}/contracts',
  changeContract: 'PATCH /api/chain/{slug}/contracts/{contract_id}',
  promoteCandidate: 'POST /api/chain/{slug}/contracts/{contract_id}/promote',
  showCandidate: 'GET /api/chain/{slug}/contracts/{contract_id}/candidate',
  deleteContract: 'DELETE /api/chain/{slug}/contracts/{contract_id}',
  deleteMachine: 'DELETE /api/chain/{slug}',
  listTemplates: 'GET /api/contracts/templates',
  countMany: 'POST /api/chain/{slug}/events',
  countOne: 'POST /api/chain/{slug}/event',
  gate: 'GET /api/chain/{slug}/contracts/{contract_id}/gate',
  gateByPost: 'POST /api/chain/{slug}/contracts/{contract_id}/gate',
  gates: 'POST /api/chain/{slug}/gates',
  listContractKeys: 'GET /api/chain/{slug}/contracts/{contract_id}/keys',
  endSession: 'DELETE /api/session',
  listKeys: 'GET /api/keys',
  makeKey: 'POST /api/keys',
  mintKey: 'POST /api/demo-key/mint',
  openSession: 'POST /api/session',
  revokeKey: 'DELETE /api/keys/{key_id}',
  rotateKey: 'POST /api/keys/{key_id}/rotate',
  createMachine: 'POST /api/chain/state-machines',
  getMachine: 'GET /api/chain/state-machines/{slug}',
  listActive: 'GET /api/chain/active',
  listMachines: 'GET /api/chain/state-machines',
  listEndpoints: 'GET /api/endpoints',
  listLimits: 'GET /api/limits',
  listNodes: 'GET /api/nodes',
  proveKey: 'GET /api/updates/proof',
  publicKey: 'GET /api/updates/pubkey',
  readClock: 'GET /api/clock',
  getOperator: 'GET /api/operators/{id}',
  listOperators: 'GET /api/operators',
  shift: 'POST /api/core/shift',
  readRecord: 'GET /api/chain/{slug}/state',
  verifyRecord: 'GET /api/chain/{slug}/state/verify',
};

export function routeOf(name: keyof Endpoints): RouteAddress {
  const [method, path] = routes[name].split(' ') as [RouteAddress['method'], string];
  return { method, path };
}
