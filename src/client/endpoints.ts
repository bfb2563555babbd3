// The endpoints of a node by name, as `WeirClient.call` and the OpenAPI document have them.
import { changeContract, promoteCandidate, showCandidate } from '../api/changes.js';
import {
  createContract,
  deleteContract,
  deployRateLimiter,
  deployTemplate,
  driveTransition,
  getContract,
  inspectRateLimiter,
  inspectTemplate,
  listContracts,
  listTemplates,
  showStateMachine,
} from '../api/contracts.js';
import { countMany, countOne, gate, gateByPost } from '../api/events.js';
import { gates, listContractKeys } from '../api/keyed.js';
import { endSession, listKeys, makeKey, mintKey, openSession, revokeKey, rotateKey } from '../api/keys.js';
import { createMachine, deleteMachine, getMachine, listActive, listMachines } from '../api/machines.js';
import { listEndpoints, listLimits, listNodes, proveKey, publicKey, readClock } from '../api/node.js';
import { getOperator, listOperators, shift } from '../api/operators.js';
import { readRecord, verifyRecord } from '../api/record.js';

export const endpoints = {
  ...{ createContract, deployRateLimiter, driveTransition, getContract, inspectRateLimiter, listContracts },
  ...{
    showStateMachine,
    deployTemplate,
    inspectTemplate,
    listTemplates,
    countMany,
    countOne,
    gate,
    gateByPost,
    endSession,
    listKeys,
    makeKey,
    mintKey,
    openSession,
  },
  ...{
    revokeKey,
    rotateKey,
    createMachine,
    getMachine,
    listActive,
    listMachines,
    listEndpoints,
    listLimits,
    listNodes,
    proveKey,
  },
  ...{ changeContract, promoteCandidate, showCandidate, deleteContract, deleteMachine },
  ...{ gates, listContractKeys, publicKey, readClock, getOperator, listOperators, shift, readRecord, verifyRecord },
} as const;
