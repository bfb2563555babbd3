// The map of `weir map`: runs, zones, cures, files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { place, safeName } from '../report/folder.js';
import { flatRow, sweepDigest } from '../report/sweep-files.js';
import { writeSweepReport } from '../report/sweep-report.js';
import { mapText } from '../report/sweep-text.js';
import { counted } from '../report/words.js';
import { type CollapseMap, mapCollapse } from '../simulate/sweep/collapse-map.js';
import { planSweep, type SweepPlan } from '../simulate/sweep/plan-sweep.js';
import { makeFolder } from '../store/make-folder.js';
import { exitOfStop, interruptible } from './interrupt.js';
import type { GivenToMap } from './map.js';
import { runPlace } from './options.js';
import { Progress } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import { say, warn } from './say.js';
import { terminalAtHand } from './terminal.js';

export async function mapRuns(given: GivenToMap): Promise<void> {
  const { seed, replications, across, up, stuck, cure, set = [] } = given;
  const plan = await planSweep(given.scenario, { set }, { seed, replications });
  // Made before the runs, so that a folder that cannot be written to costs none.
  const { out } = given;
  if (given.report && out !== undefined) await place(out, async () => void makeFolder(out));
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
  const page = given.report ? await place(folder, () => writeMap(folder, plan, map, digest, given)) : undefined;
  const { columns, cures, runs, runsOfAll } = map;
  const text = given.json
    ? JSON.stringify({ rows: map.rows.map(flatRow), columns, cures, runs, digest })
    : `${mapText(map, terminalAtHand())}\n\n${runs < runsOfAll ? `${runs} of ${runsOfAll} runs needed` : counted(runs, 'run')}\n${digest}`;
  say(`${text}\n`);
  if (page !== undefined && !given.json) say(`\nopen it here: ${page}\n`);
}

async function writeMap(
  folder: string,
  plan: SweepPlan,
  map: CollapseMap,
  digest: string,
  given: GivenToMap,
): Promise<string> {
  const { scenario, across, up, set, stuck, cure, replications, seed } = given;
  makeFolder(folder);
  writeFileSync(join(folder, 'map.ndjson'), map.rows.map((row) => `${JSON.stringify(flatRow(row))}\n`).join(''));
  const command = rerunCommand('map', [scenario], { across, up, set, stuck, cure, replications, seed });
  const { axes, rows } = map;
  const whole = { ...plan, axes, cells: rows };
  return writeSweepReport(folder, {
    plan: whole,
    rows,
    figures: ['stuck', 'runs'],
    digest,
    command,
    files: ['map.ndjson'],
    border: 0.5,
  });
}
