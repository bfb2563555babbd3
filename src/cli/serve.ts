// Owns the options of `weir serve`. Leaves running the node to serve-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { jsonOption } from './options.js';

export const DEFAULT_PORT = 7770;

const options = (yargs: Argv) =>
  yargs
    .option('port', { type: 'number', default: DEFAULT_PORT, requiresArg: true, describe: '0 takes any that is free' })
    .option('host', {
      type: 'string',
      default: '127.0.0.1',
      requiresArg: true,
      describe: 'address to listen on; 0.0.0.0 opens it to all',
    })
    .option('data', {
      type: 'string',
      default: './weir-data',
      requiresArg: true,
      describe: 'folder of the store, made when missing',
    })
    .option('memory', { type: 'boolean', default: false, describe: 'keep nothing: all is gone when it ends' })
    .option('durability', {
      choices: ['cycle', 'strict'] as const,
      default: 'cycle' as const,
      requiresArg: true,
      describe: 'when counts are on disk: once a cycle, or before each answer',
    })
    .option('cycle-ms', {
      type: 'number',
      requiresArg: true,
      describe: 'length of a cycle in ms (default: 777, or that of the data)',
    })
    .option('trust-proxy', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'address or network of a proxy whose X-Forwarded-* is believed',
    })
    .option('metrics-port', {
      type: 'number',
      requiresArg: true,
      describe: 'serve GET /metrics on a port of its own, and not beside the API',
    })
    .option('log-level', {
      choices: ['silent', 'error', 'warn', 'info', 'debug'] as const,
      default: 'warn' as const,
      requiresArg: true,
      describe: 'what is logged, as JSON on standard error',
    })
    .option('log-requests', { type: 'boolean', default: false, describe: 'log every request, with --log-level info' })
    .option('rotate-key', {
      type: 'boolean',
      default: false,
      describe: 'begin with a new key, named by the present one',
    })
    .option('json', jsonOption)
    .example('$0 serve', `on http://127.0.0.1:${DEFAULT_PORT}, data in ./weir-data`)
    .example('$0 serve --port 0 --memory --cycle-ms 50', 'for a try: fast cycles, nothing kept')
    .example('$0 serve --data /var/lib/weir --durability strict', 'no acknowledged event is ever forgotten')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type ServeArguments = ArgumentsCamelCase<Options>;

export const serveCommand: CommandModule<object, Options> = {
  command: 'serve',
  describe: 'run a node: the whole API on a durable store',
  builder: options,
  handler: async (given) => {
    const { runServe } = await import('./serve-run.js');
    await runServe(given);
  },
};
