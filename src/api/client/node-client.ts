// Connects to a node with the pinned key and the credentials in the user's folder.
import { CYCLE_MS } from '../../core/time/cycle.js';
import { WallClock } from '../../core/time/wall.js';
import type { ApiClient, CredentialHeaders } from './api-client.js';
import { baseUrlFrom } from './base-url.js';
import { bearer, type Reached, reach } from './connect.js';
import { NodeFolder } from './nodes-folder.js';
import { shortOf, type Trust, trust } from './pin.js';

export interface NodeClient extends Omit<Reached, 'shown' | 'as'> {
  readonly api: ApiClient;
  /** Uses the stored session even if a key is stored. */
  readonly withSession: ApiClient;
  readonly folder: NodeFolder;
  readonly trusted: Trust;
  readonly clock: WallClock;
  readonly notes: readonly string[];
}

/** Default key: the stored one. @throws Failure `wrong_usage`, `node_unreachable`, `key_changed`, `key_unproved` */
export async function connectFromFolder({
  url: givenUrl,
  key,
  insecure,
}: {
  readonly url: string;
  readonly key?: string | undefined;
  readonly insecure: boolean;
}): Promise<NodeClient> {
  const folder = new NodeFolder(baseUrlFrom(givenUrl));
  const notes = folder.makePrivate();
  const onError = (error: unknown) => {
    throw error;
  };
  const clock = new WallClock(CYCLE_MS, { onError });
  const credentials = credentialsFrom(key, folder);
  const { shown, as, ...node } = await reach(givenUrl, insecure);
  try {
    const trusted = trust(node.url, shown, folder.pin, new Date(clock.now()).toISOString());
    await node.prove();
    if (trusted.kind !== 'known') folder.pin.write(trusted.pin);
    return { ...node, folder, clock, trusted, notes, api: as(credentials), withSession: as(sessionFrom(folder)) };
  } catch (error) {
    await node.close();
    throw error;
  }
}

/** A note for the user about a new key; undefined if the key is unchanged. */
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

function credentialsFrom(given: string | undefined, folder: NodeFolder): CredentialHeaders {
  const key = given ?? folder.key.read()?.key;
  if (key === undefined) return sessionFrom(folder);
  return bearer(key);
}

function sessionFrom(folder: NodeFolder): CredentialHeaders {
  const session = folder.session.read();
  return session === undefined ? {} : { cookie: session.cookie };
}
