// Connects to a node: compares its key with the pinned one, and uses the credentials that are stored for it.
import { publicKey } from '../api/node.js';
import { Failure } from '../schema/failure.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import { ApiClient, type Credentials } from './api-client.js';
import { Connection } from './http.js';
import { baseUrlFrom, NodeFolder } from './nodes-folder.js';
import { shortOf, type Trust, trust } from './pin.js';

export interface NodeClient {
  /** The base address, without a trailing slash. */
  readonly url: string;
  readonly api: ApiClient;
  /** The same without credentials. */
  readonly anyone: ApiClient;
  /** The same with the stored session, even if a key is stored, too. */
  readonly withSession: ApiClient;
  readonly folder: NodeFolder;
  readonly trusted: Trust;
  readonly clock: WallClock;
  close(): Promise<void>;
}

/**
 * @param given the address and the key as the user typed them; without a key the stored one is used
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
    const anyone = new ApiClient(connection);
    const { public_key, successions } = await anyone.call(publicKey);
    const trusted = trust(url, { public_key, successions }, folder, new Date(clock.now()).toISOString());
    return {
      url,
      folder,
      clock,
      trusted,
      anyone,
      api: new ApiClient(connection, credentials),
      withSession: new ApiClient(connection, sessionFrom(folder)),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A note for the user about the key of the node; undefined if the key is unchanged. */
export function trustNote({ trusted, url, folder }: NodeClient): string | undefined {
  const { pin } = trusted;
  switch (trusted.kind) {
    case 'known':
      return undefined;
    case 'first':
      return `pinned the key of ${url} on first use: ${shortOf(pin.public_key)}\n  Compare it with the key that the node printed at its start; it is kept in ${folder.pin.path}.`;
    case 'succeeded':
      return `the node at ${url} has a new key, signed by the pinned one: ${shortOf(pin.successions.at(-1)?.next ?? pin.public_key)} follows ${trusted.previous}.`;
  }
}

function credentialsFrom(given: string | undefined, folder: NodeFolder): Credentials {
  const key = given ?? folder.key.read()?.key;
  if (key === undefined) return sessionFrom(folder);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Failure('wrong_usage', {
      what: 'A key is one word of printable ASCII.',
      fix: 'Give it as `weir mint` prints it.',
    });
  return { authorization: `Bearer ${key}` };
}

function sessionFrom(folder: NodeFolder): Credentials {
  const session = folder.session.read();
  return session === undefined ? {} : { cookie: session.cookie };
}

function rethrow(error: unknown): never {
  throw error;
}
