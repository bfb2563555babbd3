// The live page of a run: predicted and observed overlaid. At the end it becomes the report.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { plainNumber } from '../web/chart/axis-text.js';
import { type ChartSpec, type Line, type Tone, unmarked } from '../web/chart/spec.js';
import { followScreens } from '../web/follow-screens.js';
import { element } from '../web/page-element.js';
import type { RunScreen, WatchedArm } from '../web/watched.js';
import { Charts } from './charts.js';
import { Expectations, Tiles } from './figures.js';
import { useTheme } from './theme.js';

function WatchPage() {
  const [run, setRun] = useState<RunScreen>();
  const [isLost, setLost] = useState(false);
  const [theme, setTheme] = useTheme();
  useEffect(() => {
    const show = (next: RunScreen) => {
      setRun(next);
      setLost(false);
    };
    return followScreens<RunScreen>(show, () => setLost(true));
  }, []);
  if (run === undefined)
    return (
      <main>
        <h1>A run</h1>
        <p role="status">{isLost ? 'The run has ended.' : 'Waiting for the run…'}</p>
      </main>
    );
  const { name, question, share, leftMs, facts, expectations, ended, cycles } = run;
  const status =
    ended !== undefined ? 'ended' : isLost ? 'The run does not answer.' : leftMs === null ? '' : `${left(leftMs)} left`;
  return (
    <>
      <header>
        <h1>
          {name} <span>{run.isLive ? 'live' : 'simulated'}</span>
        </h1>
        <div class="row buttons">
          <button type="button" id="theme" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
            {theme === 'dark' ? 'Light' : 'Dark'}
          </button>
        </div>
      </header>
      <main class="bench">
        <div class="middle">
          <p class="question">{question}</p>
          <div class="row far">
            <progress max={1} value={share} aria-label="How far the run has come" />
            <p role="status">
              {Math.floor(100 * share)} % of {plainNumber(cycles)} cycles{status === '' ? '' : `, ${status}`}
            </p>
          </div>
          <Tiles tiles={facts} />
          <Charts charts={chartsOf(run)} theme={theme} />
        </div>
        <div class="right">
          <Expectations all={expectations} isOver={ended !== undefined} />
        </div>
      </main>
    </>
  );
}

function chartsOf(run: RunScreen): ChartSpec[] {
  const { predicted, running, columnCycles, cycles, threshold, isFleet, isLive } = run;
  const limited = ({ requests, admitted }: WatchedArm) => requests.map((n, column) => n - admitted[column]!);
  const most = Math.max(1, ...running.counts, ...(predicted?.counts ?? []));
  const line = (label: string, tone: Tone, ys: readonly number[], width: number): Line => ({
    label,
    tone,
    xs: ys.map((_, column) => column * columnCycles),
    ys,
    stepped: true,
    width,
  });
  const arms = (ysOf: (arm: WatchedArm) => readonly number[]) => [
    isLive ? line('observed', 'observed', ysOf(running), 1.6) : line('simulated', 'count', ysOf(running), 1.6),
    ...(predicted === undefined ? [] : [line('predicted', 'predicted', ysOf(predicted), 5)]),
  ];
  const common = { x: { kind: 'values', title: 'Cycles from the start', from: 0, to: cycles }, yWhole: true } as const;
  const level: Line[] =
    threshold === null || threshold > 4 * most
      ? []
      : [{ label: 'threshold', tone: 'threshold', xs: [0, cycles], ys: [threshold, threshold], stepped: true }];
  const each = columnCycles === 1 ? 'per cycle' : `per ${plainNumber(columnCycles)} cycles`;
  const charts: ChartSpec[] = [
    {
      ...common,
      id: 'window',
      title: isFleet ? 'Contracts that limit' : 'What the window counts',
      about: `${plainNumber(running.counts.at(-1) ?? 0)} now${threshold === null ? '' : `, threshold ${plainNumber(threshold)}`}`,
      yTitle: isFleet ? 'Contracts limiting' : 'Requests in the window',
      lines: [...arms(({ counts }) => counts), ...level],
      ...unmarked,
      height: 360,
    },
    {
      ...common,
      id: 'limited',
      title: `Limited ${each}`,
      about: `${plainNumber(limited(running).reduce((sum, n) => sum + n, 0))} so far`,
      yTitle: `Limited ${each}`,
      lines: arms(limited),
      ...unmarked,
      height: 280,
    },
  ];
  return charts.filter(({ lines }) => lines.some(({ ys }) => ys.length > 0));
}

function left(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

render(<WatchPage />, element('play'));
