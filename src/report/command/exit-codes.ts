// Exit codes, and the output of failures.
import { Failure } from '../../core/schema/failure.js';
import type { Verdict } from '../../harness/outcome/outcome-schema.js';
import { exitOfStop } from './interrupt.js';
import { say, warn } from './say.js';

const INTERNAL_ERROR = 70;

/** Worse is higher: an invalid run than a difference, that than a broken expectation. */
export const exitCodes: Readonly<Record<Verdict, number>> = {
  held: 0,
  'nothing expected': 0,
  'not held': 1,
  differs: 3,
  invalid: 4,
};

/** Prints a failure (JSON to standard output, text to standard error) and sets the exit code without exiting. */
export function endWith(thrown: unknown, asJson: boolean): void {
  const error = OUT_OF_FILES.has((thrown as NodeJS.ErrnoException | undefined)?.code) ? outOfFiles(thrown) : thrown;
  if (error instanceof Failure) {
    process.exitCode = (error.code === 'stopped' ? exitOfStop() : undefined) ?? error.exit;
    const { code, title, what, why, fix, faults: errors } = error;
    if (asJson) say(`${JSON.stringify({ ok: false, code, title, what, why, fix, errors })}\n`);
    else warn(`${failureText(error)}\n`);
    return;
  }
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE') return;
  process.exitCode = INTERNAL_ERROR;
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  warn(
    `weir: internal error. Your input is not the cause. Report it with the command line and these lines:\n${details}\n`,
  );
}

const OUT_OF_FILES: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE']);

function outOfFiles(cause: unknown): Failure {
  return new Failure('unreadable_file', {
    what: 'A file or connection could not be opened.',
    why: 'This process, or this machine, has as many open as it may.',
    fix: 'Raise the limit of open files, for example with `ulimit -n 1024`, or close programs that hold many.',
    cause,
  });
}

export function usageFailure(message: string, fix = 'See `weir --help`, or `weir <command> --help`.'): Failure {
  const what = message.replace(/\s+/g, ' ').trim();
  return new Failure('wrong_usage', {
    what: /[.?!]$/.test(what) ? what : `${what}.`,
    fix,
  });
}

const MOST_FAULTS = 20;

function failureText({ code, what, why, fix, faults }: Failure): string {
  const lines = [`weir: ${what} [${code}]`];
  if (why !== undefined && faults.length <= 1) lines.push(`  why  ${why}`);
  if (faults.length > 1) {
    const isOfOne = why === undefined || why.includes(faults[0]!.message);
    lines.push(`  why  ${isOfOne ? 'several values are invalid:' : why}`);
    for (const { path, message } of faults.slice(0, MOST_FAULTS)) lines.push(`       ${path}: ${message}`);
    if (faults.length > MOST_FAULTS) lines.push(`       and ${faults.length - MOST_FAULTS} more`);
  }
  if (fix !== undefined) lines.push(`  fix  ${fix}`);
  return lines.join('\n');
}
