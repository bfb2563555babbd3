// Charts of the queue with retries, latency over time, and latency by percentile.
import type { Outcome, Quantiles } from '../../harness/outcome/outcome-schema.js';
import type { Series } from '../../harness/outcome/series.js';
import { percentilePlaces } from '../chart-specs/axis-text.js';
import { type ChartSpec, type CycleAxis, type Line, type Tone, unmarked } from '../chart-specs/spec.js';
import { reduceSteps } from '../reduce.js';
import type { Reported } from '../reported.js';
import { capital, counted, isFromSending, latency, number } from '../words.js';
import { cycleAxis } from './cycle-axis.js';

export function queueChart({ outcome, series }: Reported): ChartSpec | undefined {
  if (series === undefined) return undefined;
  const axis = cycleAxis(outcome);
  const { queue, open_jobs: jobs, retries } = series;
  const most = { queue: mostOf(queue), jobs: mostOf(jobs), retries: mostOf(retries) };
  // Every queued request belongs to an open job, so one of the two suffices.
  const level =
    most.queue > 0
      ? ({ name: 'Queue', label: 'waiting at the service', tone: 'queue', values: queue } as const)
      : most.jobs > 0
        ? ({ name: 'Open jobs', label: 'jobs open', tone: 'jobs', values: jobs } as const)
        : undefined;
  if (level === undefined && most.retries === 0) return undefined;
  const sentences = [
    ...(queue === undefined ? [] : [`At most ${number(most.queue)} waited at the service at once.`]),
    ...(jobs === undefined
      ? []
      : [
          `At most ${counted(most.jobs, 'job')} of clients ${most.jobs === 1 ? 'was' : 'were'} open at the end of a cycle.`,
        ]),
    ...(retries === undefined ? [] : [`At most ${counted(most.retries, 'retry', 'retries')} came in one cycle.`]),
  ];
  const right = level === undefined ? 'left' : 'right';
  return {
    id: 'queue',
    title: level === undefined ? 'Retries' : most.retries === 0 ? level.name : `${level.name} and retries`,
    about: sentences.join(' '),
    x: axis,
    yTitle: level === undefined ? 'Retries per cycle' : level.tone === 'queue' ? 'Requests waiting' : 'Jobs open',
    yWhole: true,
    ...(level === undefined || most.retries === 0 ? {} : { rightTitle: 'Retries per cycle' }),
    lines: [
      ...(level === undefined
        ? []
        : measured(series, level.values, axis, { label: level.label, tone: level.tone, stepped: true })),
      ...(most.retries === 0 ? [] : measured(series, retries, axis, { ...retried, axis: right })),
    ],
    ...unmarked,
    height: 320,
  };
}

