// Owns `weir replay`: what a limiter would have done to a log.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { showDashes } from './dash.js';
import { jsonOption, noDefault, outOption, reportOption, topOption } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .positional('log', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      coerce: showDashes,
      describe: 'log files, also .gz; - for standard input',
    })
    .option('threshold', {
      type: 'number',
      default: 100,
      requiresArg: true,
      describe: 'request events a window may hold',
    })
    .option('within', {
      type: 'number',
      default: 60,
      requiresArg: true,
      describe: 'length of the rolling window in cycles',
    })
    .option('cycle-ms', { type: 'number', default: 777, requiresArg: true, describe: 'length of a cycle in ms' })
    .option('format', {
      type: 'string',
      requiresArg: true,
      describe: 'common, combined, csv, tsv, ndjson or har (default: recognised)',
    })
    .option('time-column', { type: 'string', requiresArg: true, describe: 'column or field with the time' })
    .option('time-unit', { type: 'string', requiresArg: true, describe: 'what plain numbers count: s, ms, us or ns' })
    .option('count-column', {
      type: 'string',
      requiresArg: true,
      describe: 'column or field with a number of requests',
    })
    .option('spread', {
      type: 'string',
      requiresArg: true,
      describe: 'spread the requests of a row over so long, for example 60s',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe: 'client, or a column: one contract for each of its values',
    })
    .option('key-column', { type: 'string', requiresArg: true, describe: 'the same as --key' })
    .option('live', {
      type: 'boolean',
      default: false,
      describe: 'send the log to a live node at its recorded times, and compare',
    })
    .option('url', { type: 'string', requiresArg: true, describe: 'with --live: the node (default: one is started)' })
    .option('speed', { type: 'number', default: 1, requiresArg: true, describe: 'with --live: so many times faster' })
    .option('allow-remote', {
      type: 'boolean',
      default: false,
      describe: 'with --live: the target may be another machine',
    })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .conflicts('key', 'key-column')
    .example('$0 replay access.log', 'an Apache or nginx log through 100 requests in 60 cycles')
    .example('$0 replay access.log.gz --key client --threshold 20', 'one limiter for each client')
    .example('$0 replay access.log --live --speed 60', 'send it to a live node, sixty times as fast, and compare')
    .example('$0 replay counts.csv --time-column minute --count-column n --spread 60s', 'counts per minute')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type ReplayArguments = ArgumentsCamelCase<Options>;

export const replayCommand: CommandModule<object, Options> = {
  command: 'replay <log..>',
  describe: 'run logs through a limiter: which requests would have been refused, when, for how long',
  builder: options,
  handler: async (given) => {
    const { runReplay } = await import('./replay-run.js');
    await runReplay(given);
  },
};
