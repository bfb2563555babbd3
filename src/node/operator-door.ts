// What only the operator of a running node may ask for: by a socket in the data folder, which nobody else may open. It is on no port.
//
//   weir node backup ─► DIR/weir.sock ─► POST /backup ─► {"done":640,"all":9000} … {"folder":"/…/weir.copy-x"}
//   weir node evict  ─► DIR/weir.sock ─► POST /evict?named=owner_x ─► {"evicted":{"owner":"owner_x","keys":1,"machines":3,"contracts":9}}
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { Failure } from '../schema/failure.js';
import type { SqliteStore } from '../store/sqlite.js';
import { copyInFolder, type OnProgress, removeLeftCopies } from './backup.js';
import type { Evicted } from './evict.js';

/** The path of a socket has at most so many bytes: 108 with its end on Linux, 104 on macOS. */
const LONGEST_PATH = 103;

type Evict = (named: string) => Promise<Evicted>;

interface OperatorDoor {
  close(): void;
}

/**
 * Opens the door of a data folder.
 * @param stored the database in it; a node of a network has none, and is not copied
 * @returns undefined, with a line in the log, where there can be none
 */
export async function openOperatorDoor(
  dir: string,
  stored: SqliteStore | undefined,
  log: Logger,
  evict: Evict,
): Promise<OperatorDoor | undefined> {
  const path = socketIn(dir);
  removeLeftCopies(dir);
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    log.warn(
      { path },
      'the path is too long for a socket: no `weir node evict`, and `weir node backup` needs a stopped node',
    );
    return undefined;
  }
  let isBusy = false;
  const server = createServer((asked, response) => {
    asked.resume();
    const { pathname, searchParams } = new URL(asked.url ?? '', 'http://weir.sock');
    if (asked.method === 'POST' && pathname === '/evict')
      void answerEvict(searchParams.get('named') ?? '', evict, response, log);
    else if (asked.method !== 'POST' || pathname !== '/backup' || stored === undefined) response.writeHead(404).end();
    else if (isBusy) response.writeHead(409).end();
    else {
      isBusy = true;
      void answerBackup(stored, response, log).finally(() => {
        isBusy = false;
      });
    }
  });
  // The folder is locked, so the socket of an earlier process is nobody's.
  fs.rmSync(path, { force: true });
  try {
    await once(server.listen({ path }), 'listening');
    fs.chmodSync(path, 0o600);
  } catch (error) {
    log.warn(
      { err: error },
      'no socket in the data folder: no `weir node evict`, and `weir node backup` needs a stopped node',
    );
    return undefined;
  }
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerEvict(named: string, evict: Evict, response: ServerResponse, log: Logger): Promise<void> {
  try {
    const evicted = await evict(named);
    log.info({ action: 'evict', ...evicted }, 'admin action');
    response.end(JSON.stringify({ evicted }));
  } catch (error) {
    log.warn({ err: error }, 'an owner was not evicted');
    response.end(JSON.stringify({ failure: failureSaid(error) }));
  }
}

function failureSaid(error: unknown) {
  const { what, why, fix } = error as Failure;
  return { code: error instanceof Failure ? error.code : 'unwritable_folder', what, why, fix };
}

async function answerBackup(store: SqliteStore, response: ServerResponse, log: Logger): Promise<void> {
  const write = (value: object) => response.write(`${JSON.stringify(value)}\n`);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  try {
    const folder = await copyInFolder(store, (_what, done, all) => write({ done, all }));
    log.info({ action: 'backup', folder }, 'admin action');
    if (response.destroyed) fs.rmSync(folder, { recursive: true, force: true });
    else write({ folder });
  } catch (error) {
    log.warn({ err: error }, 'a backup was not made');
    write({ failure: failureSaid(error) });
  } finally {
    response.end();
  }
}

/**
 * Has the node that runs on a data folder copy its database.
 * @returns the folder of the copy; undefined where no node with a database listens
 * @throws Failure what the node answers; `node_unreachable` if it ends meanwhile
 */
export async function askForCopy(dir: string, onProgress: OnProgress): Promise<string | undefined> {
  const response = await askAt(dir, '/backup');
  if (response === undefined || response.statusCode === 404) return undefined;
  if (response.statusCode === 409)
    throw new Failure('node_overloaded', {
      what: 'No backup was made.',
      why: 'Another one is under way.',
      fix: 'Wait for it.',
    });
  for await (const line of createInterface({ input: response })) {
    const said = JSON.parse(line);
    if (said.folder !== undefined) return said.folder;
    if (said.failure !== undefined) throw new Failure(said.failure.code, said.failure);
    onProgress('copy', said.done, said.all);
  }
  throw new Failure('node_unreachable', {
    what: 'No backup was made.',
    why: 'The node ended before the copy was complete.',
    fix: 'Try again: a stopped node is copied, too.',
  });
}

/**
 * Has the node that runs on a data folder evict an owner.
 * @param named as of `evict`
 * @throws Failure `node_unreachable` where no node listens, and what the node answers
 */
export async function askToEvict(dir: string, named: string): Promise<Evicted> {
  const response = await askAt(dir, `/evict?${new URLSearchParams({ named })}`);
  if (response === undefined)
    throw new Failure('node_unreachable', {
      what: 'No owner was evicted.',
      why: `No node runs on ${dir}.`,
      fix: 'Start it with `weir serve --data`, and try again.',
    });
  let text = '';
  for await (const chunk of response) text += chunk;
  const { evicted, failure } = JSON.parse(text);
  if (failure !== undefined) throw new Failure(failure.code, failure);
  return evicted;
}

type Answer = NodeJS.ReadableStream & { readonly statusCode?: number | undefined };

function askAt(dir: string, target: string): Promise<Answer | undefined> {
  const socketPath = socketIn(dir);
  if (!fs.existsSync(socketPath)) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method: 'POST', path: target }, resolve);
    // Left by a process that ended without closing it.
    asked.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
    );
    asked.end();
  });
}

function socketIn(dir: string): string {
  return join(dir, 'weir.sock');
}
