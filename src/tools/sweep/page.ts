// Script of a sweep page: figure and axes, as lines or as a heat map. Runs in the browser after Chart.js.
import type { Palette, Theme } from '../../report/chart-specs/palette.js';
import type { ChartSpec } from '../../report/chart-specs/spec.js';
import { drawOnScreen } from '../../web/draw-on-screen.js';
import { element } from '../../web/page-element.js';
import { firstView, MOST_LINES, type SweepData, type SweepView, sweepCharts } from './sweep-charts.js';

const { sweep, palettes } = JSON.parse(element('data').textContent) as {
  readonly sweep: SweepData;
  readonly palettes: Readonly<Record<Theme, Palette>>;
};

const figure = element('figure', HTMLSelectElement);
const across = element('across', HTMLSelectElement);
const by = element('by', HTMLSelectElement);
const kind = element('kind', HTMLSelectElement);
const panels = element('panels');

function fill(select: HTMLSelectElement, names: readonly string[], chosen: number | undefined): void {
  select.replaceChildren(
    ...names.map((name, index) => {
      const option = document.createElement('option');
      option.value = String(index);
      option.textContent = name;
      option.selected = index === chosen;
      return option;
    }),
  );
}

const first = firstView(sweep);
const names = sweep.axes.map(({ name }) => name);
fill(figure, sweep.figures, first.figure);
fill(across, names, first.x);
fill(by, names, first.by);
kind.value = first.kind;
by.disabled = sweep.axes.length < 2;
kind.disabled = by.disabled;
for (const { parentElement } of [by, kind]) parentElement!.hidden = by.disabled;

function view(): SweepView {
  const chosen = { figure: Number(figure.value), x: Number(across.value) };
  if (by.disabled) return { ...first, ...chosen };
  return { ...chosen, by: Number(by.value), kind: kind.value === 'heat' ? 'heat' : 'lines' };
}

/** Two selects never show the same axis: the unchanged one moves to another. */
function keepApart(changed: HTMLSelectElement, other: HTMLSelectElement): void {
  if (by.disabled || changed.value !== other.value) return;
  other.value = String((Number(changed.value) + 1) % sweep.axes.length);
}

function figureOf({ title, about, height, id, leastWidth }: ChartSpec): HTMLElement {
  const whole = document.createElement('figure');
  const head = Object.assign(document.createElement('h3'), { textContent: title });
  const caption = Object.assign(document.createElement('figcaption'), { textContent: about });
  const place = Object.assign(document.createElement('div'), { className: 'chart' });
  place.style.height = `${height}px`;
  const canvas = Object.assign(document.createElement('canvas'), { id: `chart-${id}` });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${title}. ${about}`);
  place.append(canvas);
  const wide = Object.assign(document.createElement('div'), { className: 'wide' });
  if (leastWidth !== undefined) {
    place.style.minWidth = `${leastWidth}px`;
    Object.assign(wide, { tabIndex: 0, role: 'region', ariaLabel: title });
  }
  wide.append(place);
  whole.append(head, caption, wide);
  return whole;
}

const redraw = drawOnScreen(palettes, () => {
  const { figures, axes } = sweep;
  const shown = view();
  const { charts, left } = sweepCharts(sweep, shown);
  panels.className = charts.length > 1 && charts[0]!.leastWidth === undefined ? 'several' : '';
  panels.replaceChildren(...charts.map(figureOf));
  const cut = shown.kind === 'lines' && !by.disabled && axes[Number(by.value)]!.values.length > MOST_LINES;
  const said = element('said');
  said.className = left > 0 || cut ? 'quiet' : 'aside';
  said.textContent = [
    `${figures[shown.figure]} by ${axes[shown.x]!.name}, ${charts.length === 1 ? '1 chart' : `${charts.length} charts`}.`,
    ...(left > 0 ? [`${left} more combinations are in sweep.csv.`] : []),
    ...(cut ? [`Lines are drawn for ${MOST_LINES} values; a heat map shows all.`] : []),
  ].join(' ');
  return charts;
});

across.addEventListener('input', () => keepApart(across, by));
by.addEventListener('input', () => keepApart(by, across));
for (const select of [figure, across, by, kind]) select.addEventListener('input', redraw);
element('choice').addEventListener('submit', (event) => event.preventDefault());