function mostOf(values: readonly (number | null)[] | undefined): number {
  return (values ?? []).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

export function latencyChart({ outcome, series }: Reported): ChartSpec | undefined {
  if (series === undefined) return undefined;
  const { latency_ms_p50, latency_ms_p99, latency_taken: taken, response_ms_p50 } = series;
  const most = Math.max(mostOf(latency_ms_p50), mostOf(latency_ms_p99), mostOf(response_ms_p50));
  if (most === 0) return undefined;
  const axis = cycleAxis(outcome);
  const { unit, inUnit } = unitFor(most);
  const line = (label: string, tone: Tone, values: readonly (number | null)[] | undefined) =>
    measured(series, values?.map(inUnit), axis, { label, tone, stepped: false });
  const isJobs = response_ms_p50 !== undefined;
  return {
    id: 'latency',
    title: 'Latency over time',
    about: `Median and 99th percentile of each cycle${taken === undefined ? '' : `, ${taken}`}; cycles without requests are blank.${isJobs ? ' The service also spends time on requests whose client has given up.' : ''}`,
    x: axis,
    yTitle: `Latency, ${unit}`,
    lines: [
      ...line(isJobs ? 'jobs, p50' : 'p50', 'median', latency_ms_p50),
      // Larger dots form a ring where the median is equal.
      ...line(isJobs ? 'jobs, p99' : 'p99', 'tail', latency_ms_p99).map((tail) =>
        tail.loose === true ? { ...tail, width: 4 } : tail,
      ),
      ...line('response of the service, p50', 'response', response_ms_p50),
    ],
    ...unmarked,
    height: 320,
  };
}

function unitFor(mostMs: number): { unit: 'ms' | 's'; inUnit: <T extends number | null>(ms: T) => T | number } {
  return mostMs >= 20_000
    ? { unit: 's', inUnit: (ms) => (ms === null ? ms : ms / 1000) }
    : { unit: 'ms', inUnit: (ms) => ms };
}

const retried = { label: 'retries', tone: 'retries', stepped: true, width: 1, area: 'zero' } as const;

function measured(
  { cycle }: Series,
  values: readonly (number | null)[] | undefined,
  axis: CycleAxis,
  { label, tone, ...more }: Omit<Line, 'xs' | 'ys'>,
): Line[] {
  if (values === undefined) return [];
  const xs = cycle.map((one) => one - axis.firstCycle);
  if (values.includes(null)) return [{ label, tone, ...withGaps(xs, values, axis), ...more }];
  const steps = reduceSteps({ xs, ys: values as number[] }, axis);
  const last = steps.ys.at(-1);
  const held =
    more.stepped && last !== undefined ? { xs: [...steps.xs, (xs.at(-1) ?? 0) + 1], ys: [...steps.ys, last] } : steps;
  return [{ label, tone, ...held, ...more }];
}

const MOST_GAPS = 1 / 3;

function withGaps(
  xs: readonly number[],
  ys: readonly (number | null)[],
  axis: CycleAxis,
): Pick<Line, 'xs' | 'ys' | 'loose'> {
  const points = ys.flatMap((y, index) => (y === null ? [] : [{ x: xs[index]!, y, index }]));
  const span = (points.at(-1)?.index ?? 0) - (points[0]?.index ?? 0) + 1;
  if (points.length < (1 - MOST_GAPS) * span) {
    const alone = { xs: points.map(({ x }) => x), ys: points.map(({ y }) => y) };
    return { ...reduceSteps(alone, axis), loose: true };
  }
  const kept: { xs: number[]; ys: (number | null)[] } = { xs: [], ys: [] };
  let start = 0;
  for (let index = 0; index <= xs.length; index += 1) {
    if (index < xs.length && ys[index] !== null) continue;
    const part = reduceSteps({ xs: xs.slice(start, index), ys: ys.slice(start, index) as number[] }, axis);
    kept.xs.push(...part.xs);
    kept.ys.push(...part.ys);
    start = index + 1;
    if (index === xs.length || (kept.ys.at(-1) ?? null) === null) continue;
    kept.xs.push(xs[index]!);
    kept.ys.push(null);
  }
  return kept;
}

/** At `percentilePlaces`. */
const QUANTILES = ['p50', 'p90', 'p99', 'p999'] as const;

/** x of the maximum, beyond the last percentile. */
const MAX_PLACE = 3.6;

const looks: readonly (readonly [Tone, NonNullable<Line['dots']>])[] = [
  ['count', 'circle'],
  ['limited', 'triangle'],
  ['median', 'rect'],
  ['tail', 'rectRot'],
  ['observed', 'star'],
];

export function percentilesChart({ outcome }: Reported): ChartSpec | undefined {
  const curves = timedIn(outcome).slice(0, looks.length);
  if (curves.length === 0) return undefined;
  const { unit, inUnit } = unitFor(Math.max(...curves.map(([, { max }]) => max)));
  return {
    id: 'percentiles',
    title: 'Latency by percentile',
    about: `${curves.map(([label, { n, p50, p99, max }]) => `${capital(label)}: p50 ${latency(p50)}, p99 ${latency(p99)}, max ${latency(max)} of ${number(n)}`).join('. ')}.`,
    x: { kind: 'percentiles', max: MAX_PLACE },
    yTitle: `Latency, ${unit}`,
    yLog: curves.every(([, { p50 }]) => p50 > 0),
    lines: curves.map(([label, quantiles], index) => ({
      label,
      tone: looks[index]![0],
      xs: [...percentilePlaces, MAX_PLACE],
      ys: [...QUANTILES.map((name) => quantiles[name]), quantiles.max].map(inUnit),
      stepped: false,
      dots: looks[index]![1],
    })),
    ...unmarked,
    height: 340,
  };
}

function timedIn({ clients, service, live }: Outcome): [label: string, quantiles: Quantiles][] {
  const hasIntent = live?.latency_ms && !isFromSending(live.latency_ms);
  const found: [string, Quantiles | null | undefined][] = [
    ['from the intended instant', hasIntent ? live.latency_ms : undefined],
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
