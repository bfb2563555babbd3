// `weir clock`, `weir endpoints`, `weir active`: public information of a node.

import { listActive } from '../api/machines.js';
import { listEndpoints, readClock } from '../api/node.js';
import { spanWords } from '../report/words.js';
import { cycleMsOfNode, cyclesOf, nodeCommand } from './node-command.js';
import { table } from './terminal.js';

export const clockCommand = nodeCommand({
  isPublic: true,
  options: (yargs) => yargs.example('$0 clock', 'and when the next cycle begins'),
  run: async ({ anyone }) => {
    const answer = await anyone.call(readClock);
    const { cycle, cycle_ms, next_cycle_in_ms } = answer;
    const words = `cycle ${cycle}, of ${cycle_ms} ms; the next one begins in ${Math.ceil(next_cycle_in_ms)} ms`;
    return { answer, words };
  },
});

export const endpointsCommand = nodeCommand({
  isPublic: true,
  options: (yargs) => yargs.example('$0 endpoints', 'with authorization and purpose'),
  run: async ({ anyone }) => {
    const answer = await anyone.call(listEndpoints);
    const rows = answer.endpoints.map(({ method, path, auth, summary }) => [method, path, auth, summary]);
    return { answer, words: table(['method', 'path', 'who', 'what'], rows) };
  },
});

export const activeCommand = nodeCommand({
  isPublic: true,
  options: (yargs) =>
    yargs
      .option('cycles', {
        type: 'string',
        requiresArg: true,
        describe: 'length of the window, for example 60 or 47s (default: 60 cycles)',
      })
      .option('limit', { type: 'number', requiresArg: true, describe: 'most machines to list (default: 10)' })
      .example('$0 active', 'within the last 60 cycles')
      .example('$0 active --cycles 45m --limit 3', 'the three busiest of the last 45 minutes'),
  run: async (node, { cycles: within, limit }) => {
    const cycles = await cyclesOf(node, within, 'cycles');
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
