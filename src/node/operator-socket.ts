// Operator commands to a running node, by a socket in the data folder that only its user can open. It is on no port.
//
//   weir node backup ─► DIR/weir.sock ─► POST /backup ─► {"done":640,"all":9000} … {"folder":"/…/weir.copy-x"}, which is there until it hangs up
//   weir node evict  ─► DIR/weir.sock ─► POST /evict?named=owner_x ─► {"evicted":{"owner":"owner_x","keys":1,"machines":3,"contracts":9}}
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { Failure } from '../core/schema/failure.js';
import { copyInFolder, type OnProgress, removeLeftCopies } from './backup.js';
import type { NodeContext } from './node-context.js';
import type { SqliteStore } from './store/sqlite.js';

/** Longest path of a socket in bytes: 108 with its end on Linux, 104 on macOS. */
const LONGEST_PATH = 103;

interface OperatorReply {
  readonly done?: number;
  readonly all?: number;
  readonly folder?: string;
  readonly evicted?: Evicted;
  readonly failure?: Pick<Failure, 'code' | 'what' | 'why' | 'fix'>;
}

/**
 * @param stored the database; undefined for a node of a network, which is not copied
 * @returns undefined, with a line in the log, if there can be no socket
 */
export async function openOperatorSocket(
  dir: string,
  stored: SqliteStore | undefined,
  log: Logger,
  evict: (named: string) => Promise<Evicted>,
): Promise<{ close(): void } | undefined> {
  const path = socketIn(dir);
  removeLeftCopies(dir);
  const without = 'no `weir node evict`, and no `weir node backup`';
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    log.warn({ path }, `the path is too long for a socket: ${without}`);
    return undefined;
  }
  let isBusy = false;
  const backup = async (store: SqliteStore, write: (reply: OperatorReply) => void): Promise<OperatorReply> => {
    if (isBusy) throw busy();
    isBusy = true;
    try {
      return { folder: await copyInFolder(store, (_what, done, all) => write({ done, all })) };
    } finally {
      isBusy = false;
    }
  };
  const answerTo = async ({ method, url = '' }: IncomingMessage, write: (reply: OperatorReply) => void) => {
    const { pathname, searchParams } = new URL(url, 'http://weir.sock');
    if (method !== 'POST') return undefined;
    if (pathname === '/evict') return { evicted: await evict(searchParams.get('named') ?? '') };
    return pathname === '/backup' && stored !== undefined ? backup(stored, write) : undefined;
  };
  const server = createServer((asked, response) => {
    asked.resume();
    const write = (reply: OperatorReply) => response.write(`${JSON.stringify(reply)}\n`);
    const answered = (reply: OperatorReply | undefined) => {
      if (reply === undefined) return response.writeHead(404).end();
      const { evicted, folder } = reply;
      log.info({ action: folder === undefined ? 'evict' : 'backup', ...(evicted ?? { folder }) }, 'admin action');
      write(reply);
      if (folder === undefined) return response.end();
      const remove = () => fs.rmSync(folder, { recursive: true, force: true });
      return response.destroyed ? remove() : response.on('close', remove);
    };
    const failed = (error: Error) => {
      log.warn({ err: error }, `not done: ${asked.url?.split('?', 1)[0]}`);
      write({ failure: replyOfFailure(error) });
      response.end();
    };
    answerTo(asked, write).then(answered).catch(failed);
  });
  // The folder is locked, so an existing socket is a leftover.
  fs.rmSync(path, { force: true });
  try {
    await once(server.listen({ path }), 'listening');
    fs.chmodSync(path, 0o600);
  } catch (error) {
    log.warn({ err: error }, `no socket in the data folder: ${without}`);
    return undefined;
  }
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function replyOfFailure(error: Error): NonNullable<OperatorReply['failure']> {
  const reply = { why: undefined, fix: undefined };
  if (!(error instanceof Failure)) return { ...reply, code: 'unwritable_folder', what: `${error.message}.` };
  const { code, what, why, fix } = error;
  return { code, what, why, fix };
}

