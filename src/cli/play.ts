// `weir play`: the playground, served on loopback or written as one file.
import { writeFile } from 'node:fs/promises';
import { Failure } from '../schema/failure.js';
import { command, text } from './command.js';
import { port } from './options.js';
import { say } from './say.js';

const options = {
  scenario: text('a scenario file to begin with (default: burst, which is shipped)', { place: true, without: ['out'] }),
  port: { ...port, without: ['out'] },
  out: text('write it into this file instead, for any web server or the disk'),
};

export const play = command({
  options,
  examples: [
    ['play', 'serves it, and prints its address'],
    ['play scenarios/herd.yaml', 'begins with this scenario'],
    ['play --out playground.html', 'one file, which opens without a network'],
  ],
  run: async ({ scenario, port, out }) => {
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
  },
});

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
