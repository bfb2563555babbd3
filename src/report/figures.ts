// The figures of an outcome: name, label, unit, and which direction is worse.
import type { ClientFigures, Outcome, Quantiles } from '../harness/outcome/outcome-schema.js';
import { capital, counted, latency, number, spanWords } from './words.js';

export type FigureUnit = 'count' | 'cycles' | 'ms' | 'number';

type Worse = 'more' | 'less' | 'neither';

export interface Figure {
  readonly name: string;
  readonly label: string;
  readonly unit: FigureUnit;
  readonly worse: Worse;
  readonly of: (outcome: Outcome) => number | undefined;
  /** Says nothing about a run without a limiter. */
  readonly isOfLimiter?: boolean;
}

function figure(name: string, label: string, unit: FigureUnit, worse: Worse, of: Figure['of']): Figure {
  return { name, label, unit, worse, of };
}

const ofClients = (name: keyof ClientFigures) => (outcome: Outcome) => {
  const value = outcome.clients?.[0]?.[name];
  return typeof value === 'number' ? value : undefined;
};

function quantileFigures(
  prefix: string,
  label: string,
  of: (outcome: Outcome) => Quantiles | null | undefined,
): Figure[] {
  return (['p50', 'p99', 'max'] as const).map((quantile) =>
    figure(`${prefix}.${quantile}`, `${label}, ${quantile}`, 'ms', 'more', (outcome) => of(outcome)?.[quantile]),
  );
}

const limiterFigures: readonly Figure[] = [
  figure('admitted', 'admitted', 'count', 'less', (o) => o.admitted),
  figure('limited', 'limited', 'count', 'more', (o) => o.limited),
  figure('delayed', 'held first', 'count', 'more', (o) => o.delayed || undefined),
  ...quantileFigures('delay_ms', 'held for', (o) => o.delay_ms),
  figure('without_place.requests', 'of keys without a place', 'count', 'more', (o) => o.without_place?.requests),
  figure('without_place.limited', 'of those limited', 'count', 'more', (o) => o.without_place?.limited),
  figure('contracts_limited', 'contracts limited', 'count', 'more', (o) =>
    o.contracts > 1 ? o.contracts_limited : undefined,
  ),
  figure('entries', 'entries into limiting', 'count', 'more', (o) => o.entries),
  figure('restores', 'restores', 'count', 'neither', (o) => o.restores),
  figure('limiting_cycles', 'limiting for', 'cycles', 'more', (o) => o.limiting_cycles),
  figure('peak_count', 'largest window count', 'count', 'more', (o) => (o.limits ? undefined : o.peak_count)),
  figure('recovery_cycles', 'longest recovery', 'cycles', 'more', (o) => {
    const found = (o.reactions ?? []).flatMap(({ recovery_cycles }) =>
      recovery_cycles === null ? [] : [recovery_cycles],
    );
    return found.length === 0 ? undefined : found.reduce((most, one) => Math.max(most, one));
  }),
];

export const figures: readonly Figure[] = [
  figure('requests', 'requests', 'count', 'neither', (o) => o.requests),
  ...limiterFigures.map((one) => ({ ...one, isOfLimiter: true })),
  figure('clients.attempts', 'attempts of clients', 'count', 'more', ofClients('attempts')),
  figure('clients.retries', 'retries', 'count', 'more', ofClients('retries')),
  figure('clients.succeeded', 'jobs served', 'count', 'less', ofClients('succeeded')),
  figure('clients.given_up', 'jobs given up', 'count', 'more', ofClients('given_up')),
  figure('clients.dropped', 'items dropped by clients', 'count', 'more', ofClients('dropped')),
  figure('clients.retry_amplification', 'attempts per job', 'number', 'more', ofClients('retry_amplification')),
  figure('clients.goodput_per_second', 'goodput per second', 'number', 'less', ofClients('goodput_per_second')),
  ...quantileFigures('clients.job_latency_ms', 'job latency', (o) => o.clients?.[0]?.job_latency_ms),
  figure('service.served', 'served by the service', 'count', 'less', (o) => o.service?.served),
  figure('service.refused', 'refused by a full queue', 'count', 'more', (o) => o.service?.refused),
  figure('service.wasted', 'served after give-up', 'count', 'more', (o) => o.service?.wasted),
  figure('service.queue_mean', 'queue, mean', 'number', 'more', (o) => o.service?.queue_mean),
  figure('service.queue_max', 'queue, max', 'count', 'more', (o) => o.service?.queue_max),
  ...quantileFigures('service.response_ms', 'response time', (o) => o.service?.response_ms),
  figure('costs.requested', 'cost of the requests', 'count', 'neither', (o) => o.costs?.requested),
  figure('costs.admitted', 'cost admitted', 'count', 'less', (o) => o.costs?.admitted),
  figure('costs.most_in_minute', 'cost admitted, most in a minute', 'count', 'more', (o) => o.costs?.most_in_minute),
  figure('live.planned', 'planned', 'count', 'neither', (o) => o.live?.planned),
  figure('live.sent', 'sent', 'count', 'neither', (o) => o.live?.sent),
  figure('live.answered', 'answered', 'count', 'less', (o) => o.live?.answered),
  figure('live.failed', 'failed', 'count', 'more', (o) => o.live?.failed),
  figure('live.timed_out', 'timed out', 'count', 'more', (o) => o.live?.timed_out),
  figure('live.late', 'sent late', 'count', 'more', (o) => o.live?.late),
  ...quantileFigures('live.send_lag_ms', 'send lag', (o) => o.live?.send_lag_ms),
  ...quantileFigures('live.latency_ms', 'latency', (o) => o.live?.latency_ms),
  figure('differences', 'differences', 'count', 'more', (o) => o.comparison?.differences_total),
];

const titles: Readonly<Record<string, string>> = {
  admitted: 'requests admitted',
  limited: 'requests limited',
  stuck: 'share of runs stuck',
  'clients.drain_ms': 'time to recover (ms)',
  'clients.attempts_per_success': 'attempts per success',
};

export function figureTitle(name: string): string {
  const found = figures.find((one) => one.name === name);
  const unit = found?.unit === 'cycles' || found?.unit === 'ms' ? ` (${found.unit})` : '';
  const of = isQuantile(name) ? ' of a run' : '';
  return capital(titles[name] ?? (found === undefined ? `${name}${of}` : `${found.label}${of}${unit}`));
}

/** The mean of the quantiles of runs is not the quantile of all of them together. */
function isQuantile(name: string): boolean {
  return /\.p\d+$/.test(name);
}

/** Mean with its unit and its 95 % interval; undefined without replications. */
export function meanText({ name, unit }: Figure, { replications }: Outcome): string | undefined {
  const found = replications?.figures[name];
  if (found === undefined) return undefined;
  const mean = unit === 'cycles' ? counted(found.mean, 'cycle') : `${number(found.mean)}${unit === 'ms' ? ' ms' : ''}`;
  const words = found.low === found.high ? mean : `${mean} (${number(found.low)} to ${number(found.high)})`;
  return isQuantile(name) ? `${words}, of each run's own` : words;
}

export function meanTitle({ n }: { readonly n: number }): string {
  return `mean of ${n} runs (95 %)`;
}

export function figureText({ unit }: Pick<Figure, 'unit'>, value: number | undefined, cycleMs: number): string {
  if (value === undefined) return '–';
  if (unit === 'cycles') return spanWords(value, cycleMs);
  return unit === 'ms' ? latency(value) : number(value);
}
