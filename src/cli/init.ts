// `weir init`: copies a scenario of the package. `weir help scenarios` lists them.
import { constants } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packageFile } from '../core/files/package-file.js';
import { nearest } from '../core/schema/did-you-mean.js';
import { Failure } from '../core/schema/failure.js';
import { writing } from '../core/schema/unwritable.js';
import { command, text } from '../report/command/command.js';
import { say } from '../report/command/say.js';
import { shellWord } from '../report/reported.js';

const options = {
  file: text('where to write it', { place: true, default: 'burst.yaml' }),
  from: text('which shipped scenario to begin with', { default: 'burst' }),
};

const shipped = dirname(packageFile('scenarios/README.md'));

export const init = command({
  options,
  examples: [
    ['init', 'writes burst.yaml'],
    ['init storm.yaml --from retry-storm', 'another beginning'],
  ],
  run: async ({ file, from }) => {
    const names = (await readdir(shipped))
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => name.replace(/\.yaml$/, ''));
    if (!names.includes(from)) {
      const guess = nearest(from, names);
      throw new Failure('wrong_usage', {
        what: `There is no shipped scenario "${from}".`,
        fix: guess === undefined ? '`weir help scenarios` lists them.' : `Did you mean "${guess}"?`,
      });
    }
    await writing(file, 'Give another name: no file is overwritten.', async () => {
      const text = await readFile(join(shipped, `${from}.yaml`), 'utf8');
      await writeFile(file, text, { flag: 'wx' });
      for (const [, log = ''] of text.matchAll(/\bfile: ([\w-]+\.log)\b/g)) await copyLog(log, dirname(file));
    });
    say(`${file} is written. Run it: weir simulate ${shellWord(file)}\n`);
  },
});

async function copyLog(name: string, folder: string): Promise<void> {
  try {
    await copyFile(join(shipped, name), join(folder, name), constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
