// `weir identify`: finds out which rule a limiter follows. The work is in identify-run.ts.
import type { Argv } from 'yargs';
import type { GivenTo, OptionRules } from './command.js';
import { jsonOption, outOption, reportOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('url', { type: 'string', describe: 'what is limited: http://127.0.0.1:8080/' })
    .option('budget', { type: 'number', default: 500, requiresArg: true, describe: 'the most requests to send' })
    .option('time', { type: 'string', default: '5m', requiresArg: true, describe: 'the most time to take' })
    .option('resolution', {
      type: 'number',
      default: 0.01,
      requiresArg: true,
      describe: 'how exact times are wanted, as a part of their length',
    })
    .option('header', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'a header of every request, as "Name: value"; may be given several times',
    })
    .option('key-header', {
      type: 'string',
      requiresArg: true,
      describe:
        'the header that identifies a client: whether each client has its own count is asked first; then each probe is a new client, and nothing has to recover',
    })
    .option('limited-status', {
      type: 'string',
      requiresArg: true,
      describe: 'statuses that mean limited, as 429,503 (default: 429; of a log, 429 and 503)',
    })
    .option('from', {
      type: 'string',
      requiresArg: true,
      describe: 'folder of an earlier identification, or an access log: nothing is sent',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe:
        'of a log: the field that says whose a request is, as client, forwarded, user; none: all count together',
    })
    .option('client', {
      type: 'string',
      requiresArg: true,
      describe: 'of a log: whose requests are looked at (default: of whom most were refused)',
    })
    .option('log-format', {
      type: 'string',
      requiresArg: true,
      describe: 'of a log: its format (default: recognised); or a line as nginx or Apache describe theirs',
    })
    .option('timeout', {
      type: 'string',
      requiresArg: true,
      describe: 'how long to wait for an answer, as 5s (default: 10s)',
    })
    .option('allow-remote', {
      type: 'boolean',
      default: false,
      describe: 'the target may be another machine: make sure that it is yours',
    })
    .option('insecure', {
      type: 'boolean',
      default: false,
      describe: 'send a credential by plain http to another machine, where everybody on the way can read it',
    })
    .option('out', { ...outOption, describe: 'folder for the report (default: reports/identify/<host>)' })
    .option('report', reportOption)
    .option('json', jsonOption)
    .example('$0 identify http://127.0.0.1:8080/', 'which rule stands there, with which numbers')
    .example('$0 identify http://127.0.0.1:8080/ --key-header X-Api-Key', 'a new key for each probe: quicker')
    .example('$0 identify --from reports/identify/127.0.0.1-8080', 'from what was seen earlier, without a request')
    .example('$0 identify --from access.log', 'from what a server logged')
    .epilogue(
      'A name says that one order of counting explains every answer by this rule, and that for no other rule of this room parameters were found ' +
        'that do; for those that came near, every order was searched. It is no proof that no other rule is there. Limits ' +
        'on a busy machine, and blocks with a limit near the budget, are often left without a name. Let weir load compare the scenario that it ' +
        'writes before you rely on it. Exit codes: 0 named, or several remain; 3 no rule was found; 4 never limited, or the answers say too little.',
    );

export const rules: OptionRules = {
  needs: { key: ['from'], client: ['from'], 'log-format': ['from'] },
  without: {
    budget: ['from'],
    time: ['from'],
    header: ['from'],
    'key-header': ['from'],
    timeout: ['from'],
    'allow-remote': ['from'],
    insecure: ['from'],
    'no-report': ['from'],
    out: ['no-report'],
  },
};

export type GivenToIdentify = GivenTo<typeof options>;

export async function run(given: GivenToIdentify): Promise<void> {
  await (await import('./identify-run.js')).identifyRun(given);
}
