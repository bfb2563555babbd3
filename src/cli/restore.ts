// `weir node restore`: a data folder from a backup.
import { existsSync } from 'node:fs';
import { command, text } from './command.js';
import { usageFailure } from './ending.js';
import { print } from './node-command.js';
import { allow, json } from './options.js';
import { Progress } from './progress.js';
import { facts } from './terminal.js';

const options = {
  file: text('what `weir node backup` wrote', { place: true, required: true }),
  data: text('a new or empty folder', { default: './weir-data' }),
  heads: text('the weir.heads of the lost folder, if it is left: the rows that are lost are then known'),
  allow: allow({ unsigned: 'a backup of 0.2 or earlier, whose keys and counts are not signed' }),
  json,
};

export const restore = command({
  options,
  examples: [
    ['node restore weir.backup --data ./restored', 'with the key from weir.backup.node.json'],
    ['node restore weir.backup --heads old/weir.heads', 'and say what is lost since'],
  ],
  more: 'The node goes on with the same key. Rows since the backup are lost: `weir verify --checkpoint` with a signed head from after the backup shows a rollback, as it must. With --heads the node starts with --allow lost-rows alone, and says in each record what it lost. Keys that were revoked since the backup are valid again: revoke them once more.',
  run: async ({ file, data, heads, allow: allowed, json }) => {
    const { keyFileOf, restore } = await import('../node/backup.js');
    const keyFile = keyFileOf(file);
    for (const path of [file, keyFile, ...(heads === undefined ? [] : [heads])]) {
      if (existsSync(path)) continue;
      const fix = path === keyFile ? `Copy the node.json of the node to ${path}.` : undefined;
      throw usageFailure(`There is no file ${path}.`, fix);
    }
    const progress = new Progress('restore');
    try {
      const restored = restore(
        { file, dir: data, keyFile, heads, allowUnsigned: allowed !== undefined },
        (_what, done, all) => progress.show(all === 0 ? undefined : done / all, 'verified'),
      );
      progress.clear();
      const { machines, rows, newest, fingerprint, lost, isUnsigned = false } = restored;
      const words = [
        isUnsigned
          ? `The backup is restored in ${data}: its records hold. Its keys and counts are not signed.`
          : `The backup is restored in ${data}: it is as the node signed it.`,
        facts([
          ['machines', machines],
          ['rows', `${rows}${newest === undefined ? '' : `, the last of ${newest}`}`],
          ['key', fingerprint],
          ...lost.map(({ machine, fromSeq, toSeq }) => ['lost', `rows ${fromSeq} to ${toSeq} of ${machine}`] as const),
          ['lost', heads === undefined ? 'whatever was written after that' : undefined],
          ['start', `weir serve --data ${data}${lost.length === 0 ? '' : ' --allow lost-rows'}`],
        ]),
      ].join('\n');
      const missing = lost.map(({ machine, fromSeq: from_seq, toSeq: to_seq }) => ({ machine, from_seq, to_seq }));
      const answer = {
        ok: true,
        data,
        machines,
        rows,
        newest_at: newest ?? null,
        fingerprint,
        signed: !isUnsigned,
        lost: heads === undefined ? null : missing,
      };
      print({ answer, words }, json);
    } finally {
      progress.clear();
    }
  },
});
