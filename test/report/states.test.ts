// Definitions with other states than those of a rate limiter: every state is in the chart of the window, by name, and a move between two states
// that both admit is neither an entry nor a restore.
import { expect, it } from 'vitest';
import { parseScenario, type ScenarioObject } from '../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../src/harness/simulate/simulate.js';
import { decisionsChart } from '../../src/report/chart/decisions.js';
import { spreadChart } from '../../src/report/chart/replications.js';
import { windowChart } from '../../src/report/chart/window-count.js';
import type { Reported } from '../../src/report/reported.js';
import { chartLines } from '../../src/report/terminal-chart.js';
import { defined, move } from '../core/limiter/defined.js';
import { replicatedRun } from './sample.js';

const definition = defined('three', { free: { initial: true }, busy: { admits: true }, shut: {} }, [
  move('free', 'busy', 'count > 5'),
  move('busy', 'shut', 'count > 10'),
  move('shut', 'busy', 'count <= 8'),
  move('busy', 'free', 'count <= 3'),
]);

const ran = (scenario: object): Promise<Reported> =>
  simulate(parseScenario({ question: 'What happens?', ...scenario } as ScenarioObject));

// One request in each cycle from 0 to 9, and four more in cycle 5.
const three = () =>
  ran({
    duration: 30,
    limiter: { definition },
    arrivals: [
      { model: 'constant', rate: 1, to: 10 },
      { model: 'burst', burst_rate: 4, at: 5, for: 1 },
    ],
  });

it('a chart of three states has each as intervals that cover the run, and marks for what each transition is', async () => {
  const run = await three();
  const { transitions, entries, restores } = run.outcome.by_contract[0]!;
  const chart = windowChart(run)!;
  const at = (kind: string) => chart.marks.find((mark) => mark.kind === kind)?.xs.length ?? 0;
  expect(transitions.map(({ to }) => to)).toEqual(['busy', 'shut', 'busy', 'free']);
  expect([at('entry'), at('restore'), at('move')]).toEqual([entries, restores, 2]);
  expect(chart.states!.map(({ name, admits }) => [name, admits])).toEqual([
    ['free', true],
    ['busy', true],
    ['shut', false],
  ]);
  const cycles = chart.states!.flatMap(({ intervals }) => intervals).map(([from, to]) => to - from);
  const { to } = chart.x as { readonly to: number };
  expect(cycles.reduce((sum, n) => sum + n)).toBe(to);
  expect(chart.states![2]!.intervals).toEqual(chart.shades);
  expect(chart.about).toMatch(
    / In the state free for \S+ s \(\d+ cycles\), busy for \S+ s \(\d+ cycles?\), shut for \S+ s \(\d+ cycles\)\.$/,
  );
});

it('a chart of three states has a row for each in a terminal', async () => {
  const text = chartLines(windowChart(await three())!, { columns: 80, color: false, unicode: true });
  expect(['free', 'busy', 'shut'].filter((name) => text.some((line) => line.endsWith(`▀ ${name}`)))).toHaveLength(3);
});

it('the outcome names three states of a definition, and not the two of a rate limiter', async () => {
  const plain = await ran({
    duration: 5,
    limiter: { threshold: 1, within: 5 },
    arrivals: [{ model: 'constant', rate: 1 }],
  });
  expect([(await three()).outcome.states, plain.outcome.states, windowChart(plain)!.states]).toEqual([
    [
      { name: 'free', admits: true },
      { name: 'busy', admits: true },
      { name: 'shut', admits: false },
    ],
    undefined,
    undefined,
  ]);
});

it('the chart of decisions has one unit: in a long run the mean of a step, with its busiest cycle above it', async () => {
  const run = await ran({
    duration: 3_000,
    limiter: { threshold: 100_000, within: 5 },
    arrivals: [{ model: 'constant', rate: '1 per 2 cycles' }],
  });
  const chart = decisionsChart(run);
  const highest = (label: string) =>
    Math.max(...chart.lines.find((line) => line.label === label)!.ys.map((value) => value ?? 0));
  expect([chart.yTitle, highest('admitted'), highest('busiest cycle')]).toEqual([
    'Requests per cycle, mean of 20',
    0.5,
    1,
  ]);
});

it('the chart of decisions leaves out busiest cycles that would flatten the means', async () => {
  const { lines, yMax } = decisionsChart(
    await ran({
      duration: 3_000,
      limiter: { threshold: 100_000, within: 5 },
      arrivals: [{ model: 'spikes', requests: 9, at: 5, every: 20 }],
    }),
  );
  expect([lines.map(({ label }) => label), yMax]).toEqual([['admitted', 'limited'], 9 / 20]);
});

it('the chart of figures over replications holds every interval, those too that reach beyond the runs', () => {
  const run = replicatedRun();
  const { figures } = run.outcome.replications!;
  const limited = { ...figures['limited']!, low: 0, high: 4 * figures['limited']!.mean };
  const replications = { ...run.outcome.replications!, figures: { ...figures, limited } };
  const { x, ranges } = spreadChart({ ...run, outcome: { ...run.outcome, replications } })!;
  const { from, to } = x as { readonly from: number; readonly to: number };
  const ends = ranges!.rows.flatMap(({ min, low, high, max }) => [min, low, high, max]);
  expect([Math.max(...ends) < to, Math.min(...ends) > from, Math.max(...ends)]).toEqual([true, true, 300]);
});
