// Owns the movement of the page: charts that follow the theme and the width, the table of transitions, the switch of the theme. Runs in the
// browser after Chart.js and the painters; it writes text only as text.

export const script = `
const { plainNumber, stopwatch } = axis;
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const root = document.documentElement;
const darkWanted = matchMedia('(prefers-color-scheme: dark)');
const themeNow = () => root.dataset.theme || (darkWanted.matches ? 'dark' : 'light');

let drawn = [];
function draw(theme) {
  for (const chart of drawn) chart.destroy();
  const font = getComputedStyle(document.body).fontFamily;
  drawn = data.charts.map((spec) => {
    const canvas = byId('chart-' + spec.id);
    const looks = { palette: data.palettes[theme], font, width: canvas.parentElement.clientWidth };
    return new Chart(canvas, paint(spec, looks));
  });
  root.dataset.drawn = String(drawn.length);
}

let widthDrawn = 0;
function redraw() {
  widthDrawn = innerWidth;
  draw(themeNow());
}

byId('theme').addEventListener('click', () => {
  root.dataset.theme = themeNow() === 'dark' ? 'light' : 'dark';
  redraw();
});
darkWanted.addEventListener('change', () => { if (!root.dataset.theme) redraw(); });
addEventListener('resize', () => { if ((innerWidth < 560) !== (widthDrawn < 560)) redraw(); });
addEventListener('beforeprint', () => { root.dataset.screen = root.dataset.theme || ''; root.dataset.theme = 'light'; draw('light'); });
addEventListener('afterprint', () => {
  if (root.dataset.screen) root.dataset.theme = root.dataset.screen; else delete root.dataset.theme;
  redraw();
});
redraw();

const PAGE = 50;
const { contracts, states, rows } = data.transitions;
const number = (value) => value === null ? '–' : plainNumber(value);
const shown = { sort: 1, down: false, page: 0 };

// Columns of a row: contract, cycle from the start, state entered, count, cycles it lasted.
function compare(a, b) {
  const column = shown.sort;
  const names = column === 0 ? contracts : column === 2 ? states : undefined;
  const [left, right] = names ? [names[a[column]], names[b[column]]] : [a[column] ?? Infinity, b[column] ?? Infinity];
  const order = left < right ? -1 : left > right ? 1 : a[1] - b[1];
  return shown.down ? -order : order;
}

function chosen() {
  const words = byId('filter').value.trim().toLowerCase();
  const state = byId('state').value;
  return rows.filter((row) =>
    (state === '' || states[row[2]] === state) &&
    (words === '' || contracts[row[0]].toLowerCase().includes(words) || String(row[1]).includes(words) || String(data.firstCycle + row[1]).includes(words)));
}

function cell(text, isNumber, small) {
  const td = document.createElement('td');
  td.textContent = text;
  if (isNumber) td.className = 'n';
  if (small) td.append(Object.assign(document.createElement('small'), { textContent: small }));
  return td;
}

function list() {
  const all = chosen().sort(compare);
  const pages = Math.max(1, Math.ceil(all.length / PAGE));
  shown.page = Math.min(shown.page, pages - 1);
  const from = shown.page * PAGE;
  byId('rows').replaceChildren(...all.slice(from, from + PAGE).map(([contract, cycle, to, count, lasted]) => {
    const tr = document.createElement('tr');
    const absolute = data.firstCycle === 0 ? '' : ', ' + number(data.firstCycle + cycle);
    tr.append(
      cell(contracts[contract]),
      cell(number(cycle), true, stopwatch(cycle * data.cycleMs) + absolute),
      cell(states[to]),
      cell(number(count), true),
      cell(lasted === null ? 'to the end' : number(lasted) + (lasted === 1 ? ' cycle' : ' cycles'), true),
    );
    return tr;
  }));
  byId('shown').textContent = all.length === 0 ? 'No transition.' : number(from + 1) + ' to ' + number(Math.min(from + PAGE, all.length)) + ' of ' + number(all.length);
  byId('earlier').disabled = shown.page === 0;
  byId('later').disabled = shown.page >= pages - 1;
}

if (rows.length > 0) {
  document.querySelectorAll('#transitions th button').forEach((button, column) => {
    button.addEventListener('click', () => {
      shown.down = shown.sort === column && !shown.down;
      shown.sort = column;
      shown.page = 0;
      document.querySelectorAll('#transitions th').forEach((th, index) => {
        if (index === column) th.setAttribute('aria-sort', shown.down ? 'descending' : 'ascending');
        else th.removeAttribute('aria-sort');
      });
      list();
    });
  });
  byId('choice').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['filter', 'state']) byId(id).addEventListener('input', () => { shown.page = 0; list(); });
  byId('earlier').addEventListener('click', () => { shown.page -= 1; list(); });
  byId('later').addEventListener('click', () => { shown.page += 1; list(); });
  list();
}
`;
