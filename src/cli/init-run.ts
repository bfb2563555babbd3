// Owns the doing of `weir init`: the scenarios that come with the package, listed or written out.
import { constants } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { alignedTable } from '../report/terminal-text.js';
import { Scenario } from '../scenario/schema.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { InitArguments } from './init.js';
import { terminalAtHand } from './terminal.js';

const shipped = new URL('../../scenarios/', import.meta.url);

export async function runInit({ file, from, list, schema }: InitArguments): Promise<void> {
  if (schema) {
    process.stdout.write(`${JSON.stringify(Scenario, undefined, 2)}\n`);
    return;
  }
  const names = (await readdir(shipped))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.replace(/\.yaml$/, ''));
  if (list) {
    const rows = await Promise.all(names.map(async (name) => [name, questionOf(await textOf(name))]));
    process.stdout.write(
      `${alignedTable([{ title: 'scenario' }, { title: 'question' }], rows, terminalAtHand().columns).join('\n')}\n`,
    );
    return;
  }
  if (!names.includes(from)) {
    const guess = nearest(from, names);
    throw new Failure('wrong_usage', {
      what: `There is no shipped scenario "${from}".`,
      fix: guess === undefined ? '`weir init --list` shows them.' : `Did you mean "${guess}"?`,
    });
  }
  try {
    const text = await textOf(from);
    await writeFile(file, text, { flag: 'wx' });
    for (const [, log = ''] of text.matchAll(/\bfile: ([\w-]+\.log)\b/g)) await copyLog(log, dirname(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unwritable_folder', {
      what: `${file} was not written.`,
      why:
        code === 'EEXIST'
          ? 'There is such a file already; nothing is overwritten.'
          : code === 'ENOENT'
            ? 'There is no such folder.'
            : `${message}.`,
      fix: 'Give another name.',
    });
  }
  process.stdout.write(`${file} is written. Run it: weir simulate ${file}\n`);
}

/** A log that a scenario plays lies beside it. One that is there already is left as it is. */
async function copyLog(name: string, folder: string): Promise<void> {
  try {
    await copyFile(new URL(name, shipped), join(folder, name), constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const textOf = (name: string) => readFile(new URL(`${name}.yaml`, shipped), 'utf8');

function questionOf(text: string): string {
  return /^question: *(.*)$/m.exec(text)?.[1] ?? '';
}
