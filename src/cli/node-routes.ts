// The commands of `weir node` that are a route and no more.
import { changeContract, promoteCandidate } from '../api/changes.js';
import { deleteContract, driveTransition, getContract, listContracts } from '../api/contracts.js';
import { countOne } from '../api/events.js';
import { listKeys, makeKey } from '../api/keys.js';
import { createMachine, deleteMachine, getMachine, listActive, listMachines } from '../api/machines.js';
import { listEndpoints, readClock } from '../api/node.js';
import { getOperator, listOperators, shift as shiftOperators } from '../api/operators.js';
import { routeCommand } from './node-route.js';

export const makeOne = routeCommand(makeKey, {
  examples: [
    ['node keys make gate --machine edge-gateway', 'for a gateway that only asks `weir node gate edge-gateway ID`'],
    ['node keys make read --for 1d --json', 'for a program that reads records for a day'],
  ],
});

export const keys = routeCommand(listKeys, {
  examples: [['node keys list', 'all of them, with the one that you use marked']],
  columns: ['key_id', 'scopes', 'machine', 'expires_at', 'revoked', 'is_own'],
});

export const create = routeCommand(createMachine, {
  examples: [
    ['node machine create edge-gateway', 'for its owner alone'],
    ['node machine create edge-gateway --set is_public=true --name "Edge gateway"', 'one that anyone may look at'],
  ],
});

export const machines = routeCommand(listMachines, {
  examples: [['node machine list', 'by slug']],
  columns: ['slug', 'is_public', 'is_own', 'contract_count', 'limiting', 'display_name'],
});

export const show = routeCommand(getMachine, {
  examples: [['node machine show edge-gateway', 'and its first contracts']],
});

export const removeMachine = routeCommand(deleteMachine, {
  examples: [['node machine delete shop', 'with its contracts; its record can be read for some time']],
});

export const active = routeCommand(listActive, {
  isPublic: true,
  examples: [
    ['node active', 'within the last 60 cycles'],
    ['node active --within 45m --top 3', 'the three busiest of the last 45 minutes'],
  ],
  columns: ['slug', 'transitions', 'last_transition_cycle', 'contracts', 'limiting'],
});

export const change = routeCommand(changeContract, {
  examples: [
    ['node change shop login --threshold 200', 'the counts stay, and so does its id'],
    ["node change shop login --limit 'nginx 10r/s burst=5'", 'another rule'],
    ['node change shop login --set candidate=null', 'check no second limit any more'],
  ],
});

export const promote = routeCommand(promoteCandidate, {
  examples: [['node promote shop login', 'the candidate limits from now on, and the limit is checked beside it']],
});

export const remove = routeCommand(deleteContract, {
  examples: [['node delete shop login', 'its name and its counts are gone, its rows stay in the record']],
});

export const contracts = routeCommand(listContracts, {
  preset: { sort: 'limiting' },
  examples: [
    ['node contracts edge-gateway', 'all of them, those that limit first'],
    ['node contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'],
  ],
  columns: ['id', 'currentState', 'name', 'threshold', 'within'],
  one: { endpoint: getContract, columns: ['seq', 'cycle', 'at', 'from', 'to', 'cause', 'emitted'] },
});

export const transition = routeCommand(driveTransition, {
  examples: [
    ['node transition edge-gateway limiting --for 60', 'close the gate for 60 cycles'],
    ['node transition edge-gateway allowing', 'the next evaluation applies the rules again'],
  ],
});

export const event = routeCommand(countOne, {
  preset: { type: 'request' },
  examples: [
    ['node event edge-gateway', 'one request'],
    ['node event edge-gateway --count 101', 'a burst'],
  ],
  columns: ['id', 'state', 'admitted', 'limited', 'count', 'threshold', 'remaining', 'retry_after_cycles', 'away'],
});

export const clock = routeCommand(readClock, {
  isPublic: true,
  examples: [['node clock', 'and when the next cycle begins']],
});

export const endpoints = routeCommand(listEndpoints, {
  isPublic: true,
  examples: [['node endpoints', 'with authorization and purpose']],
  columns: ['method', 'path', 'auth', 'summary'],
});

export const operators = routeCommand(listOperators, {
  isPublic: true,
  examples: [
    ['node operators', 'all of them'],
    ['node operators KO42', 'its equation, inputs and reference cases'],
  ],
  columns: ['id', 'kind', 'proof_required', 'equation'],
  one: { endpoint: getOperator },
});

export const shift = routeCommand(shiftOperators, {
  preset: { steps: 8 },
  examples: [['node shift --count 4 --set S=100', 'KO42 over four cycles']],
  columns: ['cycle', 'operator', 'result', 'proof_digest'],
});
