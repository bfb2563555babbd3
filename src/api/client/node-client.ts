// Connects to a node with the pinned key and the credentials in the user's folder.
import { wallNowMs } from '../../core/time/wall.js';
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
  /** What its user should know, about permissions and the key of the node. */
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
  const credentials = credentialsFrom(key, folder);
  const { shown, as, ...node } = await reach(givenUrl, insecure);
  try {
    const trusted = trust(node.url, shown, folder.pin, new Date(wallNowMs()).toISOString());
    await node.prove();
    if (trusted.kind !== 'known') {
      folder.pin.write(trusted.pin);
      notes.push(newKeyNote(trusted, node.url, folder.pin.path));
    }
    return { ...node, folder, notes, api: as(credentials), withSession: as(sessionFrom(folder)) };
  } catch (error) {
    await node.close();
    throw error;
  }
}

function newKeyNote(trusted: Exclude<Trust, { readonly kind: 'known' }>, url: string, path: string): string {
  const { pin } = trusted;
  if (trusted.kind === 'first')
    return `pinned the key of ${url} on first use: ${shortOf(pin.public_key)}\n  Compare it with the key that the node printed at its start; it is kept in ${path}.`;
  return `the node at ${url} has a new key, signed by the pinned one: ${shortOf(pin.successions.at(-1)?.next ?? pin.public_key)} follows ${trusted.previous}.`;
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
