// `weir node backup`: a verified copy of the data of a node, which may run meanwhile.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { command, flag, text } from './command.js';
import { usageFailure } from './ending.js';
import { print } from './node-command.js';
import { json } from './options.js';
import { Progress } from './progress.js';
import { facts } from './terminal.js';

const options = {
  file: text('the backup: a new file', { place: true, required: true }),
  data: text('folder of the store', { default: './weir-data' }),
  withKey: flag('put a copy of node.json, the secret key of the node, beside it'),
  json,
};

export const backup = command({
  options,
  examples: [
    ['node backup weir.backup', 'while the node runs, or while it is stopped'],
    ['node backup /mnt/b/weir.backup --data /var/lib/weir --with-key', 'all that a new machine needs'],
  ],
  more: 'The file is an SQLite database with every machine, contract, count, row and hash of a key, as of one commit; chains, operators and signatures are verified. The key of the node is not in it: keep node.json apart, once, or give --with-key.',
  run: async ({ file, data, withKey, json }) => {
    if (!existsSync(join(data, 'node.json'))) throw usageFailure(`There is no node in ${data}: it has no node.json.`);
    const [{ copyInFolder, keepCopy, keyFileOf }, { askForCopy }, { openSqliteStore }] = await Promise.all([
      import('../node/backup.js'),
      import('../node/operator-door.js'),
      import('../store/sqlite.js'),
    ]);
    const taken = [file, ...(withKey ? [keyFileOf(file)] : [])].find((path) => existsSync(path));
    if (taken !== undefined) throw usageFailure(`${taken} is there already.`, 'Give the name of a new file.');
    const progress = new Progress('backup');
    const show = (what: string, done: number, all: number) =>
      progress.show(all === 0 ? undefined : done / all, what === 'copy' ? 'copied' : 'verified');
    try {
      const dir = resolve(data);
      let folder = await askForCopy(dir, show);
      const isLive = folder !== undefined;
      if (folder === undefined) {
        const store = openSqliteStore({ dir });
        try {
          folder = await copyInFolder(store, show);
        } finally {
          store.close();
        }
      }
      const { machines, rows, newest, fingerprint, bytes } = keepCopy(folder, dir, file, withKey, show);
      progress.clear();
      const keyFile = withKey ? keyFileOf(file) : undefined;
      const words = [
        `The backup is in ${file}: it is verified, and signed as a whole.`,
        facts([
          ['bytes', bytes],
          ['machines', machines],
          ['rows', `${rows}${newest === undefined ? '' : `, the last of ${newest}`}`],
          [
            'key',
            `${fingerprint}${keyFile === undefined ? '; not in the backup: keep node.json, too' : `, in ${keyFile}`}`,
          ],
          ['node', isLive ? 'running' : 'stopped'],
        ]),
      ].join('\n');
      const answer = {
        ok: true,
        file,
        bytes,
        machines,
        rows,
        newest_at: newest ?? null,
        fingerprint,
        key_file: keyFile ?? null,
        live: isLive,
      };
      print({ answer, words }, json);
    } finally {
      progress.clear();
    }
  },
});
