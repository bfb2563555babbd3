// `weir sweep --map`: where a service stays stuck after a trigger has gone. Runs, zones, cures, files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sentence } from '../report/block.js';
import { documentText } from '../report/terminal-blocks.js';
import { counted } from '../report/words.js';
import type { SweepPlan } from '../simulate/sweep/plan-sweep.js';
import { type CommandLine, flag, type GivenTo, several, text } from './command.js';
import { usageFailure } from './ending.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { NONE, runPlace } from './options.js';
import { Progress } from './progress.js';
import { say, warn } from './say.js';
import { terminalAtHand } from './terminal.js';

export const mapOptions = {
  map: flag('map load by trigger: where a service stays stuck after the trigger has gone; a map for each --set', {
    without: ['find', 'samples', 'watch', 'figure'],
  }),
  across: text('with --map: field and values of the load, for example arrivals.0.rate=2/s..9/s:1/s', {
    needs: ['map'],
  }),
  up: text('with --map: field and values of the trigger, for example arrivals.1.rate=0/s..40/s:5/s', {
    needs: ['map'],
  }),
  stuck: text(
    "with --map: when a run counts as stuck (default: 'clients.succeeded < clients.jobs / 2'); set warm_up in the scenario to measure after the trigger",
    { needs: ['map'] },
  ),
  cure: several(
    text(
      'with --map: a change that may cure the scenario as written, its values from weak to strong: limiter.threshold=400,300,200',
      { needs: ['map'] },
    ),
  ),
};

interface Given extends GivenTo<typeof mapOptions> {
  readonly workers?: number | string;
  readonly out?: string;
  readonly json: boolean;
}

export async function drawMap(plan: SweepPlan, given: Given, line: CommandLine): Promise<void> {
  const [
    { place, safeName },
    { flatRow, sweepDigest },
    { mapBlocks },
    { sweepDocument, writeSweepReport },
    { mapCollapse },
    { makeFolder },
  ] = await Promise.all([
    import('../report/folder.js'),
    import('../report/sweep-files.js'),
    import('../report/sweep-document.js'),
    import('../report/sweep-report.js'),
    import('../simulate/sweep/collapse-map.js'),
    import('../store/make-folder.js'),
  ]);
  const { across, up, stuck = 'clients.succeeded < clients.jobs / 2', cure, out } = given;
  if (across === undefined || up === undefined)
    throw usageFailure(
      '--map takes the field of the load and that of the trigger.',
      'For example --across arrivals.0.rate=2/s..9/s:1/s --up arrivals.1.rate=0/s..40/s:5/s.',
    );
  // Made before the runs, so that a folder that cannot be written to costs none.
  if (out !== undefined && out !== NONE) await place(out, async () => void makeFolder(out));
  const { signal, release } = interruptible();
  const progress = new Progress(`map of ${plan.name}`);
  let done = 0;
  const onRun = () => {
    done += 1;
    progress.show(undefined, `${done} runs`);
  };
  const map = await mapCollapse(plan, { across, up, stuck, cures: cure }, { ...runPlace(given), signal, onRun });
  progress.clear();
  release();
  if (map === undefined) {
    warn(`Stopped after ${counted(done, 'run')}; a map that is not whole is not kept.\n`);
    process.exitCode = exitOfStop() ?? 1;
    return;
  }
  const digest = sweepDigest(plan.name, map.rows);
  const folder = out ?? join('reports', safeName(plan.name), `map-${digest.slice(7, 15)}`);
  const { axes, columns, cures, rows, runs, runsOfAll } = map;
  const needed = runs < runsOfAll ? `${runs} of ${runsOfAll} runs needed` : counted(runs, 'run');
  const swept = { plan: { ...plan, axes, cells: rows }, rows, figures: ['stuck', 'runs'], border: 0.5 };
  const says = [...mapBlocks(map), sentence(`${needed}.`)];
  const document = sweepDocument({ ...swept, says }, { command: line.repeat(), facts: digest });
  const page =
    given.out === NONE
      ? undefined
      : await place(folder, () => {
          makeFolder(folder);
          writeFileSync(join(folder, 'map.ndjson'), rows.map((row) => `${JSON.stringify(flatRow(row))}\n`).join(''));
          return writeSweepReport(folder, { ...swept, document, files: ['map.ndjson', 'summary.md'] });
        });
  const notes = plan.notes.length > 0 && { notes: plan.notes };
  say(
    given.json
      ? `${JSON.stringify({ rows: rows.map(flatRow), columns, cures, runs, ...notes, digest })}\n`
      : `${documentText(document, terminalAtHand())}\n${digest}\n`,
  );
  if (page !== undefined && !given.json) say(`\nopen it here: ${page}\n`);
}
