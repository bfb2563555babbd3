// The chart of a contract's last cycles: the count against the threshold, and the requests as bars in the lower quarter.
import { HISTORY_CYCLES } from '../../api/contract-history.js';
import type { ChartSpec, Line, StateStrip } from '../../report/chart-specs/spec.js';
import type { Course } from './course.js';

export interface CourseShape {
  readonly of: 'count' | 'limited_keys';
  /** What is counted, as the title of the left axis. */
  readonly unit: string;
  readonly threshold: number | undefined;
  readonly cycleMs: number;
}

const BARS = 4;

export function courseChart(course: Course, { of, unit, threshold, cycleMs }: CourseShape): ChartSpec {
  const [counts, admitted, limited] = [course.of(of), course.of('admitted'), course.of('limited')];
  const to = course.first + course.length;
  const from = to - HISTORY_CYCLES;
  const all = admitted.map((value, index) => (value === null ? null : value + (limited[index] ?? 0)));
  const steps = (values: readonly (number | null)[]) => stepsFrom(course.first, values);
  const rates = (values: readonly (number | null)[]) =>
    steps(values.map((value) => (value === null ? null : (1000 * value) / cycleMs)));
  const inTooltips = (values: readonly (number | null)[]) => ({ tooltips: steps(values).ys.map(Number) });
  const starts = (column: 'entries' | 'restores') =>
    course.of(column).flatMap((value, index) => (value === null || value === 0 ? [] : [course.first + index]));
  const states = course.statesSeen().map((one) => ({ ...one, intervals: one.intervals.map(whole) }));
  const bars = { axis: 'right', stepped: true, width: 1 } as const;
  return {
    id: 'course',
    title: unit,
    about: '',
    x: { kind: 'ago', from, to, cycleMs },
    yTitle: unit,
    yWhole: true,
    yMax: Math.max(1, threshold ?? 0) * 1.1,
    rightTitle: 'Requests per second',
    rightMax: (BARS * Math.max(1, ...all.map((value) => value ?? 0)) * 1000) / cycleMs,
    lines: [
      { label: of === 'count' ? 'count' : 'keys limiting', tone: 'count', ...steps(counts), stepped: true },
      ...thresholdLine(threshold, from, to),
      { label: 'admitted', tone: 'admitted', ...rates(admitted), ...bars, area: 'zero', ...inTooltips(admitted) },
      { label: 'limited', tone: 'limited', ...rates(all), ...bars, area: 'previous', ...inTooltips(limited) },
    ],
    shades: course.stretches('limiting').map(whole),
    marks: [
      { kind: 'entry', xs: starts('entries') },
      { kind: 'restore', xs: starts('restores') },
    ],
    unknown: course.unknown().map(whole),
    ...(of === 'limited_keys' || isPlain(states) ? {} : { states }),
    height: 240,
  };
}

function thresholdLine(threshold: number | undefined, from: number, to: number): Line[] {
  if (threshold === undefined) return [];
  return [
    { label: 'threshold', tone: 'threshold', xs: [from, to], ys: [threshold, threshold], stepped: false, width: 1 },
  ];
}

/** Shades say as much of a contract with one state that admits and one that does not. */
function isPlain(states: readonly StateStrip[]): boolean {
  return states.filter(({ admits }) => admits).length < 2 && states.filter(({ admits }) => !admits).length < 2;
}

/** A value holds until the end of its cycle. */
function stepsFrom(first: number, values: readonly (number | null)[]): Pick<Line, 'xs' | 'ys'> {
  const points = values.flatMap((value, index) => {
    const isLast = value !== null && (values[index + 1] ?? null) === null;
    return [[first + index, value] as const, ...(isLast ? [[first + index + 1, value] as const] : [])];
  });
  return { xs: points.map(([x]) => x), ys: points.map(([, y]) => y) };
}

/** From the start of the first cycle to the end of the last. */
function whole([from, to]: readonly [from: number, to: number]): readonly [from: number, to: number] {
  return [from, to + 1];
}
