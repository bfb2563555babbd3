// Owns the charts of what the requests met: the queue with the retries, latency over time, latency by percentile.
import type { Outcome, Quantiles } from '../../outcome/schema.js';
import type { Series } from '../../outcome/series.js';
import { reduceSteps } from '../reduce.js';
import type { Reported } from '../reported.js';
import { number } from '../words.js';
import { COLUMNS, cycleAxis } from './cycle-axis.js';
import type { ChartSpec, CycleAxis, Line, Tone } from './spec.js';

/** Undefined where neither a queue nor retries were measured. */
export function queueChart({ outcome, series }: Reported): ChartSpec | undefined {
  if (series?.queue === undefined && series?.retries === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const both = series.queue !== undefined && series.retries !== undefined;
  const lines = [
    ...measured('waiting', 'queue', series, series.queue, axis, { stepped: true }),
    ...measured('retries', 'retries', series, series.retries, axis, { stepped: true, axis: both ? 'right' : 'left' }),
  ];
  const most = (values: readonly number[] | undefined) => number((values ?? []).reduce((a, b) => Math.max(a, b), 0));
  const parts = [
    ...(series.queue === undefined ? [] : [`At most ${most(series.queue)} waited at once`]),
    ...(series.retries === undefined ? [] : [`at most ${most(series.retries)} retries came in one cycle`]),
  ].join('; ');
  return {
    id: 'queue',
    title: both ? 'Queue and retries' : series.queue === undefined ? 'Retries' : 'Queue',
    about: `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`,
    x: axis,
    yTitle: series.queue === undefined ? 'retries a cycle' : 'requests waiting',
    ...(both ? { rightTitle: 'retries a cycle' } : {}),
    lines,
    shades: [],
    marks: [],
    height: 320,
  };
}

/** Undefined where latency was not measured cycle by cycle. */
export function latencyChart({ outcome, series }: Reported): ChartSpec | undefined {
  if (series?.latency_ms_p50 === undefined && series?.latency_ms_p99 === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const lines = [
    ...measured('p50', 'median', series, series.latency_ms_p50, axis, { stepped: false }),
    ...measured('p99', 'tail', series, series.latency_ms_p99, axis, { stepped: false }),
  ];
  return {
    id: 'latency',
    title: 'Latency over time',
    about: 'Median and 99th percentile of the answers of each cycle. A gap is a cycle without answers.',
    x: axis,
    yTitle: 'ms',
    lines,
    shades: [],
    marks: [],
    height: 320,
  };
}

function measured(
  label: string,
  tone: Tone,
  { cycle }: Series,
  values: readonly (number | null)[] | undefined,
  axis: CycleAxis,
  more: Partial<Line>,
): Line[] {
  if (values === undefined) return [];
  const xs = cycle.map((one) => one - axis.firstCycle);
  if (values.includes(null)) {
    // A gap is no value to reduce; where there are gaps, the parts between them are reduced one by one.
    return [{ label, tone, ...withGaps(xs, values, axis), stepped: false, ...more }];
  }
  const steps = reduceSteps({ xs, ys: values as number[] }, axis.from, axis.to, COLUMNS);
  const last = steps.ys.at(-1);
  // A level holds to the end of its cycle.
  const held =
    more.stepped === true && last !== undefined
      ? { xs: [...steps.xs, (xs.at(-1) ?? 0) + 1], ys: [...steps.ys, last] }
      : steps;
  return [{ label, tone, ...held, stepped: false, ...more }];
}

function withGaps(xs: readonly number[], ys: readonly (number | null)[], { from, to }: CycleAxis) {
  const kept: { xs: number[]; ys: (number | null)[] } = { xs: [], ys: [] };
  let start = 0;
  for (let index = 0; index <= xs.length; index += 1) {
    if (index < xs.length && ys[index] !== null) continue;
    const part = reduceSteps({ xs: xs.slice(start, index), ys: ys.slice(start, index) as number[] }, from, to, COLUMNS);
    kept.xs.push(...part.xs, ...(index < xs.length ? [xs[index]!] : []));
    kept.ys.push(...part.ys, ...(index < xs.length ? [null] : []));
    start = index + 1;
  }
  return kept;
}

const QUANTILES = [
  ['p50', 0.3010299956639812],
  ['p90', 1],
  ['p99', 2],
  ['p999', 3],
] as const;

/** The largest value stands beyond the last percentile, a little apart. */
const MAX_PLACE = 3.6;

const looks: readonly (readonly [Tone, NonNullable<Line['dots']>])[] = [
  ['count', 'circle'],
  ['limited', 'triangle'],
  ['median', 'rect'],
  ['tail', 'rectRot'],
  ['observed', 'star'],
];

/** Latency by percentile, of what was timed, the most telling first; undefined where nothing was. */
export function percentilesChart({ outcome }: Reported): ChartSpec | undefined {
  const curves = timedIn(outcome).slice(0, looks.length);
  if (curves.length === 0) return undefined;
  return {
    id: 'percentiles',
    title: 'Latency by percentile',
    about: `${curves.map(([label, { n, p50, p99, max }]) => `${label}: p50 ${number(p50)} ms, p99 ${number(p99)} ms, max ${number(max)} ms of ${number(n)}`).join('. ')}.`,
    x: { kind: 'percentiles', max: MAX_PLACE },
    yTitle: 'ms',
    yLog: curves.every(([, { p50 }]) => p50 > 0),
    lines: curves.map(([label, quantiles], index) => ({
      label,
      tone: looks[index]![0],
      xs: [...QUANTILES.map(([, place]) => place), MAX_PLACE],
      ys: [...QUANTILES.map(([name]) => quantiles[name]), quantiles.max],
      stepped: false,
      dots: looks[index]![1],
    })),
    shades: [],
    marks: [],
    height: 340,
  };
}

function timedIn({ clients, service, live }: Outcome): [label: string, quantiles: Quantiles][] {
  const found: [string, Quantiles | null | undefined][] = [
    ['from the intended instant', live?.latency_ms],
    ['from sending', live?.raw_latency_ms],
    ...Object.entries(live?.by_decision ?? {}),
    ['send lag', live?.send_lag_ms],
    ['job, from the first attempt', clients?.[0]?.job_latency_ms],
    ['attempt', clients?.[0]?.attempt_latency_ms],
    ['waiting for the service', service?.wait_ms],
    ['response of the service', service?.response_ms],
  ];
  return found.flatMap(([label, quantiles]) =>
    quantiles === null || quantiles === undefined ? [] : [[label, quantiles]],
  );
}
