// The scripts of `weir completion`, each in its own shell. A shell that is not installed is skipped: apt-get install zsh fish.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { program, run, temporaryFolder, weirHere } from './command-line.js';

type Shell = 'bash' | 'zsh' | 'fish';

const home = temporaryFolder();
const bin = join(home, 'bin');
const files = join(home, 'files');
const script = (shell: Shell) => join(home, `weir.${shell}`);

beforeAll(async () => {
  for (const folder of [bin, files]) mkdirSync(folder);
  writeFileSync(join(bin, 'weir'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(bin, 'weir'), 0o755);
  writeFileSync(join(files, 'burst.yaml'), '');
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(script(shell), (await weirHere(['completion', shell])).out);
});

/** What a line becomes when the tabulator is pressed at its end. */
const completed: Readonly<Record<Shell, (line: string) => Promise<string>>> = {
  async bash(line) {
    const [words, last] = [line.split(' '), line.split(' ').length - 1];
    const ask = `source "${script('bash')}"; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${last}; _weir_yargs_completions
      (( \${#COMPREPLY[@]} )) || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); printf '%s\\n' "\${COMPREPLY[@]}"`;
    return [...words.slice(0, last), await inFiles('bash', '--norc', '-c', ask)].join(' ');
  },
  async fish(line) {
    const candidates = await inFiles('fish', '--no-config', '-c', `source "${script('fish')}"; complete -C "${line}"`);
    return [...line.split(' ').slice(0, -1), candidates.split(/[\t\n]/)[0]].join(' ');
  },
  // Completion works only in an editor of lines: a terminal of zsh's own, whose line is printed by a key.
  async zsh(line) {
    const setup = `PROMPT=; setopt no_beep; autoload -Uz compinit; compinit -u -D; source ${script('zsh')}
      show() { print -r -- "<<$BUFFER>>" }; zle -N show; bindkey '^X' show; print READY`;
    const typed = `zmodload zsh/zpty; zpty shell zsh -f -i; zpty -w shell ${quoted(setup.replaceAll('\n', ';'))}
      zpty -r shell out '*READY*READY*'; zpty -w -n shell ${quoted(`${line}\t`)}; zpty -w -n shell $'\\030'
      zpty -r shell out '*<<*>>*'; print -r -- "$out"`;
    return /<<(.*?) ?>>/.exec(await inFiles('zsh', '-f', '-c', typed))?.[1] ?? '';
  },
};

async function inFiles(shell: Shell, ...args: string[]): Promise<string> {
  const entries = { HOME: home, PATH: `${bin}:${process.env['PATH']}`, TERM: 'dumb' };
  const env = Object.entries(entries).map(([name, value]) => `${name}=${value}`);
  const { out } = await run('env', ['-C', files, ...env, shell, ...args]);
  return out.trimEnd();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const isThere = spawnSync(shell, ['--version']).status === 0;

  it.skipIf(!isThere).each([
    ['a command', 'weir simu', 'weir simulate'],
    ['a command of the node', 'weir node gat', 'weir node gate'],
    ['an option', 'weir simulate --see', 'weir simulate --seed'],
    ['a file', 'weir simulate bu', 'weir simulate burst.yaml'],
    ['a file of which nothing is typed', 'weir simulate ', 'weir simulate burst.yaml'],
  ])('a shell completes %s: %s', async (_, line, whole) => {
    expect(await completed[shell](line)).toBe(whole);
  });
});
