// The state of a running sweep, for the page and the terminal: its completed cells.
//
//   limited    threshold 40  60  80      on the terminal: a row per value of one axis, a shade per value of the other
//   within 30       ▓▓  ▒▒  ░░
//   within 60       ██  ▓▓              not there yet

import { cellTable, liveSweepPage, shownFigures, sweepData } from '../report/sweep-document.js';
import { blocksText } from '../report/terminal-blocks.js';
import { filled, hued, shownName, type Terminal } from '../report/terminal-text.js';
import { counted, duration, number } from '../report/words.js';
import type { SweepPlan } from '../simulate/sweep/plan-sweep.js';
import { rowOf, type SweepRow, type SweepRun } from '../simulate/sweep/sweep.js';
import { firstView, sweepCharts } from '../web/chart/sweep-charts.js';
import type { SweepScreen as Sent } from '../web/watched.js';
import { progressLine, type Shown } from './watch-screen.js';

const MOST_NUMBERS = 30_000;

export class WatchedSweep implements Shown {
  readonly page: string;
  readonly #plan: SweepPlan;
  readonly #asked: readonly string[] | undefined;
  readonly #nowMs: () => number;
  readonly #startMs: number;
  /** In order of completion: a late run delays no other cell. */
  readonly #rows: SweepRow[] = [];
  readonly #runsOf = new Map<number, SweepRun[]>();
  readonly #known: number;
  #runs = 0;

  constructor(plan: SweepPlan, asked: readonly string[] | undefined, known: readonly SweepRun[], nowMs: () => number) {
    this.page = liveSweepPage(plan);
    this.#plan = plan;
    this.#asked = asked;
    for (const run of known) this.add(run);
    this.#known = this.#runs;
    this.#nowMs = nowMs;
    this.#startMs = nowMs();
  }

  add(run: SweepRun): void {
    const { cells, replications } = this.#plan;
    const runs = this.#runsOf.get(run.cell) ?? [];
    this.#runsOf.set(run.cell, runs);
    runs.push(run);
    this.#runs += 1;
    if (runs.length < replications) return;
    this.#runsOf.delete(run.cell);
    this.#rows.push(rowOf(cells[run.cell]!, runs));
  }

  shown(ended: Sent['ended']): Sent {
    return { sweep: this.#data(), share: this.#share, words: this.#words(ended), ended };
  }

  lines(ended: Sent['ended'], terminal: Terminal): string[] {
    const { name, axes } = this.#plan;
    const width = terminal.columns - 1;
    return [
      hued(shownName(name, width), 'strong', terminal),
      shownName(axes.map(({ path }) => path).join(', '), width),
      '',
      progressLine(this.#share, 'done', width),
      ...filled(this.#words(ended).split(/(?<=,) /), ' ', width),
      '',
      ...this.#picture({ ...terminal, columns: width }),
    ];
  }

  get #all(): number {
    return this.#plan.cells.length * this.#plan.replications;
  }

  get #share(): number {
    return this.#runs / Math.max(1, this.#all);
  }

  #words(ended: Sent['ended']): string {
    const { cells } = this.#plan;
    const [own, left] = [this.#runs - this.#known, this.#all - this.#runs];
    const leftMs = own === 0 ? undefined : ((this.#nowMs() - this.#startMs) * left) / own;
    const time = ended !== undefined ? ', ended' : leftMs === undefined ? '' : `, ${duration(leftMs)} left`;
    return `${number(this.#rows.length)} of ${counted(cells.length, 'cell')}, ${number(this.#runs)} of ${counted(this.#all, 'run')}${time}`;
  }

  get #figures(): readonly string[] {
    const asked = this.#asked?.filter((name) => this.#rows.some(({ figures }) => name in figures));
    return shownFigures(this.#rows, asked?.length === 0 ? undefined : asked);
  }

  #data() {
    if (this.#rows.length === 0) return undefined;
    return sweepData({ plan: this.#plan, rows: this.#rows, figures: this.#figures }, MOST_NUMBERS);
  }

  #picture(terminal: Terminal): string[] {
    const data = this.#data();
    if (data === undefined) return ['Waiting for the first cell…'];
    const newest = this.#rows.slice(-MOST_LINES);
    const cut = (line: string) => shownName(line, terminal.columns);
    if (data.drawn || data.axes.length < 2)
      return blocksText([cellTable(this.#plan.axes, newest, this.#figures)], terminal)
        .split('\n')
        .map(cut);
    const view = firstView(data);
    const { charts } = sweepCharts(data, { ...view, kind: 'heat' });
    return charts.flatMap(({ title, yTitle, heat }) => {
      const names = heat!.names;
      const widest = Math.max(...names.map((name) => name.length));
      const least = `${number(heat!.low)} ${shadeOf(0, terminal)} to ${number(heat!.high)} ${shadeOf(1, terminal)}`;
      const across = data.axes[view.x]!;
      const said = [`${data.figures[0]}: ${least}`, `${yTitle} down, ${across.name} across`];
      const rows = heat!.values.map((row, index) => {
        const shades = row.map((value) => (value === null ? '  ' : shadeOf(shareIn(value, heat!), terminal)));
        return cut(`${names[index]!.padStart(widest)} ${shades.join('')}`);
      });
      const heads = charts.length > 1 ? [cut(title)] : [];
      const [first, last] = [String(across.values[0]), String(across.values.at(-1))];
      const ends = `${first.padEnd(Math.max(first.length + 1, 2 * across.values.length - last.length))}${last}`;
      return [...heads, ...filled(said, '   ', terminal.columns), cut(`${' '.repeat(widest)} ${ends}`), ...rows, ''];
    });
  }
}

const MOST_LINES = 40;

function shareIn(value: number, { low, high }: { readonly low: number; readonly high: number }): number {
  return high > low ? (value - low) / (high - low) : 0;
}

function shadeOf(share: number, { unicode }: Terminal): string {
  const shades = unicode ? '·░▒▓█' : '.:+*#';
  return shades[Math.min(shades.length - 1, Math.floor(share * shades.length))]!.repeat(2);
}
