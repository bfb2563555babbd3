// The commands in help order. A command's file is loaded only when it is called.
import type { Command } from '../report/command/command.js';
import type { Besides, RouteName } from './node-route.js';

export interface Topic {
  readonly name: string;
  readonly about: string;
  /** Relative to the package. None for references of fields and commands, which are generated from schemas. */
  readonly path?: string;
}

export interface ListedCommand {
  readonly name: string;
  readonly about: string;
  readonly topics: readonly Topic[];
  readonly group: Group | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each command has options of its own
  readonly load: () => Promise<Command<any>>;
}

export const groups = [
  { title: 'ask', about: 'which limit fits, what a limiter does' },
  { title: 'run', about: 'the same scenario in virtual time and against a live node' },
  { title: 'node', about: 'run one, and ask it' },
  { title: 'more', about: 'all else' },
] as const;

type Group = (typeof groups)[number]['title'];

function of<Exports extends object>(
  load: () => Promise<Exports>,
  listed: { readonly [Export in keyof Exports]?: readonly [name: string, about: string, group?: Group] },
  ...topics: readonly Topic[]
): ListedCommand[] {
  return (Object.keys(listed) as (keyof Exports)[]).map((own) => {
    const [name, about, group] = listed[own]!;
    return { name, about, group, topics, load: async () => (await load())[own] as Command };
  });
}

/** A command of `weir node` that is a route and no more. */
function ofRoute(name: string, about: string, route: RouteName, besides: Besides): ListedCommand {
  const load = async () => (await import('./node-route.js')).routeCommand(route, besides);
  return { name, about, group: undefined, topics: [], load };
}

