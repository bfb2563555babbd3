// `weir node backup`, `restore` and `evict`: works on the data folder of a node.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { answerText } from '../report/command/answer.js';
import { command, flag, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { jsonOf } from '../report/command/options.js';
import { print } from '../report/command/print.js';
import { Progress } from '../report/command/progress.js';

const data = text('data folder of the node', { default: './weir-data' });

function progressOf(name: string) {
  const progress = new Progress(name);
  return (what: string, done: number, all: number) =>
    progress.show(all === 0 ? undefined : done / all, what === 'copy' ? 'copied' : 'verified');
}

/** @param said the first line */
function printDone(answer: object, said: string, isJson: boolean): void {
  const words = answerText(answer as Readonly<Record<string, unknown>>, (name, value) =>
    name === 'ok' ? undefined : value,
  );
  print({ answer, words: `${said}\n${words}` }, isJson);
}

export const backup = command({
  options: {
    file: text('the backup: a new file', { place: true, required: true }),
    data,
    withKey: flag('put a copy of node.json, the secret key of the node, beside it'),
    json: jsonOf('backup'),
  },
  examples: [
    ['node backup weir.backup', 'of the node that runs on ./weir-data'],
    ['node backup /mnt/b/weir.backup --data /var/lib/weir --with-key', 'all that a new machine needs'],
  ],
  more: 'The file is an SQLite database with every machine, contract, count, row and hash of a key, as of one commit; chains, operators and signatures are verified. Its manifest, FILE.manifest.json, has its digest and the head of each record, and is signed: keep the two together. The key of the node is not in it: keep node.json apart, anew after --rotate-key, or give --with-key.',
  run: async ({ file, data, withKey, json }) => {
    const [{ keepCopy, keyFileOf }, { manifestFileOf }, { askForCopy }] = await Promise.all([
      import('../node/backup.js'),
      import('../node/backup-manifest.js'),
      import('../node/operator-socket.js'),
    ]);
    const [manifest, keyFile] = [manifestFileOf(file), withKey ? keyFileOf(file) : null];
    const taken = [file, manifest, keyFile].find((path) => path !== null && existsSync(path));
    if (taken !== undefined) throw usageFailure(`${taken} is there already.`, 'Give the name of a new file.');
    const dir = resolve(data);
    const show = progressOf('backup');
    const kept = await askForCopy(dir, show, (folder) => keepCopy(folder, dir, file, withKey, show));
    const said = 'The backup is verified, and its manifest signed.';
    printDone({ ok: true, file, manifest, ...kept, key_file: keyFile }, said, json);
  },
});

export const restore = command({
  options: {
    file: text('what `weir node backup` wrote', { place: true, required: true }),
    data: { ...data, description: 'a new or empty folder' },
    checkpoint: text('the weir.heads of the lost folder, if it is left: the rows that are lost are then known'),
    json: jsonOf('restore'),
  },
  examples: [
    ['node restore weir.backup --data ./restored', 'with the key from weir.backup.node.json'],
    ['node restore weir.backup --checkpoint old/weir.heads', 'and say what is lost since'],
  ],
  more: 'The node goes on with the same key. Rows since the backup are lost: `weir verify --checkpoint` with a signed head from after the backup shows a rollback, as it must. With --checkpoint the node starts with --allow lost-rows alone, and says in each record what it lost. Keys that were revoked since the backup are valid again: revoke them once more.',
  run: async ({ file, data, checkpoint: heads, json }) => {
    const { keyFileOf, restore } = await import('../node/backup.js');
    const given = { file, dir: data, keyFile: keyFileOf(file), heads };
    const { lost, ...kept } = restore(given, progressOf('restore'));
    const missing = lost.map(({ machine, fromSeq: from_seq, toSeq: to_seq }) => ({ machine, from_seq, to_seq }));
    const start = `weir serve --data ${data}${lost.length === 0 ? '' : ' --allow lost-rows'}`;
    const said = `The backup is restored, as the node signed it. What was written after it is lost. Start: ${start}`;
    printDone({ ok: true, data, ...kept, lost: heads === undefined ? null : missing }, said, json);
  },
});

export const evict = command({
  options: {
    name: text('the owner, the id of one of their keys, or the slug of one of their machines', {
      place: true,
      required: true,
    }),
    data,
    json: jsonOf('evict'),
  },
  examples: [
    ['node evict owner_q-Mlr-949UqR0FI9', 'as the log of the node names owners'],
    ['node evict spam-gateway --data /var/lib/weir', 'the owner of this machine'],
  ],
  more: 'Their keys are revoked, with sessions and streams, and their machines are deleted: room is free at once, and records are readable for 30 days.',
  run: async ({ name, data, json }) => {
    const { askToEvict } = await import('../node/operator-socket.js');
    const evicted = await askToEvict(resolve(data), name);
    printDone({ ok: true, ...evicted }, 'The owner is evicted.', json);
  },
});
