import { describe, expect, it } from 'vitest';
import { commands, nameOf, nodeCommands } from '../../src/cli/commands.js';
import { parserFor } from '../../src/cli/parser.js';
import { Failure } from '../../src/schema/failure.js';
import { weir } from './command-line.js';

const names = [...commands, ...nodeCommands].map(nameOf);

/** The help of a command line, which is not run. */
async function helpOf(...words: string[]): Promise<string> {
  const parser = await parserFor([...words, '--help']);
  return new Promise((resolve) => parser.parse([...words, '--help'], {}, (_error, _given, text) => resolve(text)));
}

describe('help', () => {
  it.each(names)('weir %s shows what it does and an example', async (name) => {
    const help = await helpOf(name);
    expect(help).toMatch(/Examples:\s+weir \w/);
    expect(help).toMatch(/^weir .+\n\n\w/);
    expect(help).not.toContain('default: []');
    expect(help).not.toContain('$0');
  });

  it('lists every command, and the exit codes', async () => {
    const { code, out } = await weir(['--help']);
    for (const command of [...commands.map(nameOf), 'node']) expect(out).toContain(`weir ${command}`);
    expect([code, out.includes('Exit codes')]).toEqual([0, true]);
  });

  it('of the group lists every client command', async () => {
    const help = await helpOf('node');
    for (const command of nodeCommands.map(nameOf)) expect(help).toContain(`weir node ${command}`);
  });

  it.each([
    ['simulat', 'simulate'],
    ['sim', 'simulate'],
    ['rec', 'recommend'],
    ['mnt', 'mint'],
    ['simulate x.yaml --sed 3', '--seed'],
    ['node gat edge', 'gate'],
  ])('weir %s is refused, with the nearest: %s', async (line, guess) => {
    const failure = await parserFor(line.split(' '))
      .then((parser) => parser.parseAsync())
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'wrong_usage' });
    const { what, fix } = failure as Failure;
    expect(`${what} ${fix}`).toContain(guess);
  });
});

it('weir self-test holds what was published, and says how sure it is', async () => {
  const { code, out, err } = await weir(['self-test', '--replications', '3', '--only', 'fixed-window']);
  expect([err, code]).toEqual(['', 0]);
  expect(out).toContain('held');
});

describe('weir completion', () => {
  // What was typed, a candidate.
  it.each([
    ['sim', 'simulate'],
    ['node ga', 'gate'],
    ['simulate --se', '--seed'],
    ['gate --pe', '--peek'],
  ])('weir %s offers %s', async (typed, candidate) => {
    const { out } = await weir(['--get-yargs-completions', 'weir', ...typed.split(' ')], { SHELL: 'bash' });
    expect(out.split('\n')).toContain(candidate);
  });
});
