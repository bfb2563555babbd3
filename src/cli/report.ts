// `weir report`: renders runs. The work is in render-runs.ts.
import type { Argv } from 'yargs';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import { noDefault, portOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('run', {
      type: 'string',
      array: true,
      ...noDefault,
      describe: 'report folders, or their outcome.json; with --serve a folder of reports (default: reports)',
    })
    .option('serve', {
      type: 'boolean',
      default: false,
      describe: 'serve all reports on loopback: search, open, side by side',
    })
    .option('port', portOption)
    .option('format', {
      type: 'string',
      default: 'text',
      requiresArg: true,
      describe: 'text, json, csv, junit, markdown, html or png, on standard output',
    })
    .option('out', { type: 'string', requiresArg: true, describe: 'render one run again into this folder' })
    .option('baseline', { type: 'string', requiresArg: true, describe: 'compare the runs with this one' })
    .option('tolerance', {
      type: 'number',
      default: 0.05,
      requiresArg: true,
      describe: 'share by which a figure may be worse: 0.05 is 5 %',
    })
    .option('floor', {
      type: 'number',
      default: 0,
      requiresArg: true,
      describe: 'amount by which a figure may always be worse, in its unit',
    })
    .option('fail-on-worse', {
      type: 'boolean',
      default: false,
      describe: 'exit 1 when a run is worse than the baseline',
    })
    .example('$0 report reports/burst/7', 'one run again, as text')
    .example('$0 report reports/burst/7 --format markdown', 'for a pull request')
    .example('$0 report reports/burst/7 reports/burst/8', 'two runs side by side')
    .example('$0 report --serve', 'all runs of reports/ in the browser')
    .example('$0 report new --baseline old --fail-on-worse', 'for CI');

export const rules: OptionRules = {
  needs: { port: ['serve'], tolerance: ['baseline'], floor: ['baseline'], 'fail-on-worse': ['baseline'] },
  without: { format: ['serve', 'out'], out: ['serve'], baseline: ['serve', 'out'] },
};

export type GivenToReport = GivenTo<typeof options>;

export async function run(given: GivenToReport): Promise<void> {
  if (!(given.tolerance >= 0) || !(given.floor >= 0)) {
    throw new Failure('wrong_usage', {
      what: '--tolerance and --floor take numbers from 0 on.',
      fix: 'For example --tolerance 0.05.',
    });
  }
  const { run: named = [], serve, port } = given;
  // Without a positional argument yargs gives a list of nothing.
  const runs = named.filter((one) => one !== undefined);
  if (serve && runs.length > 1)
    throw new Failure('wrong_usage', { what: '--serve takes one folder of reports.', fix: 'For example reports.' });
  if (serve) return (await import('./serve-reports.js')).serveReports(runs[0] ?? 'reports', port);
  if (runs.length === 0)
    throw new Failure('wrong_usage', {
      what: 'No run is named.',
      fix: 'For example reports/burst/7; `weir report --serve` shows all of them.',
    });
  await (await import('./render-runs.js')).renderRuns({ ...given, run: runs });
}