export const commands: readonly ListedCommand[] = [
  ...of(
    () => import('../tools/recommend/command.js'),
    {
      recommend: ['recommend', 'which limit fits logs: the share limited for every threshold, in one pass', 'ask'],
    },
    {
      name: 'limits',
      about: 'which limit fits: from a log, from a scenario, and where a service collapses',
      path: 'src/tools/recommend/limits.md',
    },
  ),
  ...of(() => import('./replay.js'), {
    replay: ['replay', 'run logs through a limiter: which requests would have been refused, when, for how long', 'ask'],
  }),
  ...of(() => import('./limiter.js'), {
    limiter: ['limiter', 'what a limiter lets through, in words and a chart; without one, all that are known', 'ask'],
  }),
  ...of(() => import('./client.js'), {
    client: ['client', 'how a client library retries, and what a limiter sees of it; without one, all of them', 'ask'],
  }),
  ...of(
    () => import('../tools/gateway/command.js'),
    {
      diff: ['diff', "what a change of a gateway's limits does: to bursts, and to the requests of a log", 'ask'],
    },
    {
      name: 'ci',
      about: 'the limit in the pull request: files of gateways, what a change refuses, a comment',
      path: 'src/tools/gateway/ci.md',
    },
    {
      name: 'move',
      about: 'moving from ingress-nginx, limit-rps: what Traefik, Envoy, kgateway, nginx and HAProxy make of it',
      path: 'src/tools/gateway/move.md',
    },
  ),
  ...of(
    () => import('../tools/identify/command.js'),
    {
      identify: ['identify', 'identify a limiter and its parameters by probing it', 'ask'],
    },
    {
      name: 'probing',
      about: 'which rule a limiter follows, and which retry policy a program',
      path: 'src/tools/identify/probing.md',
    },
  ),
  ...of(() => import('./simulate.js'), {
    simulate: ['simulate', 'run scenarios in virtual time: what the limiter does, and whether clients drain', 'run'],
  }),
  ...of(() => import('./load.js'), {
    load: ['load', 'send the requests of scenarios to a live node, and compare it with the prediction', 'run'],
    check: ['check', 'does a URL follow a limit: sends as many requests as test it, and judges', 'run'],
  }),
  ...of(() => import('../tools/play/command.js'), {
    play: ['play', 'the playground: sliders, a scenario, and what the limiter does with it, in the browser', 'run'],
  }),
  ...of(() => import('../tools/sweep/command.js'), {
    sweep: ['sweep', 'run a scenario with every value of some fields, or search for the value that holds', 'run'],
  }),
  ...of(() => import('./stress.js'), {
    stress: ['stress', 'saturate a node with many connections: how much does it hold'],
  }),
  ...of(() => import('./report.js'), {
    report: ['report', 'render runs again, side by side, or against a baseline'],
  }),
  ...of(() => import('./init.js'), { init: ['init', 'write a first scenario', 'run'] }),
  ...of(() => import('./serve.js'), { serve: ['serve', 'run a node: the whole API on a durable store', 'node'] }),
  ...of(() => import('../tools/workers/command.js'), {
    worker: ['worker', 'run simulations and load for machines that use --workers'],
  }),
  ...of(() => import('./verify.js'), {
    verify: ['verify', 'check an exported record offline: chain, proofs, signatures', 'node'],
  }),
  ...of(() => import('./node-keys.js'), {
    mint: ['node mint', 'mint a free key, and keep it for this node'],
    session: ['node session', 'exchange the key for a session cookie, or end the kept session'],
    rotate: ['node keys rotate', 'rotate a key; both stay valid for a while'],
    revoke: ['node keys revoke', 'revoke a key immediately, with its sessions and streams'],
  }),
  ofRoute('node keys make', 'make a key for what its scopes name: read, event, gate, admin', 'makeKey', {
    examples: [
      ['node keys make gate --machine edge-gateway', 'for a gateway that only asks `weir node gate edge-gateway ID`'],
      ['node keys make read --for 1d --json', 'for a program that reads records for a day'],
    ],
  }),
  ofRoute('node keys list', 'list your keys, without their secrets', 'listKeys', {
    examples: [['node keys list', 'all of them, with the one that you use marked']],
    columns: ['key_id', 'scopes', 'machine', 'expires_at', 'revoked', 'is_own'],
  }),
  ofRoute('node machine create', 'create a machine', 'createMachine', {
    examples: [
      ['node machine create edge-gateway', 'for its owner alone'],
      ['node machine create edge-gateway --set is_public=true --name "Edge gateway"', 'one that anyone may look at'],
    ],
  }),
  ofRoute('node machine list', 'list the public machines and your own', 'listMachines', {
    examples: [['node machine list', 'by slug']],
    columns: ['slug', 'is_public', 'is_own', 'contract_count', 'limiting', 'display_name'],
  }),
  ofRoute('node machine show', 'show a machine and its contracts', 'getMachine', {
    examples: [['node machine show edge-gateway', 'and its first contracts']],
  }),
  ofRoute('node machine delete', 'delete a machine with all its contracts', 'deleteMachine', {
    examples: [['node machine delete shop', 'with its contracts; its record can be read for some time']],
  }),
  ofRoute('node active', 'rank the public machines by their recent transitions', 'listActive', {
    isPublic: true,
    examples: [
      ['node active', 'within the last 60 cycles'],
      ['node active --within 45m --top 3', 'the three busiest of the last 45 minutes'],
    ],
    columns: ['slug', 'transitions', 'last_transition_cycle', 'contracts', 'limiting'],
  }),
  ...of(() => import('./node-inspect.js'), {
    inspect: ['node inspect', 'show a template: states, transitions, operators, parameters'],
  }),
  ...of(() => import('./node-contracts.js'), {
    deploy: ['node deploy', 'put a rate limiter, or a contract of your own, onto a machine'],
    candidate: [
      'node candidate',
      'check a second limit beside a contract, and list the clients they treat differently',
    ],
    gate: ['node gate', 'ask a gate to admit one request: exit code 0 admitted, 1 limited'],
  }),
  ofRoute(
    'node change',
    'change the numbers, the rule or the name of a contract; its counts and its id stay',
    'changeContract',
    {
      examples: [
        ['node change shop login --threshold 200', 'the counts stay, and so does its id'],
        ["node change shop login --limit 'nginx 10r/s burst=5'", 'another rule'],
        ['node change shop login --set candidate=null', 'check no second limit any more'],
      ],
    },
  ),
  ofRoute('node promote', 'make the candidate of a contract its limit', 'promoteCandidate', {
    examples: [['node promote shop login', 'the candidate limits from now on, and the limit is checked beside it']],
  }),
  ofRoute('node delete', 'delete a contract', 'deleteContract', {
    examples: [['node delete shop login', 'its name and its counts are gone, its rows stay in the record']],
  }),
  ofRoute('node transition', 'move a contract to another state, for any counts', 'driveTransition', {
    examples: [
      ['node transition edge-gateway limiting --for 60', 'close the gate for 60 cycles'],
      ['node transition edge-gateway allowing', 'the next evaluation applies the rules again'],
    ],
  }),
  ofRoute('node event', 'count events in the contracts of a machine, and print the decisions', 'countOne', {
    preset: { type: 'request' },
    examples: [
      ['node event edge-gateway', 'one request'],
      ['node event edge-gateway --count 101', 'a burst'],
    ],
    columns: ['id', 'state', 'admitted', 'limited', 'count', 'threshold', 'remaining', 'retry_after_cycles', 'away'],
  }),
  ofRoute('node contracts', 'list the contracts of a machine, or show one of them', 'listContracts', {
    preset: { sort: 'limiting' },
    examples: [
      ['node contracts edge-gateway', 'all of them, those that limit first'],
      ['node contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'],
    ],
    columns: ['id', 'currentState', 'name', 'threshold', 'within'],
    one: { route: 'getContract', columns: ['seq', 'cycle', 'at', 'from', 'to', 'cause', 'emitted'] },
  }),
  ...of(() => import('./node-record.js'), {
    follow: ['node follow', 'print what happens on a machine as it happens; resumes after an interruption'],
    record: ['node record', 'export the record of a machine: a row a line, closed by a signed checkpoint'],
  }),
  ...of(() => import('./node-data.js'), {
    backup: ['node backup', 'copy the data of a running node, and verify the copy'],
    restore: ['node restore', 'make a data folder from a backup, and say what it lacks'],
    evict: ['node evict', 'end an owner on a running node: their keys and their machines'],
  }),
  ofRoute('node shift', 'project operators over cycles: computed, proved, verified, step by step', 'shift', {
    preset: { steps: 8 },
    examples: [['node shift --count 4 --set S=100', 'KO42 over four cycles']],
    columns: ['cycle', 'operator', 'result', 'proof_digest'],
  }),
  ofRoute('node operators', 'list the operators, or show one', 'listOperators', {
    isPublic: true,
    examples: [
      ['node operators', 'all of them'],
      ['node operators KO42', 'its equation, inputs and reference cases'],
    ],
    columns: ['id', 'kind', 'proof_required', 'equation'],
    one: { route: 'getOperator' },
  }),
  ofRoute('node endpoints', 'list the routes of the node', 'listEndpoints', {
    isPublic: true,
    examples: [['node endpoints', 'with authorization and purpose']],
    columns: ['method', 'path', 'auth', 'summary'],
  }),
  ofRoute('node clock', 'show the running cycle of the node', 'readClock', {
    isPublic: true,
    examples: [['node clock', 'and when the next cycle begins']],
  }),
  ...of(() => import('./completion.js'), {
    completion: ['completion', 'print a script that completes commands and options in bash, zsh or fish'],
  }),
];

/** The command that these words begin with. */
export function namedBy(words: readonly string[], among = commands): ListedCommand | undefined {
  return among.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `));
}
