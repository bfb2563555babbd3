// `weir diff`: the effect of a change of a gateway's limits on bursts and on the requests of a log.
import { CYCLE_MS } from '../../core/time/cycle.js';
import { wallNowMs } from '../../core/time/wall.js';
import { clientLibraries, type LibraryName } from '../../harness/clients/libraries.js';
import {
  choice,
  command,
  flag,
  type GivenTo,
  type Options,
  several,
  text,
  value,
} from '../../report/command/command.js';
import { exitCodes } from '../../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import {
  logName,
  logOptions,
  readingOptions,
  readingProgress,
  readingText,
  refuseCosts,
} from '../../report/command/log-reading.js';
import { json, NONE, readShare, top } from '../../report/command/options.js';
import { say } from '../../report/command/say.js';
import type { LimitsDiff } from './diff-document.js';

function ofLog<Known extends Options>(options: Known): Known {
  const entries = Object.entries(options).map(([name, option]) => [name, { ...option, needs: 'log' }]);
  return Object.fromEntries(entries) as Known;
}

const { log: _, cycleMs: __, ...fields } = readingOptions;

const options = {
  old: text('the limits as they are: a file or folder of a gateway, git:main, git:main:nginx.conf', {
    place: true,
    required: true,
  }),
  new: text('the limits as they would be', { place: true, required: true }),
  log: several(text('access log that is put through both, also .gz; repeat for several')),
  ...ofLog({
    ...fields,
    key: text(
      'the field that is the key of limits whose own key is not in the log, and the client if the log has none',
    ),
    newlyRefusedBelow: value(
      'a share, for example 0.1%',
      readShare,
      'exit with 1 if this share of the requests or more is newly refused, with 4 if a limit that changes could not be judged',
    ),
    clients: choice(
      Object.keys(clientLibraries) as LibraryName[],
      'the cost of retries: newly refused requests are sent again as such a client does, in virtual time (`weir client` lists them)',
    ),
    top,
  }),
  annotate: flag('also print GitHub annotations for the changed lines', { local: true, without: ['json'] }),
  out: text('folder for the answer as a page, as Markdown and as JSON', { local: true }),
  json,
};

type Given = GivenTo<typeof options>;

export const diff = command({
  options,
  examples: [
    ['diff git:main nginx.conf', 'which limits change, and what a burst lets through'],
    ['diff git:main deploy/ --log access.log --newly-refused-below 0.1%', "which of last week's requests it refuses"],
    [
      'diff old.conf new.conf --log access.log --clients axios-retry',
      'and what it costs when the newly refused come again',
    ],
    [
      'diff old.yaml new.yaml --log access.log --key user --out report',
      'report/summary.md is a comment on a pull request',
    ],
  ],
  run: async (given, line) => {
    const [{ limitFilesOf }, { limitersInFiles }, { fittingLimits, limitChanges }, report, folders, { runTableCsv }] =
      await Promise.all([
        import('./limit-files.js'),
        import('./limits-in.js'),
        import('./limit-changes.js'),
        import('./diff-document.js'),
        import('../../report/answer-folder.js'),
        import('../../report/run-table.js'),
      ]);
    const [old, fresh] = await limitFilesOf([given.old, given.new]);
    const sides = { old: fittingLimits(limitersInFiles(old)), new: fittingLimits(limitersInFiles(fresh)) };
    const changes = limitChanges(sides.old, sides.new);
    const isWritten = given.out !== undefined && given.out !== NONE;
    const folder = !isWritten ? undefined : await folders.openAnswerFolder('diff', given.new, given.out);
    const traffic = given.log === undefined ? undefined : await trafficOf(given, given.log, sides);
    const found = {
      names: { old: given.old, new: given.new },
      ...sides,
      changes,
      traffic,
      log: given.log && logName(given.log),
      below: given.newlyRefusedBelow,
      top: given.top,
      command: line.repeat(),
    };
    const [document, answer] = [report.diffDocument(found), report.diffAnswer(found)];
    process.exitCode =
      exitOfStop() ?? (report.isUnjudged(found) ? exitCodes.invalid : document.verdict?.hue === 'bad' ? 1 : 0);
    const csv = traffic && runTableCsv(report.countsColumns('client'), traffic.by_client);
    const page = folder === undefined ? undefined : await folders.writeAnswer(folder, { answer, csv, document });
    const { printDocument } = await import('../../report/command/print.js');
    printDocument(answer, document, given.json, { lines: (traffic?.readings ?? []).map(readingText), page });
    if (given.annotate)
      say(
        report
          .annotations(found)
          .map((one) => `${one}\n`)
          .join(''),
      );
  },
});

async function trafficOf(given: Given, log: readonly string[], sides: Pick<LimitsDiff, 'old' | 'new'>) {
  const { diffLimits } = await import('./limit-diff.js');
  const options = {
    ...logOptions({ ...given, log: [...log], cycleMs: undefined }, CYCLE_MS),
    nowMs: wallNowMs(),
    clients: given.clients,
  };
  refuseCosts(options, 'files of gateways');
  return diffLimits(log, sides, options, { signal: stopSignal(), onProgress: readingProgress(logName(log)) });
}
