// The page of a run while it goes on: predicted and observed grow over each other, and at the end it becomes the report.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { palettes } from '../chart/palette.js';
import { element } from '../page-element.js';
import type { RunScreen, WatchedArm } from '../watched.js';
import { Plot, type PlotLine } from './plot.js';
import { useTheme } from './theme.js';

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const REPORT_AFTER_MS = 600;

function WatchPage() {
  const [run, setRun] = useState<RunScreen>();
  const [isLost, setLost] = useState(false);
  const [theme, setTheme] = useTheme();
  useEffect(() => {
    const source = new EventSource('events');
    source.onmessage = ({ data }) => {
      const watched = JSON.parse(data as string) as RunScreen;
      setRun(watched);
      setLost(false);
      if (watched.ended === undefined) return;
      source.close();
      if (watched.ended.hasReport) setTimeout(() => location.replace('report'), REPORT_AFTER_MS);
    };
    source.onerror = () => setLost(true);
    return () => source.close();
  }, []);
  if (run === undefined) return <p role="status">{isLost ? 'The run has ended.' : 'Waiting for the run…'}</p>;
  const { name, question, share, leftMs, facts, expectations, ended, cycles } = run;
  const status =
    ended !== undefined ? 'ended' : isLost ? 'The run does not answer.' : leftMs === null ? '' : `${left(leftMs)} left`;
  return (
    <>
      <header>
        <h1>
          {name} <span>{run.isLive ? 'live' : 'simulated'}</span>
        </h1>
        <div class="buttons">
          <button type="button" id="theme" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
            {theme === 'dark' ? 'Light' : 'Dark'}
          </button>
        </div>
      </header>
      <main class="watched">
        <div class="middle">
          <p class="question">{question}</p>
          <div class="far">
            <progress max={1} value={share} aria-label="How far the run has come" />
            <p role="status">
              {Math.floor(100 * share)} % of {number.format(cycles)} cycles{status === '' ? '' : `, ${status}`}
            </p>
          </div>
          <dl class="figures">
            {facts.map(([what, value]) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <Charts run={run} theme={theme} />
        </div>
        <div class="right">
          {expectations.length > 0 && (
            <section aria-labelledby="expected">
              <h2 id="expected">Expectations so far</h2>
              <ul class="expected">
                {expectations.map(({ name: what, expected, state, found }) => (
                  <li key={what} class={state}>
                    <b>
                      {
                        {
                          held: ended === undefined ? '✓ so far' : '✓ held',
                          broken: ended === undefined ? '✗ not yet' : '✗ not held',
                          open: '· open',
                        }[state]
                      }
                    </b>{' '}
                    {what}
                    <small>
                      {expected}
                      {found === '' ? '' : `; found ${found}`}
                    </small>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </main>
    </>
  );
}

function Charts({ run, theme }: { readonly run: RunScreen; readonly theme: 'light' | 'dark' }) {
  const { predicted, running, columnCycles, cycles, threshold, isFleet, isLive } = run;
  const { tones } = palettes[theme];
  const xs = Array.from(
    { length: Math.max(1, Math.ceil(cycles / columnCycles)) },
    (_, column) => column * columnCycles,
  );
  const upTo = (values: readonly number[]) => xs.map((_, column) => values[column] ?? null);
  const limited = ({ requests, admitted }: WatchedArm) => requests.map((n, column) => n - admitted[column]!);
  const each = columnCycles === 1 ? 'per cycle' : `per ${number.format(columnCycles)} cycles`;
  const most = Math.max(1, ...running.counts, ...(predicted?.counts ?? []));
  const model = (label: string, ys: readonly number[]): PlotLine => ({
    label,
    color: tones.predicted.color,
    ys: upTo(ys),
    width: 5,
  });
  const seen = (label: string, ys: readonly number[]): PlotLine => ({
    label,
    color: isLive ? tones.observed.color : tones.count.color,
    ys: upTo(ys),
    width: 1.5,
  });
  const own = isLive ? 'observed' : 'simulated';
  return (
    <>
      {(running.counts.length > 0 || predicted !== undefined) && (
        <Plot
          id="window"
          title={isFleet ? 'Contracts that limit' : 'What the window counts'}
          about={`${number.format(running.counts.at(-1) ?? 0)} now${threshold === null ? '' : `, threshold ${number.format(threshold)}`}`}
          theme={theme}
          xs={xs}
          height={270}
          lines={[
            ...(predicted === undefined ? [] : [model('predicted', predicted.counts)]),
            seen(own, running.counts),
            ...(threshold === null || threshold > 4 * most
              ? []
              : [{ label: 'threshold', color: tones.threshold.color, ys: xs.map(() => threshold), dash: [7, 4] }]),
          ]}
        />
      )}
      {(running.requests.length > 0 || predicted !== undefined) && (
        <Plot
          id="limited"
          title={`Limited ${each}`}
          about={`${number.format(limited(running).reduce((sum, n) => sum + n, 0))} so far`}
          theme={theme}
          xs={xs}
          height={190}
          xTitle="cycles from the start"
          lines={[
            ...(predicted === undefined ? [] : [model('predicted', limited(predicted))]),
            seen(own, limited(running)),
          ]}
        />
      )}
    </>
  );
}

function left(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

render(<WatchPage />, element('play'));