function busy(): Failure {
  return new Failure('node_overloaded', {
    what: 'No backup was made.',
    why: 'Another one is under way.',
    fix: 'Wait for it.',
  });
}

/**
 * Makes the node on a data folder copy it. @param keep is given the folder of the copy, which the node removes afterwards
 * @throws Failure `node_unreachable`, and what the node answers
 */
export async function askForCopy<T>(dir: string, onProgress: OnProgress, keep: (folder: string) => T): Promise<T> {
  for await (const { done = 0, all = 0, folder } of repliesAt(dir, '/backup', 'No backup was made.')) {
    if (folder !== undefined) return keep(folder);
    onProgress('copy', done, all);
  }
  throw ended();
}

/** Makes the node on a data folder evict an owner. @throws Failure `node_unreachable`, and what the node answers */
export async function askToEvict(dir: string, named: string): Promise<Evicted> {
  const target = `/evict?${new URLSearchParams({ named })}`;
  for await (const { evicted } of repliesAt(dir, target, 'No owner was evicted.'))
    if (evicted !== undefined) return evicted;
  throw ended();
}

function ended(): Failure {
  return new Failure('node_unreachable', {
    what: 'The node ended before it had answered.',
    fix: 'Start it, and try again.',
  });
}

async function* repliesAt(dir: string, target: string, undone: string): AsyncGenerator<OperatorReply> {
  const response = await responseOf(socketIn(dir), target);
  if (!('statusCode' in response) || response.statusCode === 404)
    throw new Failure('node_unreachable', {
      what: undone,
      why: whyUnanswered(response, dir),
      fix: 'Name the data folder of a running node with --data, as its user. The files of a stopped node can be copied.',
    });
  try {
    for await (const line of createInterface({ input: response })) {
      const reply: OperatorReply = JSON.parse(line);
      if (reply.failure !== undefined) throw new Failure(reply.failure.code, reply.failure);
      yield reply;
    }
  } finally {
    response.destroy();
  }
}

function whyUnanswered(response: IncomingMessage | NodeJS.ErrnoException, dir: string): string {
  if (!('code' in response)) return 'A node of a network has its data in Redis.';
  return response.code === 'EACCES' ? `The folder ${dir} is of another user.` : `No node runs on ${dir}.`;
}

function responseOf(socketPath: string, path: string): Promise<IncomingMessage | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    request({ socketPath, method: 'POST', path }, resolve).on('error', resolve).end();
  });
}

function socketIn(dir: string): string {
  return join(dir, 'weir.sock');
}

export interface Evicted {
  readonly owner: string;
  readonly keys: number;
  readonly machines: number;
  readonly contracts: number;
}

/**
 * Revokes an owner's keys, with sessions and streams, and deletes the owner's machines.
 * @param named the owner, or a key id or machine slug of theirs @throws Failure `owner_not_found`, `store_away`
 */
export async function evict(context: NodeContext, named: string): Promise<Evicted> {
  const { host, credentials, ownership, registry } = context;
  await registry.follow?.();
  const owner = credentials.keyById(named)?.owner ?? host.machines.get(named)?.image.owner ?? named;
  const keys = credentials.keysOf(owner, '', Number.MAX_SAFE_INTEGER).filter(({ isRevoked }) => !isRevoked);
  const machines = [...ownership.machinesOf(owner)];
  if (keys.length === 0 && machines.length === 0)
    throw new Failure('owner_not_found', {
      what: 'No owner was evicted.',
      why: `"${named}" is no owner with keys or machines, no id of a key, and no slug of a machine.`,
      fix: 'The log of the node names owners; GET /api/chain/state-machines lists public machines.',
    });
  // Counted before: the node may delete machines of an owner without keys meanwhile.
  const contracts = machines.reduce((sum, machine) => sum + machine.contracts.length, 0);
  await registry.changeKeys({ changed: keys.map((key) => ({ ...key, isRevoked: true })) });
  for (const machine of machines) await registry.deleteMachine(machine);
  return { owner, keys: keys.length, machines: machines.length, contracts };
}
