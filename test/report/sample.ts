// Runs made by hand, for reports to be made of: small enough to be followed, with everything that a report can show.
import { sealed } from '../../src/harness/outcome/assemble.js';
import { RowBuilder } from '../../src/harness/outcome/cycle-row.js';
import { limitingIntervals } from '../../src/harness/outcome/interval-figures.js';
import type { ContractOutcome, Outcome, Quantiles, TransitionSeen } from '../../src/harness/outcome/outcome-schema.js';
import type { Series } from '../../src/harness/outcome/series.js';
import { Timeline, TotalsTimeline } from '../../src/harness/outcome/timeline.js';
import { limitingStates, type Reported } from '../../src/report/reported.js';

/** Requests of one contract: [cycle from the start, requests]. */
export type Arrivals = readonly (readonly [cycle: number, requests: number])[];

export interface SampleOptions {
  readonly contracts?: Readonly<Record<string, Arrivals>>;
  readonly threshold?: number;
  readonly within?: number;
  readonly firstCycle?: number;
  readonly cycles?: number;
  readonly more?: Partial<Outcome>;
}

/** Decides by the law of the limiter, cycle by cycle, and takes down everything. */
export function sampleRun({
  contracts = { all: burst },
  threshold = 20,
  within = 10,
  firstCycle = 0,
  cycles = 60,
  more = {},
}: SampleOptions = {}): Reported {
  const names = Object.keys(contracts);
  const rows: Parameters<Timeline['add']>[] = [];
  const told = names.map((id, index): ContractOutcome => {
    const transitions: TransitionSeen[] = [];
    const requests = new Map(contracts[id]);
    let isLimiting = false;
    let count = 0;
    const sums = { requests: 0, admitted: 0, limited: 0, peak_count: 0 };
    let peakCycle: number | null = null;
    const move = (cycle: number, to: string) => {
      isLimiting = to === 'limiting';
      transitions.push({ cycle: firstCycle + cycle, to, count });
    };
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const before = `${count} ${isLimiting}`;
      count -= requests.get(cycle - within) ?? 0;
      if (isLimiting && count <= threshold) move(cycle, 'allowing');
      const n = requests.get(cycle) ?? 0;
      let admitted = 0;
      for (let request = 0; request < n; request += 1) {
        count += 1;
        if (!isLimiting && count > threshold) move(cycle, 'limiting');
        if (!isLimiting) admitted += 1;
      }
      sums.requests += n;
      sums.admitted += admitted;
      sums.limited += n - admitted;
      if (count > sums.peak_count) {
        sums.peak_count = count;
        peakCycle = firstCycle + cycle;
      }
      if (n > 0 || before !== `${count} ${isLimiting}`)
        rows.push([firstCycle + cycle, index, n, admitted, count, isLimiting ? 'limiting' : 'allowing']);
    }
    const intervals = limitingIntervals(transitions, (state) => state !== 'limiting');
    const last = firstCycle + cycles - 1;
    const entries = transitions.filter(({ to }) => to === 'limiting').length;
    return {
      id,
      threshold,
      within,
      ...sums,
      entries,
      restores: transitions.length - entries,
      limiting_cycles: intervals.reduce((sum, [from, to = last]) => sum + to - from, 0),
      peak_cycle: peakCycle,
      transitions,
    };
  });
  const by_contract = told.sort((a, b) => b.limited - a.limited || (a.id < b.id ? -1 : 1));
  const sum = (pick: (one: ContractOutcome) => number) => by_contract.reduce((total, one) => total + pick(one), 0);
  const peak = by_contract.reduce((most, one) => (one.peak_count > most.peak_count ? one : most), by_contract[0]!);
  const outcome = {
    weir: '0.0.0-test',
    kind: 'simulate',
    arm: 'predicted',
    scenario: 'sample',
    question: 'Does the gate trip, and does it recover?',
    seed: 7,
    cycle_ms: 777,
    first_cycle: firstCycle,
    last_cycle: firstCycle + cycles - 1,
    skipped_lines: 0,
    contracts: names.length,
    contracts_limited: by_contract.filter(({ limited }) => limited > 0).length,
    requests: sum((one) => one.requests),
    admitted: sum((one) => one.admitted),
    limited: sum((one) => one.limited),
    entries: sum((one) => one.entries),
    restores: sum((one) => one.restores),
    limiting_cycles: sum((one) => one.limiting_cycles),
    peak_count: peak.peak_count,
    peak_cycle: peak.peak_cycle,
    by_contract,
    expectations: [
      { name: 'the gate trips once', expected: 'entries == 1', actual: sum((one) => one.entries), held: true },
      { name: 'few are limited', expected: 'limited <= 40', actual: sum((one) => one.limited), held: true },
    ],
    verdict: 'held',
    ...more,
  } satisfies Omit<Outcome, 'digest'>;
  const timeline = new Timeline(names);
  for (const row of rows.sort((a, b) => a[0] - b[0] || a[1] - b[1])) timeline.add(...row);
  const whole = sealed(outcome);
  return { outcome: whole, timeline, totals: totalsOf(timeline, limitingStates(whole)) };
}

