import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/outcome/schema.js';
import { temporaryFolder, weir } from './command-line.js';

const folder = temporaryFolder();
const file = (name: string, content: string | Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const log = readFileSync('scenarios/shop.log', 'utf8');

const outcomeOf = async (args: string[], input = ''): Promise<Outcome> => {
  const { code, out, err } = await weir(['replay', ...args, '--json', '--no-report'], {}, input);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Outcome;
};

describe('weir replay', () => {
  it('says how the log was understood, and what came of it', async () => {
    const { code, out } = await weir(['replay', 'scenarios/shop.log', '--no-report']);
    expect(code).toBe(0);
    expect(out).toContain('scenarios/shop.log: combined, time from the time in brackets; 1472 requests');
    expect(out).toMatch(/limited\s+433/);
  });

  it('reads the same from a file, compressed, and from standard input', async () => {
    const { scenario: _, digest: __, ...plain } = await outcomeOf(['scenarios/shop.log']);
    const { scenario: ___, digest: ____, ...packed } = await outcomeOf([file('shop.log.gz', gzipSync(log))]);
    const { scenario: name, digest: _____, ...piped } = await outcomeOf(['-'], log);
    expect([packed, piped, name]).toEqual([plain, plain, 'stdin']);
  });

  it('gives the gate of a scenario that replays the same log', async () => {
    const { out } = await weir(['simulate', 'scenarios/replay.yaml', '--json', '--no-report']);
    const [simulated, replayed] = [JSON.parse(out) as Outcome, await outcomeOf(['scenarios/shop.log'])];
    const gate = ({ requests, limited, entries, limiting_cycles, peak_count }: Outcome) => ({
      requests,
      limited,
      entries,
      limiting_cycles,
      peak_count,
    });
    expect(gate(simulated)).toEqual(gate(replayed));
  });

  it('takes columns, counts, spread, keys and another cycle from the command line', async () => {
    const counts = file('counts.csv', 'minute,who,hits\n2026-01-01T00:00:00Z,a,60\n2026-01-01T00:01:00Z,b,30\n');
    const columns = ['--time-column', 'minute', '--count-column', 'hits', '--spread', '60s'];
    const whole = await outcomeOf([counts, ...columns, '--threshold', '50', '--within', '100', '--cycle-ms', '1000']);
    const keyed = await outcomeOf([
      counts,
      ...columns,
      '--key',
      'who',
      '--cycle-ms',
      '1000',
      '--threshold',
      '40',
      '--within',
      '60',
    ]);
    expect([whole.requests, whole.cycle_ms, whole.peak_count, whole.limited > 0]).toEqual([90, 1000, 80, true]);
    expect(keyed.by_contract.map(({ id, requests, limited }) => [id, requests, limited])).toEqual([
      ['a', 60, 20],
      ['b', 30, 0],
    ]);
  });

  it.each<[what: string, args: string[], words: string[]]>([
    ['an empty file', [file('empty.log', '')], ['There is no request in', 'empty']],
    ['a folder', [folder], ['It is a folder.']],
    ['a missing file', [join(folder, 'no.log')], ['There is no such file.']],
    ['a binary file', [file('noise.bin', Buffer.from([0, 1, 2, 3, 255, 254, 0, 9]))], ['noise.bin']],
    ['an unknown format', ['scenarios/shop.log', '--format', 'combind'], ['Did you mean "combined"?']],
    ['an unknown column', [file('a.csv', 'time,x\n1,2\n'), '--time-column', 'tme'], ['tme']],
    ['a list of no contracts', ['scenarios/shop.log', '--top', '0'], ['--top takes a whole number from 1']],
    ['a list of less than none', ['scenarios/shop.log', '--top', '-1'], ['--top takes a whole number from 1']],
    ['a speed that is none', ['scenarios/shop.log', '--speed', 'x'], ['--speed takes a number']],
    [
      'two formats',
      ['scenarios/shop.log', '--format', 'csv', '--format', 'tsv'],
      ['--format was given more than once'],
    ],
    ['a threshold of nothing', ['scenarios/shop.log', '--threshold', '0'], ['threshold']],
    ['a window that is no number', ['scenarios/shop.log', '--within', 'x'], ['within']],
    ['a cycle of no length', ['scenarios/shop.log', '--cycle-ms', '0'], ['--cycle-ms']],
    ['a spread that is no time', ['scenarios/shop.log', '--spread', 'soon'], ['soon']],
    ['two names for one thing', ['scenarios/shop.log', '--key', 'a', '--key-column', 'b'], ['key']],
  ])('refuses %s in words, with exit code 2', async (_, args, words) => {
    const { code, out, err } = await weir(['replay', ...args, '--no-report']);
    expect([code, out, err.includes('    at ')]).toEqual([2, '', false]);
    for (const word of words) expect(err).toContain(word);
  });
});

describe('weir generate', () => {
  it('prints a log that can be replayed', async () => {
    const { code, out, err } = await weir(['generate', 'scenarios/shop.yaml']);
    expect([code, err, out === log]).toEqual([0, '', true]);
  });

  it('begins when it is told to, with another seed', async () => {
    const { out } = await weir(['generate', 'scenarios/edge-burst.yaml', '--start', '2020-02-29T23:59:59Z']);
    expect(out.split('\n')[0]).toContain('[01/Mar/2020:00:00:44 +0000]');
  });

  it.each([
    ['--start', 'soon'],
    ['--seed', 'x'],
  ])('refuses %s %s', async (option, value) => {
    const { code, err } = await weir(['generate', 'scenarios/shop.yaml', option, value]);
    expect([code, err.includes(option)]).toEqual([2, true]);
  });
});
