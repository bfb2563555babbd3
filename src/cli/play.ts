// `weir play`: the playground, served on loopback or written as one file.
import { writeFile } from 'node:fs/promises';
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import { portOption } from './options.js';
import { say } from './say.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', {
      type: 'string',
      describe: 'a scenario file to begin with (default: burst, which is shipped)',
    })
    .option('port', portOption)
    .option('out', {
      type: 'string',
      requiresArg: true,
      describe: 'write it into this file instead, for any web server or the disk',
    })
    .example('$0 play', 'serves it, and prints its address')
    .example('$0 play scenarios/herd.yaml', 'begins with this scenario')
    .example('$0 play --out playground.html', 'one file, which opens without a network');

export const rules: OptionRules = { without: { port: ['out'], '<scenario>': ['out'] } };

type Given = GivenTo<typeof options>;

export async function run({ scenario, port, out }: Given): Promise<void> {
  const { bundled } = await import('../web/bundled.js');
  const page = bundled('play.html');
  if (out !== undefined) {
    await write(out, page);
    say(`${out} is written. Open it in a browser, or put it on any web server.\n`);
    return;
  }
  const link = scenario === undefined ? '' : await linkOf(scenario);
  const [{ htmlPage, servePages }, { aborted, interruptible }] = await Promise.all([
    import('./local-pages.js'),
    import('./interrupt.js'),
  ]);
  const served = htmlPage(page);
  const { url, close } = await servePages(port, ({ pathname }) => (pathname === '/' ? served : undefined));
  const { signal, release } = interruptible();
  say(`open it here: ${url}${link}\n`);
  if (process.stdout.isTTY) say('Ctrl-C ends it.\n');
  await aborted(signal);
  await close();
  release();
}

/** As link.ts of the playground reads it. */
async function linkOf(path: string): Promise<string> {
  const [{ FileSource, readSource }, { deflateRawSync }] = await Promise.all([
    import('../scenario/file-source.js'),
    import('node:zlib'),
  ]);
  const name = new FileSource(path).name.replace(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '') || 'scenario';
  return `#${name.slice(0, 64)}.${deflateRawSync(await readSource(path)).toString('base64url')}`;
}

async function write(path: string, page: string): Promise<void> {
  try {
    await writeFile(path, page, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unwritable_folder', {
      what: `${path} was not written.`,
      why: code === 'EEXIST' ? 'The file exists already, and is not overwritten.' : `${message}.`,
      fix: 'Give another name.',
    });
  }
}
