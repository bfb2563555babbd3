import { describe, expect, it } from 'vitest';
import yargs from 'yargs';
import { commands } from '../../src/cli/commands.js';
import { Progress } from '../../src/cli/progress.js';
import { weir } from './command-line.js';

describe('help', () => {
  it.each(commands.map((command) => [String(command.command).split(' ')[0]!, command] as const))(
    'weir %s shows an example',
    async (_, { builder, describe: words }) => {
      const help = await (builder as (of: ReturnType<typeof yargs>) => ReturnType<typeof yargs>)(
        yargs([]).scriptName('weir'),
      ).getHelp();
      expect(help).toMatch(/Examples:\s+weir \w/);
      expect(help).not.toContain('default: []');
      expect(words).toMatch(/\w/);
    },
  );

  it('lists every command, and the exit codes', async () => {
    const { code, out } = await weir(['--help']);
    for (const { command } of commands) expect(out).toContain(`weir ${String(command).split(' ')[0]}`);
    expect([code, out.includes('Exit codes')]).toEqual([0, true]);
  });

  it('an unknown command is refused, with the nearest', async () => {
    const { code, err } = await weir(['simulat']);
    expect([code, err]).toEqual([2, expect.stringContaining('simulate')]);
  });
});

describe('progress', () => {
  it('is shown on a terminal only, and leaves nothing behind', () => {
    const written: string[] = [];
    const out = (isTTY: boolean) => ({ isTTY, columns: 40, write: (text: string) => written.push(text) });
    const piped = new Progress('run', out(false));
    piped.tell(0.5);
    piped.clear();
    expect(written).toEqual([]);
    const shown = new Progress('run', out(true));
    shown.tell(0.5, 'cycle 7');
    shown.tell(0.5, 'cycle 7');
    shown.clear();
    expect(written).toEqual(['\r\u001b[2Krun [============            ]  50 % cy', '\r\u001b[2K']);
  });
});

it('weir self-test holds what was published, and says how sure it is', async () => {
  const { code, out, err } = await weir(['self-test', '--replications', '3', '--only', 'fixed-window']);
  expect([err, code]).toEqual(['', 0]);
  expect(out).toContain('held');
});
