// `weir node backup`, `restore` and `evict`: works on the data folder of a node, which may be running.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { command, flag, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { json } from '../report/command/options.js';
import { print } from '../report/command/print.js';
import { Progress } from '../report/command/progress.js';
import { facts } from '../report/command/terminal.js';
import { counted } from '../report/words.js';

const data = text('data folder of the node', { default: './weir-data' });

export const backup = command({
  options: {
    file: text('the backup: a new file', { place: true, required: true }),
    data,
    withKey: flag('put a copy of node.json, the secret key of the node, beside it'),
    json,
  },
  examples: [
    ['node backup weir.backup', 'while the node runs, or while it is stopped'],
    ['node backup /mnt/b/weir.backup --data /var/lib/weir --with-key', 'all that a new machine needs'],
  ],
  more: 'The file is an SQLite database with every machine, contract, count, row and hash of a key, as of one commit; chains, operators and signatures are verified. The key of the node is not in it: keep node.json apart, once, or give --with-key.',
  run: async ({ file, data, withKey, json }) => {
    if (!existsSync(join(data, 'node.json')))
      throw usageFailure(`There is no node in ${data}: it has no node.json.`, 'Give its data folder with --data.');
    const [{ copyInFolder, keepCopy, keyFileOf }, { askForCopy }, { openSqliteStore }] = await Promise.all([
      import('../node/backup.js'),
      import('../node/operator-socket.js'),
      import('../node/store/sqlite.js'),
    ]);
    const keyFile = withKey ? keyFileOf(file) : undefined;
    const taken = [file, keyFile].find((path) => path !== undefined && existsSync(path));
    if (taken !== undefined) throw usageFailure(`${taken} is there already.`, 'Give the name of a new file.');
    const progress = new Progress('backup');
    const show = (what: string, done: number, all: number) =>
      progress.show(all === 0 ? undefined : done / all, what === 'copy' ? 'copied' : 'verified');
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
    const key = keyFile === undefined ? '; not in the backup: keep node.json, too' : `, in ${keyFile}`;
    const words = [
      `The backup is in ${file}: it is verified, and signed as a whole.`,
      facts([
        ['bytes', bytes],
        ['machines', machines],
        ['rows', rowsWords(rows, newest)],
        ['key', `${fingerprint}${key}`],
        ['node', isLive ? 'running' : 'stopped'],
      ]),
    ].join('\n');
    const copied = { file, bytes, machines, rows, newest_at: newest ?? null, fingerprint };
    print({ answer: { ok: true, ...copied, key_file: keyFile ?? null, live: isLive }, words }, json);
  },
});

function rowsWords(rows: number, newest: string | undefined): string {
  return `${rows}${newest === undefined ? '' : `, the last of ${newest}`}`;
}

export const restore = command({
  options: {
    file: text('what `weir node backup` wrote', { place: true, required: true }),
    data: { ...data, description: 'a new or empty folder' },
    heads: text('the weir.heads of the lost folder, if it is left: the rows that are lost are then known'),
    json,
  },
  examples: [
    ['node restore weir.backup --data ./restored', 'with the key from weir.backup.node.json'],
    ['node restore weir.backup --heads old/weir.heads', 'and say what is lost since'],
  ],
  more: 'The node goes on with the same key. Rows since the backup are lost: `weir verify --checkpoint` with a signed head from after the backup shows a rollback, as it must. With --heads the node starts with --allow lost-rows alone, and says in each record what it lost. Keys that were revoked since the backup are valid again: revoke them once more.',
  run: async ({ file, data, heads, json }) => {
    const { keyFileOf, restore } = await import('../node/backup.js');
    const keyFile = keyFileOf(file);
    const progress = new Progress('restore');
    const { machines, rows, newest, fingerprint, lost } = restore(
      { file, dir: data, keyFile, heads },
      (_what, done, all) => progress.show(all === 0 ? undefined : done / all, 'verified'),
    );
    const words = [
      `The backup is restored in ${data}: it is as the node signed it.`,
      facts([
        ['machines', machines],
        ['rows', rowsWords(rows, newest)],
        ['key', fingerprint],
        ...lost.map(({ machine, fromSeq, toSeq }) => ['lost', `rows ${fromSeq} to ${toSeq} of ${machine}`] as const),
        ['lost', heads === undefined ? 'everything written after that' : undefined],
        ['start', `weir serve --data ${data}${lost.length === 0 ? '' : ' --allow lost-rows'}`],
      ]),
    ].join('\n');
    const missing = lost.map(({ machine, fromSeq: from_seq, toSeq: to_seq }) => ({ machine, from_seq, to_seq }));
    const restored = { data, machines, rows, newest_at: newest ?? null, fingerprint };
    print({ answer: { ok: true, ...restored, lost: heads === undefined ? null : missing }, words }, json);
  },
});

export const evict = command({
  options: {
    owner: text('the owner, the id of one of their keys, or the slug of one of their machines', {
      place: true,
      required: true,
    }),
    data,
    json,
  },
  examples: [
    ['node evict owner_q-Mlr-949UqR0FI9', 'as the log of the node names owners'],
    ['node evict spam-gateway --data /var/lib/weir', 'the owner of this machine'],
  ],
  more: 'Their keys are revoked, with sessions and streams, and their machines are deleted: room is free at once, and records are readable for 30 days.',
  run: async ({ owner: named, data, json }) => {
    const { askToEvict } = await import('../node/operator-socket.js');
    const evicted = await askToEvict(resolve(data), named);
    const { owner, keys, machines, contracts } = evicted;
    const words = `Evicted ${owner}: ${counted(keys, 'key')} revoked, ${counted(machines, 'machine')} deleted with ${counted(contracts, 'contract')}.`;
    print({ answer: { ok: true, ...evicted }, words }, json);
  },
});
