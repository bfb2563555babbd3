// Owns the options of `weir report`. Leaves the doing to report-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { noDefault } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .positional('run', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      describe: 'report folders, or their outcome.json',
    })
    .option('format', {
      type: 'string',
      default: 'text',
      requiresArg: true,
      describe: 'text, json, csv, junit, markdown, html or png, on standard output',
    })
    .option('out', { type: 'string', requiresArg: true, describe: 'render one run again into this folder' })
    .option('baseline', { type: 'string', requiresArg: true, describe: 'hold the runs against this one' })
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
      describe: 'what a figure may be worse in any case, in its unit',
    })
    .option('fail-on-worse', {
      type: 'boolean',
      default: false,
      describe: 'exit 1 when a run is worse than the baseline',
    })
    .example('$0 report reports/burst/7', 'one run again, as text')
    .example('$0 report reports/burst/7 --format markdown', 'for a pull request')
    .example('$0 report reports/burst/7 reports/burst/8', 'two runs side by side')
    .example('$0 report new --baseline old --fail-on-worse', 'for CI')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type ReportArguments = ArgumentsCamelCase<Options>;

export const reportCommand: CommandModule<object, Options> = {
  command: 'report <run..>',
  describe: 'render runs again, side by side, or against a baseline',
  builder: options,
  handler: async (given) => {
    const { runReport } = await import('./report-run.js');
    await runReport(given);
  },
};
