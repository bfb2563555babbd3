// The commands, in the order in which help lists them. The file of a command is loaded only when the command is named.
import type { Command } from './command.js';

export interface ListedCommand {
  /** After `weir`: `simulate`, `node keys make`. */
  readonly name: string;
  readonly about: string;
  /** Where the first page of help lists it; elsewhere if undefined. */
  readonly group?: (typeof groups)[number]['title'];
  // biome-ignore lint/suspicious/noExplicitAny: each command has options of its own
  readonly load: () => Promise<Command<any>>;
}

export const groups = [
  { title: 'ask', about: 'which limit fits, what a limiter does' },
  { title: 'run', about: 'the same scenario in virtual time and against a live node' },
  { title: 'node', about: 'run one, and ask it' },
  { title: 'more', about: 'all else' },
] as const;

export const commands: readonly ListedCommand[] = [
  {
    name: 'recommend',
    about: 'which limit fits the requests of logs: the share limited for every threshold, in one pass',
    group: 'ask',
    load: async () => (await import('./recommend.js')).recommend,
  },
  {
    name: 'replay',
    about: 'run logs through a limiter: which requests would have been refused, when, for how long',
    group: 'ask',
    load: async () => (await import('./replay.js')).replay,
  },
  {
    name: 'limiter',
    about: 'what a limiter lets through, in words and a chart; without one, all that are known',
    group: 'ask',
    load: async () => (await import('./limiter.js')).limiter,
  },
  {
    name: 'client',
    about: 'how a client library retries, and what a limiter sees of it; without one, all that are known',
    group: 'ask',
    load: async () => (await import('./client.js')).client,
  },
  {
    name: 'diff',
    about:
      "what a change of a gateway's limits does: which limits differ, what a burst passes, which requests of a log it refuses",
    group: 'ask',
    load: async () => (await import('./diff.js')).diff,
  },
  {
    name: 'identify',
    about: 'identify a limiter and its parameters by probing it',
    group: 'ask',
    load: async () => (await import('./identify.js')).identify,
  },
  {
    name: 'simulate',
    about: 'run scenarios in virtual time: what the limiter does, and whether the clients behind it drain',
    group: 'run',
    load: async () => (await import('./simulate.js')).simulate,
  },
  {
    name: 'load',
    about: 'send the requests of scenarios to a live node, and compare what it does with the prediction',
    group: 'run',
    load: async () => (await import('./load.js')).load,
  },
  {
    name: 'play',
    about: 'the playground: sliders, a scenario as text, and what the limiter does with it, in the browser',
    group: 'run',
    load: async () => (await import('./play.js')).play,
  },
  {
    name: 'sweep',
    about: 'run a scenario with every value of some fields, or search for the value at which a condition holds',
    group: 'run',
    load: async () => (await import('./sweep.js')).sweep,
  },
  {
    name: 'stress',
    about: 'saturate a node with many connections: how much does it hold',
    load: async () => (await import('./stress.js')).stress,
  },
  {
    name: 'report',
    about: 'render runs again, side by side, or against a baseline; --serve shows all of them in the browser',
    group: 'run',
    load: async () => (await import('./report.js')).report,
  },
  { name: 'init', about: 'write a first scenario', group: 'run', load: async () => (await import('./init.js')).init },
  {
    name: 'serve',
    about: 'run a node: the whole API on a durable store',
    group: 'node',
    load: async () => (await import('./serve.js')).serve,
  },
  {
    name: 'worker',
    about: 'run simulations and load for machines that use --workers',
    load: async () => (await import('./worker.js')).worker,
  },
  {
    name: 'verify',
    about: 'check an exported record offline: chain, proofs, signatures',
    group: 'node',
    load: async () => (await import('./verify.js')).verify,
  },
  {
    name: 'node mint',
    about: 'mint a free key, and keep it for this node',
    load: async () => (await import('./mint.js')).mint,
  },
  {
    name: 'node session',
    about: 'exchange the key for a session cookie, or end the kept session',
    load: async () => (await import('./mint.js')).session,
  },
  {
    name: 'node keys make',
    about: 'make a key for what its scopes name: read, event, gate, admin',
    load: async () => (await import('./keys.js')).makeKeys,
  },
  {
    name: 'node keys list',
    about: 'list your keys, without their secrets',
    load: async () => (await import('./keys.js')).listOfKeys,
  },
  {
    name: 'node keys rotate',
    about: 'rotate a key; both stay valid for a while',
    load: async () => (await import('./keys.js')).rotate,
  },
  {
    name: 'node keys revoke',
    about: 'revoke a key immediately, with its sessions and streams',
    load: async () => (await import('./keys.js')).revoke,
  },
  {
    name: 'node machine create',
    about: 'create a machine',
    load: async () => (await import('./machine.js')).create,
  },
  {
    name: 'node machine list',
    about: 'list the public machines and your own',
    load: async () => (await import('./machine.js')).list,
  },
  {
    name: 'node machine show',
    about: 'show a machine and its contracts',
    load: async () => (await import('./machine.js')).show,
  },
  {
    name: 'node inspect',
    about: 'show a template: states, transitions, operators, parameters',
    load: async () => (await import('./inspect.js')).inspect,
  },
  {
    name: 'node deploy',
    about: 'put a rate limiter, or a contract of your own, onto a machine',
    load: async () => (await import('./deploy.js')).deploy,
  },
  {
    name: 'node change',
    about: 'change the numbers, the rule or the name of a contract in place: its counts and its id stay',
    load: async () => (await import('./change.js')).change,
  },
  {
    name: 'node candidate',
    about: 'check a second limit beside a contract, and list the clients that the two would treat differently',
    load: async () => (await import('./change.js')).candidate,
  },
  {
    name: 'node promote',
    about: 'make the candidate of a contract its limit',
    load: async () => (await import('./change.js')).promote,
  },
  {
    name: 'node machine delete',
    about: 'delete a machine with all its contracts',
    load: async () => (await import('./change.js')).removeMachine,
  },
  {
    name: 'node delete',
    about: 'delete a contract',
    load: async () => (await import('./change.js')).remove,
  },
  {
    name: 'node transition',
    about: 'move a contract to another state, for any counts',
    load: async () => (await import('./contracts.js')).transition,
  },
  {
    name: 'node event',
    about: 'count events in the contracts of a machine, and print the decisions',
    load: async () => (await import('./events.js')).event,
  },
  {
    name: 'node gate',
    about: 'ask a gate to admit one request: exit code 0 admitted, 1 limited',
    load: async () => (await import('./events.js')).gate,
  },
  {
    name: 'node contracts',
    about: 'list the contracts of a machine, or show one of them',
    load: async () => (await import('./contracts.js')).contracts,
  },
  {
    name: 'node active',
    about: 'rank the public machines by their recent transitions',
    load: async () => (await import('./node-queries.js')).active,
  },
  {
    name: 'node follow',
    about: 'print what happens on a machine as it happens; resumes after an interruption',
    load: async () => (await import('./follow.js')).followMachine,
  },
  {
    name: 'node record',
    about: 'export the record of a machine: a row a line, closed by a signed checkpoint',
    load: async () => (await import('./record.js')).record,
  },
  {
    name: 'node backup',
    about: 'copy the data of a node, running or stopped, and verify the copy',
    load: async () => (await import('./backup.js')).backup,
  },
  {
    name: 'node restore',
    about: 'make a data folder from a backup, and say what it lacks',
    load: async () => (await import('./restore.js')).restore,
  },
  {
    name: 'node evict',
    about: 'end an owner on a running node: their keys and their machines',
    load: async () => (await import('./evict.js')).evict,
  },
  {
    name: 'node shift',
    about: 'project operators over cycles: computed, proved, verified, step by step',
    load: async () => (await import('./operators.js')).shiftOperators,
  },
  {
    name: 'node operators',
    about: 'list the operators, or show one',
    load: async () => (await import('./operators.js')).operators,
  },
  {
    name: 'node endpoints',
    about: 'list the routes of the node',
    load: async () => (await import('./node-queries.js')).endpoints,
  },
  {
    name: 'node clock',
    about: 'show the running cycle of the node',
    load: async () => (await import('./node-queries.js')).clock,
  },
  {
    name: 'self-test',
    about: 'compare this build with published results: queues, back-off policies, retry storms, windows',
    load: async () => (await import('./self-test.js')).selfTest,
  },
  {
    name: 'completion',
    about: 'print a script that completes commands and options in bash, zsh or fish',
    load: async () => (await import('./completion.js')).completion,
  },
];
