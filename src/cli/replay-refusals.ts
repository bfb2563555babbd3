// What `weir replay` refuses: options that have no effect with others.
import { Failure } from '../core/schema/failure.js';
import type { CommandLine } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';

interface Given {
  readonly refused: string | undefined;
  readonly log: readonly string[];
  readonly live: string | undefined;
}

export function checkRefused({ refused, log, live }: Given, isGateway: boolean, isPlaced: boolean): void {
  if (refused === undefined) return;
  const refuse = (with_: string, why: string, fix: string) => {
    throw new Failure('wrong_usage', { what: `--refused has no effect with ${with_}.`, why, fix });
  };
  if (isGateway)
    refuse(
      'a file of a gateway',
      'A request may meet several of its limits.',
      "Give one limit in words: --limit 'nginx 10r/s burst=20'.",
    );
  if (!isPlaced)
    refuse(
      'counts spread over a time and a rule',
      'A rule decides one request after another, and a row of counts does not say when each came.',
      'Leave out the time of --count, or use --threshold.',
    );
  if (live !== undefined) refuse('--live', 'A live node refuses on its own.', 'Leave out --live.');
  if (log.includes('-'))
    refuse(
      'standard input',
      'The log is read twice for it, and standard input can be read once.',
      'Save the log in a file first.',
    );
}

export function refuseBesideGateway(limit: readonly string[], line: CommandLine): void {
  const files = limit.slice(0, 2).join(' ');
  if (limit.length > 1)
    throw usageFailure(
      'A file of a gateway has no effect with several --limit.',
      `Compare two versions of it: \`weir diff ${files} --log …\`.`,
    );
  if (line.has('live'))
    throw usageFailure(
      '--live has no effect with a file of a gateway: a node has one limiter for all requests of a key.',
      "Give the limit in words: --limit 'nginx 10r/s burst=20'.",
    );
}
