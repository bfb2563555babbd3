// Script of the page of `weir recommend`: a slider for the threshold, with curve, clients and timeline at its value. Runs in the browser
// after Chart.js and sets only text content, never HTML.
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import type { Palette, Theme } from '../../report/chart-specs/palette.js';
import { type ChartSpec, type Line, unmarked } from '../../report/chart-specs/spec.js';
import { drawOnScreen } from '../../web/draw-on-screen.js';
import { cell, element } from '../../web/page-element.js';
import type { SizedWindow, SizingData } from './sizing-page.js';

const data = JSON.parse(element('data').textContent) as SizingData & {
  readonly palettes: Readonly<Record<Theme, Palette>>;
};
const slider = element('threshold', HTMLInputElement);
const number = element('number', HTMLInputElement);
const chosen = { window: 0, at: 0 };

const shown = (): SizedWindow => data.windows[chosen.window]!;
const percent = (part: number, whole: number) => `${Number((whole === 0 ? 0 : (100 * part) / whole).toPrecision(3))} %`;
const amount = (threshold: number) =>
  data.unit === undefined ? counted(threshold, 'request') : `${plainNumber(threshold)} ${data.unit}`;
const counted = (n: number, noun: string) => `${plainNumber(n)} ${noun}${n === 1 ? '' : 's'}`;

function placeOf(threshold: number): number {
  const place = shown().thresholds.findLastIndex((one) => one <= threshold);
  return Math.max(0, place);
}

const BUCKETS = 120;

function chartsNow(): ChartSpec[] {
  const one = shown();
  const curve = curveChart(one, chosen.at, data.unit);
  const threshold = one.thresholds[chosen.at] ?? 1;
  const isKnown = one.rows !== undefined && threshold >= one.rows.floor;
  element('unknown').hidden = isKnown;
  element('times').hidden = !isKnown;
  if (!isKnown) return [curve];
  const spanMs = Math.max(1, data.lastMs - data.firstMs);
  const over = new Array<number>(BUCKETS).fill(0);
  const hours = new Array<number>(24).fill(0);
  const { second, from, to } = one.rows!;
  for (let row = 0; row < second.length; row += 1) {
    if (to[row]! <= threshold) continue;
    const limited = to[row]! - Math.max(from[row]!, threshold);
    const ms = 1000 * second[row]!;
    over[Math.max(0, Math.min(BUCKETS - 1, Math.floor((BUCKETS * ms) / spanMs)))]! += limited;
    hours[new Date(data.firstMs + ms).getUTCHours()]! += limited;
  }
  const at = (bucket: number) => new Date(data.firstMs + (bucket * spanMs) / BUCKETS).toISOString();
  const days = spanMs > 86_400_000;
  const labels = over.map((_, bucket) => (days ? at(bucket).slice(5, 16).replace('T', ' ') : at(bucket).slice(11, 16)));
  const names = hours.map((_, hour) => `${String(hour).padStart(2, '0')}:00`);
  return [curve, barChart('timeline', labels, over), barChart('hours', names, hours)];
}

/** The threshold axis is logarithmic from this ratio of its ends. */
const WIDE = 100;

const common = { title: '', about: '', ...unmarked, height: 320 } as const;

function curveChart(one: SizedWindow, at: number, unit = 'requests'): ChartSpec {
  const { thresholds, limited, suspectsLimited, requests, suspects } = one;
  const all = requests + suspects.reduce((sum, each) => sum + each.requests, 0);
  const curve = (label: string, tone: Line['tone'], shareAt: (index: number) => number): Line => {
    const shown = thresholds.flatMap((x, index) => (shareAt(index) > 0 ? [{ x, y: 100 * shareAt(index) }] : []));
    const dots = shown.length < 3 ? { dots: 'circle' as const } : {};
    return { label, tone, xs: shown.map(({ x }) => x), ys: shown.map(({ y }) => y), stepped: false, ...dots };
  };
  const curves = [
    curve('requests limited', 'limited', (index) => (requests === 0 ? 0 : limited[index]! / requests)),
    ...(suspects.length === 0
      ? []
      : [curve('with the suspects', 'difference', (index) => (limited[index]! + suspectsLimited[index]!) / all)]),
  ];
  const lowest = Math.min(100, ...curves.flatMap(({ ys }) => ys.map((y) => y ?? 100)));
  let bottom = 100;
  while (bottom > lowest) bottom /= 10;
  const threshold = thresholds[at] ?? 1;
  const [first = 1, last = 2] = [thresholds[0], thresholds.at(-1)];
  return {
    ...common,
    id: 'curve',
    x: {
      kind: 'values',
      title: `Threshold: ${unit} in ${one.name}`,
      from: first,
      to: Math.max(2, last),
      log: last > WIDE,
    },
    yTitle: 'Requests limited, %',
    yLog: true,
    yMax: 100,
    lines: [
      {
        label: `chosen: ${plainNumber(threshold)}`,
        tone: 'threshold',
        xs: [threshold, threshold],
        ys: [bottom, 100],
        stepped: false,
      },
      ...curves,
    ],
  };
}

