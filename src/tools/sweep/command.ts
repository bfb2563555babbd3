// `weir sweep`: runs a scenario for all values of some fields; --find searches for the value at which a condition begins to hold, --map
// finds where a service stays stuck.

import { command, flag, type GivenTo, several, text, whole } from '../../report/command/command.js';
import { usageFailure } from '../../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import { jsonOf, outFor, runPlace, seed, workers } from '../../report/command/options.js';
import { Progress } from '../../report/command/progress.js';
import { say, warn } from '../../report/command/say.js';
import { terminalAtHand } from '../../report/command/terminal.js';
import { blocksText } from '../../report/terminal-blocks.js';
import type { Found } from './find.js';
import type { SweepPlan } from './plan-sweep.js';

const options = {
  scenario: text(
    'scenario file (YAML or JSON); or matrix: every limiter by every client library, under a burst and an outage',
    {
      place: true,
      required: true,
    },
  ),
  set: several(
    text(
      'a field and its values: limiter.threshold=50..200:10, or a=1,2,3; several times for several fields; limiter=every and clients=every are all that are known. With --find the first is searched, to the nearest step; with --map the first is the load, the second the trigger, and further ones make a map each',
    ),
  ),
  replications: whole(
    1,
    100_000,
    'runs of each cell (default: 1); with --map runs per border cell (default: 20), other cells get 4, or 0 where all neighbours agree',
  ),
  workers,
  seed,
  find: text(
    "search for the value at which this begins to hold, for example 'limited < 1%'; with --map: when a run is stuck (default: 'clients.succeeded < clients.jobs / 2')",
    { needs: 'set' },
  ),
  map: flag('map load by trigger: where a service stays stuck after the trigger has gone'),
  out: outFor('reports/<scenario>/sweep-<id>'),
  json: jsonOf('sweep', ', a line for each cell, of a map one line'),
};

type Given = GivenTo<typeof options>;

const MATRIX = 'matrix';

export const sweep = command({
  options,
  examples: [
    ['sweep scenarios/burst.yaml --set limiter.threshold=50..200:10', 'one line, 16 cells'],
    [
      'sweep scenarios/shop.yaml --set limiter.threshold=20..60:10 --set limiter.within=30,60,120 --replications 20',
      'a heat map, with intervals',
    ],
    ["sweep scenarios/day.yaml --find 'limited < 1%' --set limiter.threshold=50..500", 'by bisection'],
    [
      'sweep scenarios/day.yaml --set limiter.threshold=1..1000:1 --workers redis://10.0.0.1',
      'on every machine where weir worker runs',
    ],
    [
      'sweep scenarios/metastable.yaml --map --set arrivals.0.rate=1/s..9/s:1/s --set arrivals.1.rate=0/s..40/s:5/s --set clients.0.max_attempts=1,3',
      'where it stays stuck: one attempt, or three',
    ],
    ['sweep matrix', 'every limiter by every client library: goodput, attempts per success, time to drain, worst wait'],
  ],
  more: 'A sweep or a map that was stopped goes on when the same command is given again. A map measures after the trigger if the scenario has a warm_up.',
  run: async (given, line) => {
    const { seed, set = [], find, map } = given;
    const isMatrix = given.scenario === MATRIX;
    if (isMatrix && (map || find !== undefined))
      throw usageFailure('matrix takes neither --map nor --find.', 'Name a scenario file with them.');
    if (set.length === 0 && !isMatrix)
      throw usageFailure('Nothing is varied.', 'Name a field with its values: --set limiter.threshold=50..200:10.');
    if (map && set.length < 2)
      throw usageFailure(
        '--map takes the field of the load and that of the trigger.',
        'For example --set arrivals.0.rate=2/s..9/s:1/s --set arrivals.1.rate=0/s..40/s:5/s.',
      );
    if (find !== undefined && !map && line.has('out'))
      throw usageFailure('--out has no effect with --find.', 'Leave --out out.');
    const { planSweep } = await import('./plan-sweep.js');
    const replications = given.replications ?? (map ? 20 : 1);
    const { everyOf, matrixAxes, matrixScenario } = await import('./matrix.js');
    const axes = isMatrix ? matrixAxes(set) : everyOf(set.slice(map ? 2 : find === undefined ? 0 : 1));
    const source = isMatrix ? matrixScenario : given.scenario;
    const plan = await planSweep(source, { set: axes }, { seed, replications });
    if (given.json || (find !== undefined && !map)) for (const note of plan.notes) warn(`${note}\n`);
    if (find !== undefined && !map) return findAndPrint(plan, given, set[0]!, find);
    await (await import('./made-runs.js')).makeRuns(plan, given, line);
  },
});

async function findAndPrint(plan: SweepPlan, given: Given, searched: string, condition: string): Promise<void> {
  const [{ foundBlocks }, { findValues }] = await Promise.all([import('./sweep-document.js'), import('./find.js')]);
  const progress = new Progress(`search of ${plan.name}`);
  progress.show(0);
  const answers: Found['answer'][] = [];
  for await (const found of findValues(
    plan,
    { condition, over: searched },
    { ...runPlace(given), signal: stopSignal() },
  )) {
    answers.push(found.answer);
    progress.show(answers.length / plan.cells.length, `${answers.length} of ${plan.cells.length}`);
    const text = given.json ? JSON.stringify(found) : blocksText(foundBlocks(found, condition), terminalAtHand());
    say(`${text}\n`);
  }
  const isAnswered = answers.every((answer) => answer === 'smallest' || answer === 'largest');
  process.exitCode = exitOfStop() ?? (isAnswered ? 0 : 1);
}
