// Script of a report: charts for the current theme and width, and the table of transitions. Runs in the browser after Chart.js and sets
// only text content, never HTML.
import { plainNumber, stopwatchText } from '../report/chart-specs/axis-text.js';
import type { ReportData, TransitionRow } from '../report/page/report-data.js';
import { drawOnScreen } from './draw-on-screen.js';
import { cell, element } from './page-element.js';

const data = JSON.parse(element('data').textContent) as ReportData;

drawOnScreen(data.palettes, () => data.charts);

const PAGE = 50;

const { contracts, states, rows } = data.transitions ?? { contracts: [], states: [], rows: [] };
const shown = { column: 1, isDescending: false, page: 0 };

function sortKey(row: TransitionRow, column: number): string | number {
  if (column === 0) return contracts[row[0]]!;
  if (column === 2) return states[row[2]]!;
  return row[column] ?? Number.POSITIVE_INFINITY;
}

function compare(a: TransitionRow, b: TransitionRow): number {
  const left = sortKey(a, shown.column);
  const right = sortKey(b, shown.column);
  const order = left < right ? -1 : left > right ? 1 : a[1] - b[1];
  return shown.isDescending ? -order : order;
}

function filtered(): TransitionRow[] {
  const words = element('filter', HTMLInputElement).value.trim().toLowerCase();
  const wanted = element('state', HTMLSelectElement).value;
  return rows.filter(([contract, cycle, to]) => {
    if (wanted !== '' && states[to] !== wanted) return false;
    const texts = [contracts[contract]!.toLowerCase(), String(cycle), stopwatchText(data, cycle).toLowerCase()];
    return words === '' || texts.some((text) => text.includes(words));
  });
}

function timesOf(cycle: number): HTMLElement[] {
  return stopwatchText(data, cycle)
    .split(', ')
    .map((textContent, index) =>
      Object.assign(document.createElement('small'), { textContent, className: index === 0 ? '' : 'wide' }),
    );
}

function tableRow([contract, cycle, to, count, lasted]: TransitionRow): HTMLElement {
  const tr = document.createElement('tr');
  tr.append(
    cell(contracts[contract]!),
    cell(plainNumber(cycle), true, '', timesOf(cycle)),
    cell(states[to]!),
    cell(count === null ? '–' : plainNumber(count), true),
    cell(lasted === null ? 'to the end' : `${plainNumber(lasted)} ${lasted === 1 ? 'cycle' : 'cycles'}`, true),
  );
  return tr;
}

function list(): void {
  const all = filtered().sort(compare);
  const pages = Math.max(1, Math.ceil(all.length / PAGE));
  shown.page = Math.min(shown.page, pages - 1);
  const from = shown.page * PAGE;
  const to = Math.min(from + PAGE, all.length);
  element('rows').replaceChildren(...all.slice(from, to).map(tableRow));
  element('shown').textContent =
    all.length === 0
      ? 'No transition.'
      : `${plainNumber(from + 1)} to ${plainNumber(to)} of ${plainNumber(all.length)}`;
  element('earlier', HTMLButtonElement).disabled = shown.page === 0;
  element('later', HTMLButtonElement).disabled = shown.page >= pages - 1;
}

function sortBy(column: number): void {
  shown.isDescending = shown.column === column && !shown.isDescending;
  shown.column = column;
  shown.page = 0;
  document.querySelectorAll('#transitions th').forEach((th, index) => {
    if (index === column) th.setAttribute('aria-sort', shown.isDescending ? 'descending' : 'ascending');
    else th.removeAttribute('aria-sort');
  });
  list();
}

function turn(pages: number): void {
  shown.page += pages;
  list();
}

if (rows.length > 0) {
  document.querySelectorAll('#transitions th button').forEach((button, column) => {
    button.addEventListener('click', () => sortBy(column));
  });
  element('choice').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['filter', 'state']) element(id).addEventListener('input', () => turn(-shown.page));
  element('earlier').addEventListener('click', () => turn(-1));
  element('later').addEventListener('click', () => turn(1));
  list();
}