function totalsOf(timeline: Timeline, limiting: ReadonlySet<string>): Timeline {
  const names = timeline.contracts;
  const states = [true, false].map((admits) => ({ name: admits ? 'allowing' : 'limiting', admits }));
  const row = new RowBuilder({ names, states, initial: 0, threshold: null, within: 0 }, false);
  const totals = new TotalsTimeline();
  const inLimiting = new Set<string>();
  let last: number | undefined;
  for (const { cycle, contract, requests, admitted, count, state } of timeline.rows()) {
    if (last !== undefined && cycle !== last) totals.next(row.take(last));
    last = cycle;
    const index = names.indexOf(contract);
    row.requested(index, requests, admitted);
    if (limiting.has(state) === inLimiting.has(contract)) continue;
    const admits = inLimiting.delete(contract);
    if (!admits) inLimiting.add(contract);
    row.moved(index, admits ? 0 : 1, count);
  }
  if (last !== undefined) totals.next(row.take(last));
  return totals;
}

/** A quiet stream, one burst, quiet again. */
export const burst: Arrivals = Array.from(
  { length: 50 },
  (_, cycle) => [cycle, cycle >= 20 && cycle < 24 ? 12 : cycle % 2] as const,
);

export function quantiles(scale: number, n = 2_000): Quantiles {
  return {
    n,
    mean: 1.2 * scale,
    p50: scale,
    p90: 2 * scale,
    p99: 5 * scale,
    p999: 9 * scale,
    max: 12 * scale,
    taken: 'by hand',
  };
}

/** Names that would do harm where they are not escaped. */
export const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\'&|`\u001b[31m\u202e\u0000';

/** A live run with differences, clients, a service, and everything measured over cycles. */
export function liveRun(): Reported {
  const model = sampleRun();
  const first = model.outcome.by_contract[0]!;
  const observed = sampleRun({ within: 9 });
  const predicted = new Map([...model.timeline!.rows()].map((row) => [row.cycle, row.limited]));
  const differences = [...observed.timeline!.rows()].flatMap(({ cycle, contract, limited }) =>
    (predicted.get(cycle) ?? 0) === limited
      ? []
      : [{ cycle, contract, figure: 'limited', predicted: predicted.get(cycle) ?? 0, observed: limited }],
  );
  const cycle = Array.from({ length: 60 }, (_, index) => index);
  const series: Series = {
    cycle,
    planned: cycle.map((at) => first.requests / 60 + (at % 3)),
    queue: cycle.map((at) => Math.max(0, 14 - Math.abs(at - 26))),
    retries: cycle.map((at) => (at >= 22 && at < 34 ? (at * 7) % 5 : 0)),
    response_ms_p50: cycle.map((at) => (at > 50 ? null : 2 + Math.max(0, 14 - Math.abs(at - 26)))),
    latency_ms_p50: cycle.map((at) => (at > 50 ? null : 3 + Math.max(0, 14 - Math.abs(at - 26)))),
    latency_ms_p99: cycle.map((at) => (at > 50 ? null : 9 + 3 * Math.max(0, 14 - Math.abs(at - 26)))),
  };
  const outcome: Outcome = {
    ...observed.outcome,
    kind: 'load',
    arm: 'observed',
    verdict: 'differs',
    clients: [
      {
        kind: 'all',
        clients: 4,
        jobs: 60,
        attempts: 90,
        retries: 30,
        succeeded: 52,
        given_up: 8,
        dropped: 0,
        abandoned: 1,
        retry_amplification: 1.5,
        goodput_per_second: 1.25,
        job_latency_ms: quantiles(40),
        attempt_latency_ms: quantiles(8),
      },
    ],
    service: {
      arrived: 60,
      served: 58,
      refused: 2,
      dropped: 0,
      wasted: 1,
      queue_mean: 2.4,
      queue_max: 14,
      busy_share: 0.4,
      wait_ms: quantiles(3),
      response_ms: quantiles(6),
    },
    live: {
      target: 'http://127.0.0.1:8080/',
      planned: 73,
      sent: 73,
      answered: 73,
      failed: 0,
      timed_out: 0,
      arrived: 73,
      late: 0,
      connections: 8,
      send_lag_ms: quantiles(0.4),
      latency_ms: quantiles(4),
      raw_latency_ms: quantiles(3.5),
      by_decision: { admitted: quantiles(4), limited: quantiles(2) },
      by_phase: {},
      by_cycle: burst.map(([at, planned]) => ({ cycle: at, planned, sent: planned, arrived: planned })),
    },
    comparison: {
      verdict: 'node differs',
      reason: 'The window of the node is shorter than the model says.',
      compared_cycles: 60,
      compared_decisions: 73,
      tolerance: 'none',
      differences_total: differences.length,
      differences,
    },
  };
  return { ...observed, outcome, predicted: model.timeline!, series };
}

