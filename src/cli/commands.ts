// The commands, in the order in which help lists them. The file of a command is loaded only when the command is named.
import type { Command, Usage } from './command.js';

export interface ListedCommand extends Usage {
  readonly load: () => Promise<Command>;
}

export const commands: readonly ListedCommand[] = [
  {
    usage: 'simulate <scenario..>',
    summary: 'run scenarios in virtual time: what the limiter does, and whether the clients behind it drain',
    load: () => import('./simulate.js'),
  },
  {
    usage: 'replay <log..>',
    summary: 'run logs through a limiter: which requests would have been refused, when, for how long',
    load: () => import('./replay.js'),
  },
  {
    usage: 'recommend <log..>',
    summary: 'which limit fits the requests of logs: the share limited for every threshold, in one pass',
    load: () => import('./recommend.js'),
  },
  {
    usage: 'sweep <scenario>',
    summary: 'run a scenario with every value of some fields, or search for the value at which a condition holds',
    load: () => import('./sweep.js'),
  },
  {
    usage: 'map <scenario>',
    summary: 'where a service stays stuck after a trigger has gone: load by trigger, for each policy of the clients',
    load: () => import('./map.js'),
  },
  {
    usage: 'load <scenario..>',
    summary: 'send the requests of scenarios to a live node, and compare what it does with the prediction',
    load: () => import('./load.js'),
  },
  {
    usage: 'identify [url]',
    summary: 'identify a limiter and its parameters by probing it',
    load: () => import('./identify.js'),
  },
  {
    usage: 'stress',
    summary: 'saturate a node with many connections: how much does it hold',
    load: () => import('./stress.js'),
  },
  {
    usage: 'report [run..]',
    summary: 'render runs again, side by side, or against a baseline; --serve shows all of them in the browser',
    load: () => import('./report.js'),
  },
  {
    usage: 'play [scenario]',
    summary: 'the playground: sliders, a scenario as text, and what the limiter does with it, in the browser',
    load: () => import('./play.js'),
  },
  {
    usage: 'help [topic]',
    summary: 'print a page about a topic, or the help of a command',
    load: () => import('./help.js'),
  },
  { usage: 'init [file]', summary: 'write a first scenario', load: () => import('./init.js') },
  {
    usage: 'generate <scenario>',
    summary: 'print a combined log of the requests that a scenario would send',
    load: () => import('./generate.js'),
  },
  {
    usage: 'decide',
    summary: 'decide requests from standard input by any limiter, a line of JSON each',
    load: () => import('./decide.js'),
  },
  {
    usage: 'limiters',
    summary: 'list the limiters known, and what each does with a burst',
    load: () => import('./limiters.js'),
  },
  {
    usage: 'explain <limiter..>',
    summary: 'say what a limiter lets through: weir explain nginx 10r/s burst=5',
    load: () => import('./explain.js'),
  },
  {
    usage: 'self-test',
    summary: 'compare this build with published results: queues, back-off policies, retry storms, windows',
    load: () => import('./self-test.js'),
  },
  { usage: 'serve', summary: 'run a node: the whole API on a durable store', load: () => import('./serve.js') },
  {
    usage: 'up',
    summary: 'run a network of nodes over one Redis on this machine, with one port in front',
    load: () => import('./up.js'),
  },
  {
    usage: 'worker <redis>',
    summary: 'run simulations and load for machines that use --workers',
    load: () => import('./worker.js'),
  },
  {
    usage: 'backup <file>',
    summary: 'copy the data of a node, running or stopped, and verify the copy',
    load: () => import('./backup.js'),
  },
  {
    usage: 'restore <file>',
    summary: 'make a data folder from a backup, and say what it lacks',
    load: () => import('./restore.js'),
  },
  {
    usage: 'evict <owner>',
    summary: 'end an owner on a running node: their keys and their machines',
    load: () => import('./evict.js'),
  },
  {
    usage: 'rotate-key',
    summary:
      'give a stopped node a new key, signed by the present one, so that clients that pinned the old key accept it',
    load: () => import('./rotate-key.js'),
  },
  {
    usage: 'verify <record>',
    summary: 'check an exported record offline: chain, proofs, signatures',
    load: () => import('./verify.js'),
  },
  {
    usage: 'completion <shell>',
    summary: 'print a script that completes commands and options in bash, zsh or fish',
    load: () => import('./completion.js'),
  },
];

/** Clients of a node's API: `weir node gate edge`, or for short `weir gate edge`. */
export const nodeCommands: readonly ListedCommand[] = [
  {
    usage: 'mint',
    summary: 'mint a free key, and keep it for this node',
    load: async () => (await import('./mint.js')).mintCommand,
  },
  {
    usage: 'session',
    summary: 'exchange the key for a session cookie, or end the kept session',
    load: async () => (await import('./mint.js')).sessionCommand,
  },
  {
    usage: 'keys',
    summary: 'make, list, rotate or revoke keys with scopes',
    load: async () => (await import('./keys.js')).keysCommand,
  },
  {
    usage: 'machine',
    summary: 'create, list or show machines',
    load: async () => (await import('./machine.js')).machineCommand,
  },
  {
    usage: 'inspect [template]',
    summary: 'show a template: states, transitions, operators, parameters',
    load: async () => (await import('./inspect.js')).inspectCommand,
  },
  {
    usage: 'deploy <slug>',
    summary: 'put a rate limiter, or a contract of your own, onto a machine',
    load: async () => (await import('./deploy.js')).deployCommand,
  },
  {
    usage: 'transition <slug> <to>',
    summary: 'move a contract to another state, for any counts',
    load: async () => (await import('./contracts.js')).transitionCommand,
  },
  {
    usage: 'event <slug>',
    summary: 'count events in the contracts of a machine, and print the decisions',
    load: async () => (await import('./events.js')).eventCommand,
  },
  {
    usage: 'gate <slug>',
    summary: 'ask a gate to admit one request: exit code 0 admitted, 1 limited',
    load: async () => (await import('./events.js')).gateCommand,
  },
  {
    usage: 'contracts <slug> [id]',
    summary: 'list the contracts of a machine, or show one of them',
    load: async () => (await import('./contracts.js')).contractsCommand,
  },
  {
    usage: 'active',
    summary: 'rank the public machines by their recent transitions',
    load: async () => (await import('./node-queries.js')).activeCommand,
  },
  {
    usage: 'follow <slug>',
    summary: 'print what happens on a machine as it happens; resumes after an interruption',
    load: async () => (await import('./follow.js')).followCommand,
  },
  {
    usage: 'record <slug>',
    summary: 'export the record of a machine: a row a line, closed by a signed checkpoint',
    load: async () => (await import('./record.js')).recordCommand,
  },
  {
    usage: 'shift',
    summary: 'project operators over cycles: computed, proved, verified, step by step',
    load: async () => (await import('./operators.js')).shiftCommand,
  },
  {
    usage: 'operators [id]',
    summary: 'list the operators, or show one',
    load: async () => (await import('./operators.js')).operatorsCommand,
  },
  {
    usage: 'endpoints',
    summary: 'list the routes of the node',
    load: async () => (await import('./node-queries.js')).endpointsCommand,
  },
  {
    usage: 'clock',
    summary: 'show the running cycle of the node',
    load: async () => (await import('./node-queries.js')).clockCommand,
  },
];

/** The first word of its usage. */
export function nameOf({ usage }: ListedCommand): string {
  return usage.split(' ', 1)[0]!;
}
