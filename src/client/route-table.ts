// Method and path of every endpoint of `endpoints`, without its schemas: what WeirClient sends needs no more. The compiler compares each
// with its declaration in src/api.
import type { Route } from './api-client.js';
import type { endpoints } from './endpoints.js';

/** The endpoints by name, for types. */
export type Endpoints = typeof endpoints;

type RouteTable = { readonly [Name in keyof Endpoints]: Pick<Endpoints[Name], keyof Route> };

export const routes: RouteTable = {
  createContract: { method: 'POST', path: '/api/chain/{slug}/contracts' },
  deployRateLimiter: { method: 'POST', path: '/api/contracts/templates/rate-limiter/deploy' },
  driveTransition: { method: 'POST', path: '/api/chain/{slug}/contracts/{contract_id}/transition' },
  getContract: { method: 'GET', path: '/api/chain/{slug}/contracts/{contract_id}' },
  showStateMachine: { method: 'GET', path: '/api/chain/{slug}/contracts/{contract_id}/state-machine' },
  inspectRateLimiter: { method: 'GET', path: '/api/contracts/templates/rate-limiter' },
  listContracts: { method: 'GET', path: '/api/chain/{slug}/contracts' },
  listTemplates: { method: 'GET', path: '/api/contracts/templates' },
  countMany: { method: 'POST', path: '/api/chain/{slug}/events' },
  countOne: { method: 'POST', path: '/api/chain/{slug}/event' },
  gate: { method: 'GET', path: '/api/chain/{slug}/contracts/{contract_id}/gate' },
  gateByPost: { method: 'POST', path: '/api/chain/{slug}/contracts/{contract_id}/gate' },
  gates: { method: 'POST', path: '/api/chain/{slug}/gates' },
  listContractKeys: { method: 'GET', path: '/api/chain/{slug}/contracts/{contract_id}/keys' },
  endSession: { method: 'DELETE', path: '/api/session' },
  listKeys: { method: 'GET', path: '/api/keys' },
  makeKey: { method: 'POST', path: '/api/keys' },
  mintKey: { method: 'POST', path: '/api/demo-key/mint' },
  openSession: { method: 'POST', path: '/api/session' },
  revokeKey: { method: 'DELETE', path: '/api/keys/{key_id}' },
  rotateKey: { method: 'POST', path: '/api/keys/{key_id}/rotate' },
  createMachine: { method: 'POST', path: '/api/chain/state-machines' },
  getMachine: { method: 'GET', path: '/api/chain/state-machines/{slug}' },
  listActive: { method: 'GET', path: '/api/chain/active' },
  listMachines: { method: 'GET', path: '/api/chain/state-machines' },
  listEndpoints: { method: 'GET', path: '/api/endpoints' },
  listLimits: { method: 'GET', path: '/api/limits' },
  listNodes: { method: 'GET', path: '/api/nodes' },
  proveKey: { method: 'GET', path: '/api/updates/proof' },
  publicKey: { method: 'GET', path: '/api/updates/pubkey' },
  readClock: { method: 'GET', path: '/api/clock' },
  getOperator: { method: 'GET', path: '/api/operators/{id}' },
  listOperators: { method: 'GET', path: '/api/operators' },
  shift: { method: 'POST', path: '/api/core/shift' },
  readRecord: { method: 'GET', path: '/api/chain/{slug}/state' },
  verifyRecord: { method: 'GET', path: '/api/chain/{slug}/state/verify' },
};
