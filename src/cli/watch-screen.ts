// A full-screen view of a run: it redraws in place, fits the window, and restores the previous screen.

import { windowChart } from '../report/chart/window-count.js';
import type { Reported } from '../report/reported.js';
import { chartLines } from '../report/terminal-chart.js';
import { filled, hued, shownName, type Terminal } from '../report/terminal-text.js';
import { duration, number } from '../report/words.js';
import type { RunScreen } from '../web/watched.js';
import { visible } from './say.js';
import { terminalAtHand } from './terminal.js';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';

export interface Shown {
  readonly page: string;
  shown(ended: RunScreen['ended']): object;
  lines(ended: RunScreen['ended'], terminal: Terminal): string[];
}

export class WatchScreen {
  readonly #out: NodeJS.WriteStream;
  #isOpen = false;
  #redraw: () => void = () => {};
  readonly #onResize = (): void => this.#redraw();
  readonly #onExit = (): void => this.close();

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#out.write(ENTER);
    this.#out.on('resize', this.#onResize);
    // Also covers a second Ctrl-C, which ends the process at once.
    process.on('exit', this.#onExit);
  }

  draw(linesOf: (terminal: Terminal) => readonly string[]): void {
    this.#redraw = () => {
      if (!this.#isOpen) return;
      const rows = this.#out.rows ?? 24;
      const lines = linesOf(terminalAtHand(this.#out)).slice(0, rows - 1);
      this.#out.write(`\u001b[H${lines.map((line) => `${visible(line)}\u001b[K\n`).join('')}\u001b[J`);
    };
    this.#redraw();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#out.off('resize', this.#onResize);
    process.off('exit', this.#onExit);
    this.#out.write(LEAVE);
  }
}

export function screenLines(watched: RunScreen, reported: Reported | undefined, terminal: Terminal): string[] {
  const { name, question, share, leftMs, facts, running, expectations, cycles } = watched;
  const left = leftMs === null ? '' : `, ${duration(leftMs)} left`;
  const width = terminal.columns - 1;
  const cut = (text: string) => shownName(text, width);
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  const [requests, admitted] = [sum(running.requests), sum(running.admitted)];
  const counts: typeof facts = [
    ['requests', number(requests)],
    ['admitted', number(admitted)],
    ['limited', number(requests - admitted)],
  ];
  const known = new Set(counts.map(([one]) => one));
  const words = [...counts, ...facts.filter(([one]) => !known.has(one))].map(([one, value]) => cut(`${one} ${value}`));
  const marks = terminal.unicode ? { held: '✔', broken: '✘', open: '·' } : { held: '+', broken: 'x', open: '.' };
  const hues = { held: 'good', broken: 'bad', open: 'faint' } as const;
  const chart = reported && windowChart(reported);
  return [
    hued(cut(name), 'strong', terminal),
    cut(question),
    '',
    progressLine(share, `of ${number(cycles)} cycles${left}`, width),
    ...filled(words, '   ', width),
    '',
    ...(chart === undefined ? [] : [...chartLines(chart, { ...terminal, columns: width }), '']),
    ...expectations.map(({ name: what, state, found }) =>
      hued(cut(`${marks[state]} ${what}${found === '' ? '' : `: ${found} so far`}`), hues[state], terminal),
    ),
  ];
}

export function progressLine(share: number, words: string, width: number): string {
  const bar = Math.max(8, Math.min(40, width - 40));
  const full = Math.round(share * bar);
  return shownName(`[${'='.repeat(full)}${' '.repeat(bar - full)}] ${Math.floor(100 * share)} % ${words}`, width);
}
