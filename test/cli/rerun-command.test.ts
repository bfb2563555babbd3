import { describe, expect, it } from 'vitest';
import { type Flag, rerunCommand } from '../../src/cli/rerun-command.js';

describe('the command that gives a run again', () => {
  it.each<[what: string, files: string[], flags: Record<string, Flag>, command: string]>([
    ['names the file', ['scenarios/burst.yaml'], {}, 'weir simulate scenarios/burst.yaml'],
    ['has what was given', ['a.yaml'], { seed: 0, until: 12 }, 'weir simulate a.yaml --seed 0 --until 12'],
    ['leaves out what was not', ['a.yaml'], { seed: undefined, live: false }, 'weir simulate a.yaml'],
    ['has switches without a value', ['a.yaml'], { live: true }, 'weir simulate a.yaml --live'],
    [
      'quotes for a shell',
      ["it's $HOME.yaml"],
      { pacing: 'at once' },
      "weir simulate 'it'\\''s $HOME.yaml' --pacing 'at once'",
    ],
    ['quotes nothing at all', ['a.log'], { key: '' }, "weir simulate a.log --key ''"],
    ['keeps a dash a value', ['a.log'], { spread: '-5s' }, 'weir simulate a.log --spread=-5s'],
    ['keeps a dash a file', ['-a.log', '-'], {}, 'weir simulate ./-a.log -'],
    [
      'keeps a password to itself',
      ['a.yaml'],
      { url: 'http://me:se@cret@127.0.0.1:80/x' },
      'weir simulate a.yaml --url http://127.0.0.1:80/x',
    ],
  ])('%s', (_, files, flags, command) => expect(rerunCommand('simulate', files, flags)).toBe(command));
});
