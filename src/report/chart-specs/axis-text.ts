// Texts on the axes and in the tooltips of charts.
import type { AgoAxis, ChartSpec, CycleAxis } from './spec.js';

/** 1842801930 -> 1,842,801,930; at most two digits after the point, three below 1. */
export function plainNumber(value: number): string {
  const [whole = '', fraction] = String(Number(value.toFixed(Math.abs(value) < 1 ? 3 : 2))).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function cycleTime(cycles: number, { cycleMs, from, to }: CycleAxis | AgoAxis): string {
  const spanS = ((to - from) * cycleMs) / 1000;
  const s = (cycles * cycleMs) / 1000;
  const digits = (unitS: number) => (spanS / unitS < 10 ? 2 : spanS / unitS < 100 ? 1 : 0);
  if (spanS < 300) return `${Number(s.toFixed(digits(1)))} s`;
  if (spanS < 4 * 3600) return `${Number((s / 60).toFixed(digits(60)))} min`;
  if (spanS < 4 * 86_400) return `${Number((s / 3600).toFixed(digits(3600)))} h`;
  return `${Number((s / 86_400).toFixed(digits(86_400)))} d`;
}

const YEAR_MS = 31_536_000_000;
const LAST_INSTANT_MS = 8.64e15;

function isCalendar({ firstCycle, cycleMs, to }: CalendarAxis): boolean {
  return firstCycle * cycleMs > YEAR_MS && (firstCycle + (to ?? 0)) * cycleMs <= LAST_INSTANT_MS;
}

type CalendarAxis = Pick<CycleAxis, 'firstCycle' | 'cycleMs'> & { readonly to?: number };

function axisInstant({ firstCycle, cycleMs }: CalendarAxis, cycle: number): string {
  return `${new Date((firstCycle + cycle) * cycleMs).toISOString().slice(0, 19)}Z`;
}

/** In UTC, to the second; undefined for a run without a date. @param cycle from the first */
export function instantOn(at: CalendarAxis, cycle: number): string | undefined {
  return isCalendar(at) ? axisInstant(at, cycle) : undefined;
}

/** 10:00:00, 01-31 10:00 or 2026-01-31, by the axis length. Undefined for a run without a date. */
function clockTime(cycle: number, x: CycleAxis): string | undefined {
  const text = instantOn(x, Math.floor(cycle));
  if (text === undefined) return undefined;
  const hours = ((x.to - x.from) * x.cycleMs) / 3_600_000;
  return hours < 24 ? text.slice(11, 19) : hours < 24 * 60 ? text.slice(5, 16).replace('T', ' ') : text.slice(0, 10);
}

export function stopwatchText(at: CalendarAxis, cycle: number): string {
  return `${stopwatch(cycle * at.cycleMs)}${isCalendar(at) ? `, ${axisInstant(at, cycle)}` : ''}`;
}

function stopwatch(ms: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const s = ms / 1000;
  const days = Math.floor(s / 86_400);
  const tenths = Math.floor(s * 10) % 10;
  return `${days > 0 ? `${days} d ` : ''}${two((s / 3600) % 24)}:${two((s / 60) % 60)}:${two(s % 60)}.${tenths}`;
}

export function xTick(spec: ChartSpec, value: number): string | string[] {
  const { x } = spec;
  switch (x.kind) {
    case 'cycles':
      return Number.isInteger(value) ? [clockTime(value, x) ?? cycleTime(value, x), plainNumber(value)] : '';
    case 'ago':
      return value === x.to ? 'now' : `−${cycleTime(x.to - value, x)}`;
    case 'percentiles':
      return percentileName(value, x.max);
    case 'percent':
      return `${value > 0 ? '+' : ''}${plainNumber(value)} %`;
    case 'values':
      return x.names === undefined ? plainNumber(value) : (x.names[value] ?? '');
  }
}

/** 0.301 -> p50, 1 -> p90, 2 -> p99. */
function percentileName(nines: number, max: number): string {
  if (Math.abs(nines - max) < 1e-9) return 'max';
  const percent = 100 * (1 - 10 ** -nines);
  return `p${Number(percent.toFixed(percent < 99 ? 0 : 2))}`;
}

/** Splits `limited: 12` into two lines if any name is too long. Shortened names keep both ends: clients differ there. */
export function rowNames(names: readonly string[], longest: number): (string | string[])[] {
  const isLong = names.some((name) => name.length > longest);
  return names.map((name) => fittedName(isLong ? name.split(/: (?=[\d.,]+$)/) : [name], longest));
}

function fittedName([name = '', value]: readonly string[], longest: number): string | string[] {
  const head = Math.ceil((longest - 1) / 2);
  const fitted = name.length > longest ? `${name.slice(0, head)}…${name.slice(head + 1 - longest)}` : name;
  return value === undefined ? fitted : [fitted, value];
}

export function xTitle({ x }: ChartSpec): string {
  switch (x.kind) {
    case 'cycles':
      return `${isCalendar(x) ? `Time (UTC, ${axisInstant(x, 0).slice(0, 10)})` : 'Time from the start'} and cycle (${plainNumber(x.cycleMs)} ms)`;
    case 'ago':
      return `Time before now (a cycle is ${x.cycleMs / 1000} s)`;
    case 'percentiles':
      return 'Percentile';
    case 'percent':
      return 'Difference from the mean of the replications';
    case 'values':
      return x.title;
  }
}

export function placeName({ x }: ChartSpec, value: number): string {
  if (x.kind === 'percentiles') return percentileName(value, x.max);
  if (x.kind === 'percent') return '';
  if (x.kind === 'values') return `${x.title} ${x.names?.[value] ?? plainNumber(value)}`;
  if (x.kind === 'ago') return `${cycleTime(x.to - value, x)} ago, cycle ${plainNumber(value)}`;
  return `cycle ${plainNumber(value)}, ${isCalendar(x) ? axisInstant(x, value) : cycleTime(value, x)}`;
}

const AGO_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

/** Round times before now, at most seven. */
export function agoPlaces({ from, to, cycleMs }: AgoAxis): readonly number[] {
  const spanS = ((to - from) * cycleMs) / 1000;
  const stepS = AGO_STEPS_S.find((step) => spanS / step <= 6) ?? spanS / 6;
  return Array.from({ length: Math.floor(spanS / stepS) + 1 }, (_, n) => to - (n * stepS * 1000) / cycleMs);
}

/** -log10(1 - p) for p50, p90, p99 and p99.9. */
export const percentilePlaces: readonly number[] = [0.3010299956639812, 1, 2, 3];
