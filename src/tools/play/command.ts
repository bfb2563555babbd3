// `weir play`: the playground, served on loopback or written as one file.
import { writeFile } from 'node:fs/promises';
import { writing } from '../../core/schema/unwritable.js';
import { command, text } from '../../report/command/command.js';
import { untilStopped } from '../../report/command/interrupt.js';
import { outAs, port } from '../../report/command/options.js';
import { say } from '../../report/command/say.js';

const options = {
  scenario: text('a scenario file to begin with (default: burst, which is shipped)', { place: true, without: ['out'] }),
  port: { ...port, without: ['out'] },
  out: outAs(['html'], 'write it into this file instead, for any web server or the disk'),
};

export const play = command({
  options,
  examples: [
    ['play', 'serves it, and prints its address'],
    ['play scenarios/herd.yaml', 'begins with this scenario'],
    ['play --out playground.html', 'one file, which opens without a network'],
  ],
  run: async ({ scenario, port, out }) => {
    const { bundled } = await import('../../core/files/bundled.js');
    const page = bundled('play.html');
    if (out !== undefined) {
      await writing(out, 'Give another name: no file is overwritten.', () => writeFile(out, page, { flag: 'wx' }));
      say(`${out} is written. Open it in a browser, or put it on any web server.\n`);
      return;
    }
    const link = scenario === undefined ? '' : await linkOf(scenario);
    const { servePage } = await import('./local-page.js');
    const { url, close } = await servePage(port, page);
    say(`open it here: ${url}${link}\n`);
    if (process.stdout.isTTY) say('Ctrl-C ends it.\n');
    await untilStopped();
    await close();
  },
});

async function linkOf(path: string): Promise<string> {
  const { fileSource, readSource } = await import('../../harness/scenario/file-source.js');
  const { deflateRawSync } = await import('node:zlib');
  const { name: given } = fileSource(path);
  const name = given.replace(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '') || 'scenario';
  return `#${name.slice(0, 64)}.${deflateRawSync(await readSource(path)).toString('base64url')}`;
}
