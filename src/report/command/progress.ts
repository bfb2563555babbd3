// One line of progress on standard error. On a terminal it appears after a second of work, redraws at most ten times a second, and
// disappears before other output. Elsewhere, as in the log of a build, it is a line each ten seconds.
import { monotonicNowMs } from '../../core/time/wall.js';
import type { LiveRun } from '../../harness/live/live-run.js';
import type { CycleRow } from '../../harness/outcome/cycle-row.js';
import { eraseProgress, onScreen, visible } from './say.js';

const WIDTH = 24;
const APPEARS_AFTER_MS = 1_000;
const REDRAWN_AFTER_MS = 100;
const LINES_EACH_MS = 10_000;

interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export class Progress {
  #shown = '';
  #nextMs: number;
  readonly #what: string;
  readonly #out: Output;
  readonly #nowMs: () => number;

  constructor(what: string, out: Output = process.stderr, nowMs = monotonicNowMs) {
    this.#what = what;
    this.#out = out;
    this.#nowMs = nowMs;
    this.#nextMs = nowMs() + (out.isTTY === true ? APPEARS_AFTER_MS : LINES_EACH_MS);
  }

  /** @param share 0 .. 1; undefined if the end is unknown @param words a function is called only on redraw */
  show(share: number | undefined, words: string | (() => string) = ''): void {
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextMs) return;
    const text = typeof words === 'string' ? words : words();
    const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} % `;
    if (this.#out.isTTY !== true) {
      this.#nextMs = nowMs + LINES_EACH_MS;
      this.#out.write(`${this.#what} ${percent}${visible(text)}\n`);
      return;
    }
    const line = `${this.#what} ${share === undefined ? '' : `${bar(share)} ${percent}`}${text}`;
    const cut = cutTo(line, this.#out);
    if (cut === this.#shown) return;
    this.#nextMs = nowMs + REDRAWN_AFTER_MS;
    this.#shown = cut;
    this.#out.write(`\r\u001b[2K${cut}`);
    onScreen(() => this.clear());
  }

  clear(): void {
    if (this.#shown === '') return;
    this.#out.write('\r\u001b[2K');
    this.#shown = '';
    onScreen(undefined);
  }
}

/** Fits one row of the terminal: a character outside ASCII may take two columns. */
function cutTo(line: string, { columns = 80 }: Output): string {
  let left = columns - 1;
  let cut = '';
  for (const character of visible(line)) {
    left -= character < '\u007f' ? 1 : 2;
    if (left < 0) break;
    cut += character;
  }
  return cut;
}

function bar(share: number): string {
  const full = Math.round(Math.max(0, Math.min(1, share)) * WIDTH);
  return `[${'='.repeat(full)}${' '.repeat(WIDTH - full)}]`;
}

/** Columns of the cycle, and of planned, sent, admitted and limited requests. */
const WIDTHS = [8, 9, 9, 9, 9];

/** @returns takes each row, as its cycle closes */
export function cycleLines(name: string): (row: CycleRow<LiveRun>) => void {
  const out: Output = process.stderr;
  const progress = new Progress(name, out);
  let isHeaded = false;
  let state: number | undefined;
  const add = ({ cycle, run, totals, states }: CycleRow<LiveRun>, elapsed: number): void => {
    eraseProgress();
    const line = (cells: Parameters<typeof rowOf>[0]) => out.write(`${cutTo(rowOf(cells), out)}\n`);
    if (!isHeaded) line(['cycle', 'planned', 'sent', 'admitted', 'limited', 'state']);
    isHeaded = true;
    const { planned, sent } = run.sending(cycle);
    state = states[0] ?? state;
    const contracts = run.names.length;
    const shown = contracts === 1 ? run.states[state ?? run.initial]!.name : `${totals.limiting} of ${contracts} shut`;
    if (planned > 0 || sent > 0) line([elapsed, planned, sent, totals.admitted, totals.limited, shown]);
  };
  return (row) => {
    const { firstCycle, lastCycle } = row.run;
    const elapsed = row.cycle - firstCycle + 1;
    const cycles = lastCycle - firstCycle + 1;
    if (out.isTTY === true) add(row, elapsed);
    progress.show(Math.min(1, elapsed / Math.max(1, cycles)), `cycle ${elapsed} of ${cycles}`);
  };
}

function rowOf(cells: readonly (string | number)[]): string {
  return `${WIDTHS.map((width, index) => String(cells[index]).padStart(width)).join('')}  ${cells.at(-1)}`;
}
