// The endpoints of a node by name, as `WeirClient.call` and the OpenAPI document have them.
export { changeContract, promoteCandidate, showCandidate } from '../changes.js';
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
} from '../contracts.js';
export { countMany, countOne, gate, gateByPost } from '../events.js';
export { endSession, listKeys, makeKey, mintKey, openSession, revokeKey, rotateKey } from '../keys.js';
export { createMachine, deleteMachine, getMachine, listActive, listMachines } from '../machines.js';
export { listEndpoints, listLimits, listNodes, proveKey, publicKey, readClock } from '../node.js';
export { getOperator, listOperators, shift } from '../operators.js';
export { readRecord, verifyRecord } from '../record.js';
