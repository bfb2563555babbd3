import { expect, it, vi } from 'vitest';
import { Progress } from '../../../src/report/command/progress.js';
import { say, warn } from '../../../src/report/command/say.js';

/** What is written when progress is shown at these times, in ms after its start: [ms, share] each. */
function written(isTTY: boolean, steps: readonly (readonly [ms: number, share: number])[]): string[] {
  const texts: string[] = [];
  let nowMs = 5_000;
  const out = { isTTY, columns: 40, write: (text: string) => texts.push(text) };
  const progress = new Progress('run', out, () => nowMs);
  for (const [ms, share] of steps) {
    nowMs = 5_000 + ms;
    progress.show(share, 'cycle 7');
  }
  progress.clear();
  return texts.map((text) => text.replace('\r\u001b[2K', '|'));
}

const HALF = '|run [============            ]  50 % cy';
const ALL = '|run [========================] 100 % cy';

// biome-ignore format: one case a line
it.each<[rule: string, isTTY: boolean, steps: readonly (readonly [number, number])[], texts: readonly string[]]>([
  ['nothing in a pipe within ten seconds', false, [[9_999, 0.5]], []],
  ['nothing within the first second', true, [[0, 0.1], [999, 0.5]], []],
  ['a line after it, cut to the width, removed at the end', true, [[1_000, 0.5]], [HALF, '|']],
  ['the same line is not drawn twice', true, [[1_000, 0.5], [2_000, 0.5]], [HALF, '|']],
  ['redrawn after 100 ms, not before', true, [[1_000, 0.5], [1_099, 0.9], [1_100, 1]], [HALF, ALL, '|']],
])('progress writes no more than it has to: %s', (_, isTTY, steps, texts) => expect(written(isTTY, steps)).toEqual(texts));

it('progress without a terminal is a line each ten seconds', () => {
  const texts: string[] = [];
  let nowMs = 5_000;
  const progress = new Progress('run', { write: (text) => texts.push(text) }, () => nowMs);
  for (const ms of [1_000, 9_999, 10_001, 15_000, 20_002]) {
    nowMs = 5_000 + ms;
    progress.show(ms / 40_000, `after ${ms}`);
  }
  expect(texts).toEqual(['run  25 % after 10001\n', 'run  50 % after 20002\n']);
});

const ERASE = '\r\u001b[2K';

/** The rows of a terminal of that many columns after these writes. */
function screenAfter(writes: string, columns: number): string[] {
  const rows = [''];
  for (const [index, part] of writes.split(ERASE).entries()) {
    if (index > 0) rows[rows.length - 1] = '';
    for (const character of part) {
      const width = [...rows.at(-1)!].reduce((sum, one) => sum + (one < '\u1100' ? 1 : 2), 0);
      if (character === '\n') rows.push('');
      else if (width >= columns) rows.push(character);
      else rows[rows.length - 1] += character;
    }
  }
  return rows;
}

it.each([80, 30, 12])('progress never splits what is said on either stream of a terminal of %i columns', (columns) => {
  const writes: string[] = [];
  const write = (text: string) => writes.push(text);
  const spies = [process.stdout, process.stderr].map((out) =>
    vi.spyOn(out, 'write').mockImplementation(write as never),
  );
  let nowMs = 0;
  const progress = new Progress('図の名前', { isTTY: true, columns, write }, () => nowMs);
  const step = () => {
    nowMs += 1_500;
    progress.show(0.5, 'cycle 7 of 水曜日');
  };
  step();
  say('out 1\n');
  step();
  step();
  warn('err 2\n');
  say('out 3\n');
  step();
  progress.clear();
  for (const spy of spies) spy.mockRestore();
  expect(writes.filter((text) => text.includes('図')).length).toBeGreaterThan(2);
  expect(screenAfter(writes.join(''), columns)).toEqual(['out 1', 'err 2', 'out 3', '']);
});