/** A simulation of devices that hold back and try again: no service, and answers in few cycles only. */
export function devicesRun(): Reported {
  const run = sampleRun();
  const cycle = Array.from({ length: 60 }, (_, index) => index);
  const latency = cycle.map((at) => (at % 4 === 0 ? at * 1_000 : null));
  const series: Series = {
    cycle,
    open_jobs: cycle.map((at) => Math.max(0, 30 - Math.abs(at - 30))),
    retries: cycle.map((at) => (at % 9 === 5 ? 3 : 0)),
    latency_ms_p50: latency,
    latency_ms_p99: latency.map((ms) => (ms === null ? null : 1.5 * ms)),
    latency_taken: 'from the first attempt until served, plotted at the cycle of completion',
  };
  return { ...run, series };
}

/** Fifty tenants, a few of them too busy. */
export function fleetRun(): Reported {
  const contracts = Object.fromEntries(
    Array.from({ length: 50 }, (_, tenant) => [
      `tenant-${String(tenant + 1).padStart(2, '0')}`,
      Array.from(
        { length: 200 },
        (_, cycle) => [cycle, (cycle * 7 + tenant * 13) % (tenant < 30 ? 6 : 40) === 0 ? 6 - (tenant % 6) : 0] as const,
      ),
    ]),
  );
  return sampleRun({ contracts, threshold: 6, within: 10, cycles: 210, more: { scenario: 'fleet', expectations: [] } });
}

export function replicatedRun(): Reported {
  const run = sampleRun();
  const spread = (mean: number, by: number) => ({
    mean,
    low: mean - by / 3,
    high: mean + by / 3,
    interval: 't' as const,
    min: mean - by,
    max: mean + by,
  });
  const cycle = Array.from({ length: 30 }, (_, index) => 2 * index);
  const middle = cycle.map((at) => Math.max(4, 50 - 4 * Math.abs(at - 26)));
  const band = {
    runs: 20,
    stretch_cycles: 2,
    cycle,
    low: middle.map((count) => Math.round(0.8 * count)),
    middle,
    high: middle.map((count) => Math.round(1.3 * count)),
  };
  return {
    ...run,
    series: { cycle: [], band },
    outcome: {
      ...run.outcome,
      replications: {
        n: 20,
        held: 20,
        held_share: { low: 0.8389, high: 1 },
        failed_seeds: [],
        figures: {
          requests: spread(73, 6),
          admitted: spread(55, 4),
          limited: spread(18, 9),
          entries: spread(1.2, 1),
          peak_count: spread(50, 5),
        },
      },
    },
  };
}

/** Three cycles, four requests. */
export function shortRun(): Reported {
  return sampleRun({
    contracts: {
      all: [
        [0, 1],
        [1, 3],
      ],
    },
    threshold: 2,
    within: 2,
    cycles: 3,
    more: { expectations: [] },
  });
}

/** Nothing was counted. */
export function emptyRun(): Reported {
  return sampleRun({
    contracts: { all: [] },
    more: { first_cycle: null, last_cycle: null, expectations: [], kind: 'replay', scenario: 'empty.log' },
  });
}

/** A long run: `cycles` cycles and about `entries` entries, in the time of the world. */
export function longRun(cycles: number, entries: number): Reported {
  const every = Math.floor(cycles / entries);
  const arrivals: Arrivals = Array.from({ length: entries }, (_, index) => [index * every, 3 + (index % 5)] as const);
  return sampleRun({
    contracts: { all: arrivals },
    threshold: 2,
    within: 5,
    cycles,
    firstCycle: 2_300_000_000,
    more: { scenario: 'long', expectations: [] },
  });
}
