// Owns what is shown of a run, and of a sweep, while it goes on: at its end it is what the outcome says.
import { lastValueFrom, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { screenLines, WatchScreen } from '../../src/cli/watch-screen.js';
import { WatchedRun } from '../../src/cli/watched-run.js';
import { WatchedSweep } from '../../src/cli/watched-sweep.js';
import { ObservedRows } from '../../src/live/observed.js';
import { RequestLog } from '../../src/live/request-log.js';
import { loadScenario } from '../../src/scenario/load-scenario.js';
import { runReplication } from '../../src/simulate/replication.js';
import { simulate, simulate$, toRun } from '../../src/simulate/simulate.js';
import { planSweep, scenarioOf } from '../../src/simulate/sweep/plan-sweep.js';
import { refuses } from './command-line.js';

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

async function watched(name: string, each: (run: WatchedRun) => void = () => {}) {
  const scenario = await loadScenario(`scenarios/${name}.yaml`);
  const run = new WatchedRun(scenario, { kind: 'simulate', seed: scenario.seed, nowMs: () => 0 });
  const rows = simulate$(scenario).pipe(
    tap((row) => {
      run.next(row);
      each(run);
    }),
  );
  const { outcome } = await lastValueFrom(rows.pipe(toRun(scenario)));
  return { run, outcome, shown: run.shown({ hasReport: false }) };
}

describe('a run that has come to its end', () => {
  it.each(['burst', 'spikes', 'many-tenants', 'nginx-no-burst', 'sawtooth'])(
    '%s: is that of its outcome',
    async (name) => {
      const { outcome, shown } = await watched(name);
      expect([sum(shown.running.requests), sum(shown.running.admitted)]).toEqual([outcome.requests, outcome.admitted]);
      if (outcome.contracts === 1) expect(Math.max(...shown.running.counts)).toBe(outcome.peak_count);
      expect(shown.expectations.map(({ name, state }) => [name, state])).toEqual(
        outcome.expectations.map(({ name, held }) => [name, held ? 'held' : 'broken']),
      );
    },
  );

  it('what only clients know is open', async () => {
    const { shown } = await watched('herd');
    expect(shown.expectations.map(({ state }) => state)).toContain('open');
  });
});

it('a live run is its lines: the window is summed over them, and the model has said the same before', async () => {
  const scenario = await loadScenario('scenarios/burst.yaml');
  const live = new WatchedRun(scenario, { kind: 'load', seed: 7, nowMs: () => 0 });
  await live.predict();
  const rows = await lastValueFrom(simulate$(scenario).pipe(toArray()));
  const { outcome } = await simulate(scenario);
  const requestLog = new RequestLog();
  const sending = (cycle: number) => ({ ...requestLog.of(cycle), sendLagMsP99: 0, latencyMsP99: 0 });
  const closing = new ObservedRows(
    { plan: scenario.plan, names: ['all'], reports: true },
    { firstCycle: 5_000, lastCycle: 5_299, sending },
  );
  for (let cycle = 5_000; cycle < 5_300; cycle += 1) {
    const row = rows.find((one) => one.cycle + 5_000 === cycle);
    const { requests = 0, admitted = 0 } = row?.totals ?? {};
    for (let k = 0; k < requests; k += 1) {
      requestLog.send(cycle);
      requestLog.decide(cycle, 0, { admitted: k < admitted, count: undefined, state: undefined }, 0, 0);
    }
    for (const { to, count } of row?.transitions ?? []) closing.moved(0, { cycle, to, count });
    live.nextLive(closing.close(cycle, requestLog.cellsIn(cycle)));
  }
  const { running, predicted, expectations, facts } = live.shown();
  expect(running).toEqual(predicted);
  expect(expectations.every((one) => one.state === 'held')).toBe(true);
  expect(facts).toContainEqual(['sent', String(outcome.requests)]);
  expect(facts).toContainEqual(['under way', '0']);
});

describe('the view of a terminal', () => {
  const terminal = (columns: number) => ({ columns, color: false, unicode: true });

  it.each([40, 60, 90, 200])('at %i columns no line is wider', async (columns) => {
    const { run } = await watched('burst');
    const lines = screenLines(run.shown(), run.reported(), terminal(columns));
    expect(lines.filter((line) => [...line].length > columns)).toEqual([]);
    expect(lines.join('\n')).toContain('requests 270');
  });

  // biome-ignore format: one case a line
  it.each([
    ['two axes are a map of shades', ['limiter.threshold=90..130:10', 'limiter.within=50,70'], undefined,
      ['limited: 67 ·· to 131 ██   within down, threshold across', '   90     130', '70 ████▓▓▒▒░░', '50 ▓▓▒▒░░····', '']],
    [
      'one axis is a table of its newest cells',
      ['limiter.threshold=90..110:20'],
      undefined,
      [
        'threshold  held  limited  limiting_cycles  recovery_cycles  admitted',
        '       90   yes      120               61                2       150',
        '      110    no       99               59                1       171',
      ],
    ],
    ['drawn cells are a table, too', ['limiter.threshold=90..130', 'limiter.within=50..70'], 2,
      ['threshold  within  held  limited  limiting_cycles  peak_count  admitted']],
  ])('of a sweep: %s', async (_, set, samples, lines) => {
    const plan = await planSweep('scenarios/burst.yaml', { set, samples });
    const seen: string[] = [];
    let nowMs = 0;
    const watched = new WatchedSweep(plan, undefined, [], () => nowMs);
    const shown = (columns: number) => watched.lines(undefined, terminal(columns));
    expect(shown(60).at(-1)).toBe('Waiting for the first cell…');
    for (const cell of plan.cells) {
      const run = await runReplication(scenarioOf(plan, cell.set), plan.seed);
      watched.add({ cell: cell.cell, replication: 0, ...run });
      nowMs += 1_000;
      seen.push(
        shown(90)
          .slice(3, 5)
          .join(' ')
          .replace(/^\[.*\] /, ''),
      );
      for (const columns of [40, 60, 200])
        expect(shown(columns).filter((line) => [...line].length > columns)).toEqual([]);
    }
    const all = plan.cells.length;
    expect(seen.at(-2)).toBe(
      `${Math.floor((100 * (all - 1)) / all)} % done ${all - 1} of ${all} cells, ${all - 1} of ${all} runs, 1 s left`,
    );
    expect(shown(90).slice(6, 6 + lines.length)).toEqual(lines);
    // What the page is sent at the end is what the report shows.
    expect(watched.shown({ hasReport: true }).sweep?.cells).toHaveLength(all);
  });

  it('takes the screen once, fits its rows, follows a new size, and gives back what stood there', async () => {
    const { run } = await watched('burst');
    const written: string[] = [];
    const listeners = new Set<() => void>();
    const out = {
      rows: 12,
      columns: 80,
      write: (text: string) => written.push(text),
      on: (_: string, listener: () => void) => listeners.add(listener),
      off: (_: string, listener: () => void) => listeners.delete(listener),
    };
    const screen = new WatchScreen(out as unknown as NodeJS.WriteStream);
    screen.open();
    screen.open();
    screen.draw((size) => run.lines(undefined, size));
    out.rows = 6;
    for (const listener of listeners) listener();
    screen.close();
    screen.close();
    expect(written.map((text) => text.split('\n').length - 1)).toEqual([0, 11, 5, 0]);
    expect([written[0], written.at(-1)]).toEqual(['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l']);
    expect(listeners.size).toBe(0);
  });

  refuses('simulate scenarios/burst.yaml --out none', [
    ['--watch=text', '--watch=text draws on a terminal, and there is none.'],
    ['--watch=pages', '--watch takes page or text, not "pages".'],
  ]);
});
