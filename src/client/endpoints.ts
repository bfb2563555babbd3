// The endpoints of a node by name, as `WeirClient.call` and the OpenAPI document have them.
export { changeContract, promoteCandidate, showCandidate } from '../api/changes.js';
export {
  createContract,
  deleteContract,
  deployRateLimiter,
  deployTemplate,
  driveTransition,
  getContract,
  inspectRateLimiter,
  inspectTemplate,
  listContractKeys,
  listContracts,
  listTemplates,
  showStateMachine,
} from '../api/contracts.js';
export { countMany, countOne, gate, gateByPost } from '../api/events.js';
export { endSession, listKeys, makeKey, mintKey, openSession, revokeKey, rotateKey } from '../api/keys.js';
export { createMachine, deleteMachine, getMachine, listActive, listMachines } from '../api/machines.js';
export { listEndpoints, listLimits, listNodes, proveKey, publicKey, readClock } from '../api/node.js';
export { getOperator, listOperators, shift } from '../api/operators.js';
export { readRecord, verifyRecord } from '../api/record.js';
