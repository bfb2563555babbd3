// Owns a node as a command knows it: reached, its key held against the pinned one, spoken to with the credentials kept for it.
// Leaves asking to api.ts, trust to pin.ts.

import { usageFailure } from '../cli/ending.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import { Api, type Credentials } from './api.js';
import { baseUrlFrom } from './base-url.js';
import { Connection } from './http.js';
import { NodeFolder } from './nodes-folder.js';
import { shortOf, type Trust, trust } from './pin.js';

export interface NodeClient {
  /** The base address, without a slash at its end. */
  readonly url: string;
  readonly api: Api;
  /** The same with nothing that says who asks. */
  readonly anyone: Api;
  /** The same with the session that is kept, whatever key there is. */
  readonly withSession: Api;
  readonly folder: NodeFolder;
  readonly trusted: Trust;
  readonly clock: WallClock;
  close(): Promise<void>;
}

/**
 * @param given the address and the key as the person gave them; without a key the one that is kept
 * @throws Failure `wrong_usage`, `node_unreachable`, `key_changed`
 */
export async function connect({
  url: givenUrl,
  key,
}: {
  readonly url: string;
  readonly key?: string | undefined;
}): Promise<NodeClient> {
  const url = baseUrlFrom(givenUrl);
  const folder = new NodeFolder(url);
  const clock = new WallClock(CYCLE_MS, { onError: rethrow });
  const credentials = credentialsFrom(key, folder);
  const connection = new Connection(url);
  try {
    const anyone = new Api(connection);
    const { public_key, successions = [] } = await anyone.publicKey();
    const trusted = trust(url, { public_key, successions }, folder, new Date(clock.now()).toISOString());
    return {
      url,
      folder,
      clock,
      trusted,
      anyone,
      api: new Api(connection, credentials),
      withSession: new Api(connection, sessionFrom(folder)),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** What a person should know about the key of the node; undefined when it is the one that was there before. */
export function trustNote({ trusted, url, folder }: NodeClient): string | undefined {
  const { pin } = trusted;
  switch (trusted.kind) {
    case 'known':
      return undefined;
    case 'first':
      return `pinned the key of ${url} on first use: ${shortOf(pin.public_key)}\n  Compare it with what the node printed at its start; it is kept in ${folder.pin.path}.`;
    case 'succeeded':
      return `the node at ${url} has a new key, named by the pinned one: ${shortOf(pin.successions.at(-1)?.next ?? pin.public_key)} follows ${trusted.previous}.`;
  }
}

function credentialsFrom(given: string | undefined, folder: NodeFolder): Credentials {
  const key = given ?? folder.key.read()?.key;
  if (key === undefined) return sessionFrom(folder);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageFailure('A key is one word of printable ASCII, as `weir mint` prints it.');
  return { authorization: `Bearer ${key}` };
}

function sessionFrom(folder: NodeFolder): Credentials {
  const session = folder.session.read();
  return session === undefined ? {} : { cookie: session.cookie };
}

function rethrow(error: unknown): never {
  throw error;
}
