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
  whole,
} from '../../report/command/command.js';
import { exitCodes, usageFailure } from '../../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import {
  logName,
  logOptions,
  readingOptions,
  readingProgress,
  readingText,
  refuseCosts,
} from '../../report/command/log-reading.js';
import { jsonOf, NONE, outAs, readShare, top } from '../../report/command/options.js';
import { say } from '../../report/command/say.js';
import type { LimitsDiff } from './diff-document.js';
import type { GatewayLimits } from './found.js';

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
  new: text('the limits as they would be', { place: true }),
  as: choice(
    ['traefik', 'envoy-gateway', 'kgateway', 'nginx', 'haproxy'],
    'the old limits in the words of a product, as near as its rule can, and what stays different',
  ),
  replicas: whole(1, 1000, 'instances of the gateway: multiplies what each counts by itself, in old and new limits', {
    default: 1,
  }),
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
  out: outAs([], 'folder for the answer as a page, as Markdown and as JSON', { local: true }),
  json: jsonOf('diff'),
};

type Given = GivenTo<typeof options>;

export const diff = command({
  options,
  examples: [
    ['diff ingress.yaml gateway/ --log access.log', 'what a move changes: 26 → 5 at once; each client → all together'],
    ['diff ingress.yaml --as traefik --log access.log', 'the lines that keep the behaviour, and what stays different'],
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
    if (given.new === undefined && given.as === undefined)
      throw usageFailure(
        'diff has no new limits',
        'Name their file or folder, or the product to write them for: --as.',
      );
    const [
      { limitFilesOf },
      { limitersInFiles },
      { fittingLimits },
      { limitChanges },
      report,
      folders,
      { runTableCsv },
    ] = await Promise.all([
      import('./limit-files.js'),
      import('./limits-in.js'),
      import('./limit-rule.js'),
      import('./limit-changes.js'),
      import('./diff-document.js'),
      import('../../report/folder.js'),
      import('../../report/run-table.js'),
    ]);
    const [oldFiles, newFiles] = await limitFilesOf([given.old, given.new ?? given.old]);
    const limitsIn = (files: typeof oldFiles) => fittingLimits(limitersInFiles(files, given.replicas));
    const old = limitsIn(oldFiles);
    const judge = async (fresh: GatewayLimits) => given.log && trafficOf(given, given.log, { old, new: fresh });
    const { moveTo } = await import('./limit-move.js');
    const move = given.as === undefined ? undefined : await moveTo(given.as, old, given.replicas, judge);
    const isMoveAlone = move !== undefined && given.new === undefined;
    const sides = { old, new: isMoveAlone ? move.limits : limitsIn(newFiles) };
    const changes = isMoveAlone ? move.changes : limitChanges(old, sides.new);
    const traffic = isMoveAlone ? move.traffic : await judge(sides.new);
    const isWritten = given.out !== undefined && given.out !== NONE;
    const folder = !isWritten ? undefined : await folders.openAnswerFolder('diff', given.new ?? given.old, given.out);
    const found = {
      names: { old: given.old, new: given.new ?? `${given.old} as ${given.as}` },
      ...sides,
      changes,
      traffic,
      move,
      replicas: given.replicas,
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
    if (given.annotate) for (const one of report.annotations(found)) say(`${one}\n`);
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
