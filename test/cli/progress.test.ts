import { expect, it } from 'vitest';
import { Progress } from '../../src/cli/progress.js';

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

it.each<[rule: string, isTTY: boolean, steps: readonly (readonly [number, number])[], texts: readonly string[]]>([
  ['nothing in a pipe', false, [[2_000, 0.5]], []],
  [
    'nothing within the first second',
    true,
    [
      [0, 0.1],
      [999, 0.5],
    ],
    [],
  ],
  ['a line after it, cut to the width, removed at the end', true, [[1_000, 0.5]], [HALF, '|']],
  [
    'the same line is not drawn twice',
    true,
    [
      [1_000, 0.5],
      [2_000, 0.5],
    ],
    [HALF, '|'],
  ],
  [
    'redrawn after 100 ms, not before',
    true,
    [
      [1_000, 0.5],
      [1_099, 0.9],
      [1_100, 1],
    ],
    [HALF, ALL, '|'],
  ],
])('progress: %s', (_, isTTY, steps, texts) => expect(written(isTTY, steps)).toEqual(texts));
