// The user's configuration folder: for each address of a node, the pinned key and the stored credentials.
//
//   ~/.config/weir/                          $WEIR_CONFIG, else $XDG_CONFIG_HOME/weir
//     127.0.0.1_7770-0f1e2d3c/               one folder per address, so that files of two nodes never mix
//       pin.json                             the first public key of the node, and its successions
//       key.json                             the API key that is sent
//       key-<id>.json                        previous API keys
//       session.json                         the session that is sent if there is no key
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { makePrivate, readPrivate, writePrivate } from '../../core/files/private-file.js';
import { SuccessionShape } from '../../core/record/row.js';
import { reader } from '../../core/record/shape.js';
import { Failure } from '../../core/schema/failure.js';
import { Type } from '../../core/schema/json-schema.js';

const Pin = Type.Object({
  url: Type.String(),
  public_key: Type.String(),
  /** ISO 8601. */
  pinned_at: Type.String(),
  successions: Type.Array(SuccessionShape),
});
export type Pin = Static<typeof Pin>;

const KeptKey = Type.Object({
  url: Type.String(),
  key: Type.String(),
  key_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  owner: Type.String(),
  expires_at: Type.String(),
});
type KeptKey = Static<typeof KeptKey>;

const KeptSession = Type.Object({
  url: Type.String(),
  /** As sent: `weir_session=…`. */
  cookie: Type.String(),
  owner: Type.String(),
  expires_at: Type.String(),
});

export class NodeFolder {
  readonly path: string;
  readonly pin: KeptFile<typeof Pin>;
  readonly key: KeptFile<typeof KeptKey>;
  readonly session: KeptFile<typeof KeptSession>;

  constructor(url: string, configFolder: string = configFolderFrom(process.env)) {
    const { host } = new URL(url);
    const digest = createHash('sha256').update(url).digest('hex').slice(0, 8);
    this.path = join(configFolder, `${host.replace(/[^a-z0-9.-]/g, '_').slice(0, 100)}-${digest}`);
    this.pin = new KeptFile(join(this.path, 'pin.json'), Pin);
    this.key = new KeptFile(join(this.path, 'key.json'), KeptKey);
    this.session = new KeptFile(join(this.path, 'session.json'), KeptSession);
  }

  /** Removes the permissions of other users. @returns sentences about what was changed */
  makePrivate(): string[] {
    const files = existsSync(this.path) ? readdirSync(this.path).map((name) => join(this.path, name)) : [];
    return [dirname(this.path), this.path, ...files].flatMap((path) => makePrivate(path) ?? []);
  }

  /** Stores the current key. The previous one, which alone opens its machines, moves to the returned path. */
  replaceKey(key: KeptKey): string | undefined {
    const before = this.key.read();
    const aside = before && new KeptFile(join(this.path, `key-${before.key_id}.json`), KeptKey);
    if (before !== undefined) aside?.write(before);
    this.key.write(key);
    return aside?.path;
  }
}

class KeptFile<S extends TSchema> {
  readonly #shape: S;

  constructor(
    readonly path: string,
    shape: S,
  ) {
    this.#shape = shape;
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  read(): Static<S> | undefined {
    const file = readPrivate(this.path);
    if (file === undefined) return undefined;
    const read = reader(this.#shape)(file.value);
    if ('value' in read) return read.value;
    throw new Failure('unreadable_file', {
      what: `The file ${this.path} cannot be read.`,
      why: `It is not in the form that this program writes: ${read.fault}.`,
      fix: 'Restore it from a copy, or remove it; its content is then lost.',
    });
  }

  write(value: Static<S>): void {
    writePrivate(this.path, `${JSON.stringify(value, undefined, 2)}\n`);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** Follows the XDG Base Directory Specification, which ignores relative paths. */
export function configFolderFrom(env: NodeJS.ProcessEnv): string {
  const { WEIR_CONFIG: own, XDG_CONFIG_HOME: xdg } = env;
  if (own !== undefined && own !== '') return own;
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), '.config'), 'weir');
}
