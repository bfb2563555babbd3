// `weir up`: a network of nodes on this machine, to try it: Redis from the PATH, nodes as processes, and one port in front of them.
//
//   client ─► front port ─► node 1, 2, 3 in turn ─► Redis          a connection that a node does not take goes to the next

import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import { makeFolder } from '../store/make-folder.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { aborted, interruptible } from './interrupt.js';
import { jsonOption } from './options.js';
import { say } from './say.js';

const DEFAULT_PORT = 7770;
const MOST_NODES = 32;

export const options = (yargs: Argv) =>
  yargs
    .option('nodes', { type: 'number', default: 3, requiresArg: true, describe: 'how many' })
    .option('port', {
      type: 'number',
      default: DEFAULT_PORT,
      requiresArg: true,
      describe: 'in front; 0 takes any free',
    })
    .option('data', {
      type: 'string',
      default: './weir-network',
      requiresArg: true,
      describe: 'folder of Redis and of the key of the network, made when missing',
    })
    .option('store', {
      type: 'string',
      requiresArg: true,
      describe: 'a Redis that runs already (default: redis-server is started)',
    })
    .option('cycle-ms', { type: 'number', requiresArg: true, describe: 'length of a cycle in ms (default: 777)' })
    .option('json', jsonOption)
    .example('$0 up --nodes 3', `three nodes, on http://127.0.0.1:${DEFAULT_PORT} together`)
    .example('$0 up --store redis+cluster://10.0.0.1:7000', 'over a cluster that is there');

type Given = GivenTo<typeof options>;

interface StartedNode {
  readonly url: string;
  readonly fingerprint: string;
}

interface Front {
  readonly port: number;
  close(): void;
}

/** Runs until the first SIGINT or SIGTERM; then the nodes finish their requests, and Redis ends last. */
export async function run({ nodes: count, port, data, store, cycleMs, json }: Given): Promise<void> {
  if (!(Number.isInteger(count) && count >= 1 && count <= MOST_NODES))
    throw usageFailure(`--nodes takes a whole number from 1 to ${MOST_NODES}.`);
  const interrupt = interruptible();
  const dir = resolve(data);
  const nodes: StartedNode[] = [];
  const servers: ChildProcess[] = [];
  const processes: ChildProcess[] = [];
  let front: Front | undefined;
  try {
    // First: a network that runs already with this port is not started a second time on its folder.
    front = await listen(nodes, port);
    makeFolder(dir, 0o700);
    const url = store ?? (await startRedis(dir, servers));
    const serve = [process.argv[1]!, 'serve', '--store', url, '--data', join(dir, 'key'), '--port', '0', '--json'];
    const args = cycleMs === undefined ? serve : [...serve, '--cycle-ms', String(cycleMs)];
    // The first makes the key that all of them sign with.
    nodes.push(await startNode(args, processes));
    nodes.push(...(await Promise.all(Array.from({ length: count - 1 }, () => startNode(args, processes)))));
    const address = `http://127.0.0.1:${front.port}`;
    const facts = {
      ok: true,
      url: address,
      store: url,
      nodes: nodes.map((one) => one.url),
      fingerprint: nodes[0]!.fingerprint,
    };
    say(json ? `${JSON.stringify(facts)}\n` : words(facts));
    await aborted(interrupt.signal);
  } finally {
    front?.close();
    for (const some of [processes, servers]) await Promise.all(some.map((one) => ended(one, 'SIGTERM')));
    interrupt.release();
  }
}

function words({
  url,
  store,
  nodes,
  fingerprint,
}: {
  url: string;
  store: string;
  nodes: string[];
  fingerprint: string;
}): string {
  const lines = [
    `${nodes.length} nodes of weir listen on ${url}, in turn`,
    ...nodes.map((node) => `  node    ${node}`),
  ];
  return `${[...lines, `  store   ${store}`, `  key     ${fingerprint}`, 'ready; Ctrl-C ends it'].join('\n')}\n`;
}

/** Another process may take the port that was free. */
const MOST_TRIES = 5;

/** How long a call may take. All of this stands on one machine: where that is busy, Redis is late and not away. */
const DEADLINE_MS = 2_000;

/** A server of its own, that writes what it is given to its disk once a second. @param started it is added here @returns its URL */
async function startRedis(dir: string, started: ChildProcess[]): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'yes'];
    // In a group of its own: Ctrl-C is for this process, which ends the nodes first.
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    started.push(server);
    const why = await readyOrWords(server);
    if (why === undefined) return `redis://127.0.0.1:${port}?deadline_ms=${DEADLINE_MS}`;
    if (tries < MOST_TRIES && /in use/i.test(why)) continue;
    throw new Failure('store_away', {
      what: 'Redis was not started.',
      why,
      fix: 'Install it (Debian: apt install redis-server), or name one that runs with --store redis://….',
    });
  }
}

/** @returns why Redis does not take connections: its last words; undefined once it does */
function readyOrWords(server: ChildProcess): Promise<string | undefined> {
  return new Promise((done) => {
    let said = '';
    server.stdout!.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
      if (said.includes('Ready to accept connections')) done(undefined);
    });
    server.on('error', ({ message }) => done(`redis-server cannot be run: ${message}.`));
    server.on('close', (code) => {
      const words = said.trimEnd().split('\n').slice(-3);
      // Without process, role and time.
      const last = words.map((line) => line.replace(/^\d+:\w .*? [*#.-] /, '')).join(' ');
      done(`It ended with exit code ${code}${last === '' ? '' : `: ${last}`}`);
    });
  });
}

/** One `weir serve --json`: it is ready when it says where it listens. */
function startNode(args: readonly string[], started: ChildProcess[]): Promise<StartedNode> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  started.push(child);
  return new Promise((done, failed) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end < 0) return;
      const { url, fingerprint } = JSON.parse(text.slice(0, end)) as { url: string; fingerprint: string };
      done({ url, fingerprint });
    });
    child.on('exit', (code) =>
      failed(
        new Failure('node_unreachable', { what: 'A node did not start.', why: `It ended with exit code ${code}.` }),
      ),
    );
  });
}

/** Hands each connection to the next node. */
async function listen(nodes: readonly StartedNode[], port: number): Promise<Front> {
  let next = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('close', () => open.delete(client)).on('error', () => client.destroy());
    const hand = (tries: number) => {
      if (tries === 0) return client.destroy();
      const { port: of } = new URL(nodes[next++ % nodes.length]!.url);
      const node = connect(Number(of), '127.0.0.1');
      let isOpen = false;
      node.on('connect', () => {
        isOpen = true;
        client.pipe(node).pipe(client);
      });
      node.on('error', () => (isOpen ? client.destroy() : hand(tries - 1)));
      client.on('close', () => node.destroy());
      return undefined;
    };
    // None before the first is there.
    hand(nodes.length);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', (error) =>
      failed(
        new Failure('port_in_use', {
          what: `The port ${port} cannot be listened on.`,
          why: `${error.message}.`,
          fix: 'Choose another with --port; 0 takes any that is free.',
        }),
      ),
    );
    server.listen(port, '127.0.0.1', done);
  });
  const close = () => {
    server.close();
    for (const client of open) client.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  const over = new Promise((done) => child.once('exit', done));
  child.kill(signal);
  return over;
}