function barChart(id: 'timeline' | 'hours', names: readonly string[], values: readonly number[]): ChartSpec {
  const xs = [...values.map((_, index) => index - 0.5), values.length - 0.5];
  return {
    ...common,
    id,
    x: {
      kind: 'values',
      title: id === 'hours' ? 'Hour of the day (UTC)' : 'Time (UTC)',
      from: -0.5,
      to: values.length - 0.5,
      names,
    },
    yTitle: 'Requests limited',
    yWhole: true,
    lines: [
      {
        label: 'limited',
        tone: 'limited',
        xs,
        ys: [...values, 0],
        stepped: true,
        area: 'zero',
        width: 1,
        listed: false,
      },
    ],
  };
}

const MOST_CLIENTS = 25;

function listClients(): void {
  if (!data.isKeyed) return;
  const { rows, thresholds, suspects } = shown();
  const threshold = thresholds[chosen.at] ?? 1;
  const limitedOf = new Map<number, number>();
  const peakOf = new Map<number, number>();
  if (rows !== undefined && threshold >= rows.floor)
    rows.key.forEach((key, row) => {
      const to = rows.to[row]!;
      if (to <= threshold) return;
      limitedOf.set(key, (limitedOf.get(key) ?? 0) + to - Math.max(rows.from[row]!, threshold));
      peakOf.set(key, Math.max(peakOf.get(key) ?? 0, to));
    });
  const hit = [
    ...suspects.map(({ key, requests, limited }) => ({
      key,
      requests,
      limited: limited[chosen.at] ?? 0,
      note: 'suspect',
    })),
    ...[...limitedOf].map(([key, limited]) => ({
      key: data.keys[key]!,
      requests: data.requestsOf[key]!,
      limited,
      note: `up to ${plainNumber(peakOf.get(key)!)} in a window`,
    })),
  ]
    .filter(({ limited }) => limited > 0)
    .sort((a, b) => b.limited - a.limited);
  element('clients').replaceChildren(
    ...hit.slice(0, MOST_CLIENTS).map(({ key, requests, limited, note }) => {
      const tr = document.createElement('tr');
      tr.append(
        cell(key, false, 'key'),
        cell(plainNumber(limited), true, 'limited'),
        cell(plainNumber(requests), true, 'of requests'),
        cell(percent(limited, requests), true, 'share'),
        cell(note, false, 'note'),
      );
      return tr;
    }),
  );
  element('clients-shown').textContent =
    hit.length === 0
      ? 'No client is limited.'
      : hit.length > MOST_CLIENTS
        ? `The first ${MOST_CLIENTS} of ${plainNumber(hit.length)}.`
        : '';
}

function sentences(): [short: string, long: string] {
  const one = shown();
  const at = chosen.at;
  const threshold = one.thresholds[at] ?? 1;
  const limited = one.limited[at] ?? 0;
  const ofSuspects = one.suspectsLimited[at] ?? 0;
  const keys = data.isKeyed ? ` of ${counted(one.keysLimited[at] ?? 0, 'key')}` : '';
  const short = `${plainNumber(threshold)}: ${percent(limited, one.requests)} limited`;
  const besides = ofSuspects === 0 ? '' : ` Besides, ${counted(ofSuspects, 'request')} of suspects.`;
  const burst = ` One client gets at most ${amount(threshold * one.burst1s)} through in a second, ${plainNumber(threshold * one.burst1min)} in a minute.`;
  return [
    short,
    `At ${amount(threshold)} in ${one.name}, ${counted(limited, 'request')}${keys} (${percent(limited, one.requests)}) would be limited.${besides}${burst}`,
  ];
}

let pending = 0;

function choose(at: number): void {
  const one = shown();
  chosen.at = Math.max(0, Math.min(one.thresholds.length - 1, at));
  const [short, long] = sentences();
  slider.max = String(one.thresholds.length - 1);
  slider.value = String(chosen.at);
  slider.setAttribute('aria-valuetext', short);
  number.value = String(one.thresholds[chosen.at] ?? 1);
  number.max = String(one.thresholds.at(-1) ?? 1);
  element('summary').textContent = long;
  listClients();
  redraw();
  clearTimeout(pending);
  pending = setTimeout(() => {
    element('live').textContent = long;
  }, 400) as unknown as number;
}

function chooseWindow(window: number): void {
  chosen.window = window;
  const one = shown();
  element('wanted').replaceChildren(
    ...one.recommended.map(({ share, threshold }) => {
      const button = Object.assign(document.createElement('button'), {
        type: 'button',
        textContent: `less than ${share}: ${plainNumber(threshold)}`,
      });
      button.addEventListener('click', () => choose(placeOf(threshold)));
      return button;
    }),
  );
  choose(placeOf(one.recommended[0]?.threshold ?? 1));
}

slider.addEventListener('input', () => choose(Number(slider.value)));
number.addEventListener('change', () => choose(placeOf(Number(number.value))));
element('choice').addEventListener('submit', (event) => event.preventDefault());
const select = element('window', HTMLSelectElement);
select.addEventListener('change', () => chooseWindow(Number(select.value)));
// `drawOnScreen` makes the first drawing.
let redraw = () => {};
chooseWindow(0);
redraw = drawOnScreen(data.palettes, chartsNow);
