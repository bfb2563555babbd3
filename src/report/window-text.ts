// The chart of a window as text:
//
//   180 ┤             ▄████▄
//   100 ┼┄┄┄┄┄┄┄┄┄┄┄┄┄██████┄┄┄┄┄┄┄┄┄  threshold
//     0 ┤▁▂▃▄▄▄▄▄▄▄▄▄▄██████▄▄▄▄▄▃▂▁
//         limiting    ▀▀▀▀▀▀
//        0                   3.9 min (300 cycles)
import type { Outcome } from '../outcome/outcome-schema.js';
import { isNear } from './chart/cycle-axis.js';
import { limitingIntervals, limitingStates, type Reported, shownContract, stateIntervals } from './reported.js';
import { shownName, type Terminal } from './terminal-text.js';
import { instantOf, number, spanWords } from './words.js';

const HEIGHT = 8;
const BLOCKS = ' ▁▂▃▄▅▆▇█';
const ASCII_BLOCKS = '  ..::###';

/** Lines of the chart; none if the run has no timeline of its contracts, or nothing was counted. */
export function windowText({ outcome, timeline }: Reported, terminal: Terminal): string[] {
  const contract = shownContract(outcome);
  const { first_cycle: firstCycle, last_cycle: lastCycle } = outcome;
  if (timeline === undefined || contract === undefined || firstCycle === null || lastCycle === null) return [];
  const isFar = contract.threshold !== null && !isNear(contract.threshold, contract.peak_count);
  const threshold = isFar ? undefined : (contract.threshold ?? undefined);
  const top = Math.max(contract.peak_count, threshold ?? 0, 1);
  const margin = number(top).length + 2;
  const cycles = lastCycle - firstCycle + 1;
  const width = Math.max(8, Math.min(Math.max(cycles, 24), terminal.columns - margin - 12, 160));
  const columnOf = (cycle: number) => Math.min(width - 1, Math.floor(((cycle - firstCycle) / cycles) * width));

  const peaks = new Array<number>(width).fill(0);
  let column = 0;
  let count = 0;
  const holdUntil = (end: number) => {
    for (let at = column; at <= end; at += 1) peaks[at] = Math.max(peaks[at]!, count);
    column = end;
  };
  for (const row of timeline.rows()) {
    if (row.contract !== contract.id) continue;
    const at = columnOf(row.cycle);
    // The previous count holds up to the cycle before this row, and at least up to the column before it.
    if (row.cycle > firstCycle) holdUntil(Math.max(columnOf(row.cycle - 1), at - 1));
    column = at;
    count = row.count;
    peaks[at] = Math.max(peaks[at]!, count);
  }
  holdUntil(width - 1);

  const columnsOf = (intervals: readonly (readonly [from: number, to: number])[]) => {
    const within = new Array<boolean>(width).fill(false);
    for (const [from, to] of intervals)
      within.fill(true, columnOf(from), Math.max(columnOf(from) + 1, Math.ceil(((to - firstCycle) / cycles) * width)));
    return within
      .map((is) => (is ? (terminal.unicode ? '▀' : '^') : ' '))
      .join('')
      .trimEnd();
  };
  const named = stateIntervals(outcome, contract, firstCycle, lastCycle + 1);
  const rows =
    named.length > 0
      ? named
      : [
          {
            name: 'limiting',
            intervals: limitingIntervals(contract.transitions, limitingStates(outcome), lastCycle + 1),
          },
        ];

  const blocks = terminal.unicode ? BLOCKS : ASCII_BLOCKS;
  const levels = peaks.map((peak) => (peak === 0 ? 0 : Math.max(1, Math.round((peak / top) * HEIGHT * 8))));
  const thresholdRow = threshold === undefined ? -1 : Math.min(HEIGHT - 1, Math.floor((threshold / top) * HEIGHT));
  const lines: string[] = [];
  if (outcome.contracts > 1) lines.push(`${' '.repeat(margin)}contract ${shownName(contract.id, width)}`);
  if (isFar) lines.push(`${' '.repeat(margin)}the threshold of ${number(contract.threshold ?? 0)} lies far above`);
  for (let row = HEIGHT - 1; row >= 0; row -= 1) {
    const isThreshold = row === thresholdRow;
    const label = row === HEIGHT - 1 ? number(top) : isThreshold ? number(threshold ?? 0) : row === 0 ? '0' : '';
    const line = levels.map((height) => {
      const filled = Math.max(0, Math.min(8, height - row * 8));
      return filled === 0 && isThreshold ? (terminal.unicode ? '┄' : '-') : blocks[filled]!;
    });
    const edge = terminal.unicode ? '┤' : '|';
    lines.push(`${label.padStart(margin - 1)}${edge}${line.join('')}${isThreshold ? ' threshold' : ''}`.trimEnd());
  }
  for (const { name, intervals } of rows) {
    const row = columnsOf(intervals);
    const label = ` ${shownName(name, width)}`;
    // A name that does not fit beside its row is left out for `limiting` alone: of several, each needs its name.
    if (row !== '')
      lines.push(`${' '.repeat(margin)}${row}${named.length > 0 || row.length + label.length <= width ? label : ''}`);
  }
  lines.push(`${' '.repeat(margin)}${axisText(firstCycle, cycles, width, outcome)}`);
  return lines;
}

function axisText(firstCycle: number, cycles: number, width: number, outcome: Outcome): string {
  const start = instantOf(firstCycle, outcome);
  const left = start === undefined ? '0' : `0 = ${start}`;
  const right = spanWords(cycles, outcome.cycle_ms);
  return `${left}${' '.repeat(Math.max(2, width - left.length - right.length))}${right}`;
}
