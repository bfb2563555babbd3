// `weir init`: lists or copies the scenarios of the package.
import { constants } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Argv } from 'yargs';
import { alignedTable } from '../report/terminal-text.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('file', { type: 'string', default: 'burst.yaml', describe: 'where to write it' })
    .option('from', {
      type: 'string',
      default: 'burst',
      requiresArg: true,
      describe: 'which shipped scenario to begin with',
    })
    .option('list', { type: 'boolean', default: false, describe: 'list the shipped scenarios, each with its question' })
    .option('schema', { type: 'boolean', default: false, describe: 'print the JSON Schema of scenarios, for editors' })
    .example('$0 init', 'writes burst.yaml')
    .example('$0 init --list', 'what there is to begin with')
    .example('$0 init storm.yaml --from retry-storm', 'another beginning');

export const rules: OptionRules = {
  without: { '<file>': ['list', 'schema'], from: ['list', 'schema'], list: ['schema'] },
};

type Given = GivenTo<typeof options>;

const shipped = new URL('../../scenarios/', import.meta.url);

export async function run({ file, from, list, schema }: Given): Promise<void> {
  if (schema) {
    const { Scenario } = await import('../scenario/scenario-schema.js');
    say(`${JSON.stringify(Scenario, undefined, 2)}\n`);
    return;
  }
  const names = (await readdir(shipped))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.replace(/\.yaml$/, ''));
  if (list) {
    const rows = await Promise.all(names.map(async (name) => [name, questionOf(await textOf(name))]));
    say(`${alignedTable([{ title: 'scenario' }, { title: 'question' }], rows, terminalAtHand().columns).join('\n')}\n`);
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
          ? 'The file exists already, and is not overwritten.'
          : code === 'ENOENT'
            ? 'There is no such folder.'
            : `${message}.`,
      fix: 'Give another name.',
    });
  }
  say(`${file} is written. Run it: weir simulate ${file}\n`);
}

/** Copies a log that a scenario replays into the folder of the scenario. An existing file is not overwritten. */
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
