// `weir node clock`, `weir node endpoints`, `weir node active`: public information of a node.

import { listActive } from '../api/machines.js';
import { listEndpoints, readClock } from '../api/node.js';
import { spanWords } from '../report/words.js';
import { text, whole } from './command.js';
import { cycleMsOfNode, cyclesOf, nodeCommand } from './node-command.js';
import { table } from './terminal.js';

export const clock = nodeCommand({
  isPublic: true,
  options: {},
  examples: [['node clock', 'and when the next cycle begins']],
  run: async ({ anyone }) => {
    const answer = await anyone.call(readClock);
    const { cycle, cycle_ms, next_cycle_in_ms } = answer;
    const words = `cycle ${cycle}, of ${cycle_ms} ms; the next one begins in ${Math.ceil(next_cycle_in_ms)} ms`;
    return { answer, words };
  },
});

export const endpoints = nodeCommand({
  isPublic: true,
  options: {},
  examples: [['node endpoints', 'with authorization and purpose']],
  run: async ({ anyone }) => {
    const answer = await anyone.call(listEndpoints);
    const rows = answer.endpoints.map(({ method, path, auth, summary }) => [method, path, auth, summary]);
    return { answer, words: table(['method', 'path', 'who', 'what'], rows) };
  },
});

export const active = nodeCommand({
  isPublic: true,
  options: {
    within: text('length of the window, for example 60 or 47s (default: 60 cycles)'),
    top: whole(1, Number.MAX_SAFE_INTEGER, 'most machines to list (default: 10)'),
  },
  examples: [
    ['node active', 'within the last 60 cycles'],
    ['node active --within 45m --top 3', 'the three busiest of the last 45 minutes'],
  ],
  run: async (node, { within, top: limit }) => {
    const cycles = await cyclesOf(node, within, 'within');
    const answer = await node.anyone.call(listActive, { query: { cycles, limit } });
    const { window_cycles, cycle, machines } = answer;
    const cycleMs = await cycleMsOfNode(node);
    const rows = machines.map(({ slug, transitions, last_transition_cycle: last, contracts }) => [
      slug,
      transitions,
      last === undefined ? '–' : last >= cycle ? 'now' : `${spanWords(cycle - last, cycleMs)} ago`,
      contracts,
    ]);
    const words =
      rows.length === 0
        ? `No public machine had a transition within ${spanWords(window_cycles, cycleMs)}.`
        : table(['machine', 'transitions', 'last', 'contracts'], rows);
    return { answer, words };
  },
});
