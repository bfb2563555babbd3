// `weir identify`: announces its requests, sends them, answers, and saves the answer for later.
import { parseTimeMs } from '../../core/schema/quantity.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { command, flag, type GivenTo, several, text, whole } from '../../report/command/command.js';
import { usageFailure } from '../../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import { allowed, header, requestHeaders, timeout } from '../../report/command/live-options.js';
import { readingOptions } from '../../report/command/log-reading.js';
import { jsonOf, limitedStatus, NONE, outFor, port } from '../../report/command/options.js';
import { Progress } from '../../report/command/progress.js';
import { say } from '../../report/command/say.js';
import { terminalAtHand } from '../../report/command/terminal.js';
import { documentText } from '../../report/terminal-blocks.js';
import type { Answer } from './answer.js';
import type { AskingOptions } from './ask-target.js';
import type { ClientAnswer } from './client/client-answer.js';
import type { Investigated } from './explanations.js';

const OF_URLS = { without: ['from', 'client'] };
const OF_LIMITERS = { without: ['client'] };
const OF_LOGS = { needs: 'from' };
const OF_CLIENTS = { needs: 'client' };

const options = {
  url: text('the URL of the limited service: http://127.0.0.1:8080/', { place: true, ...OF_LIMITERS }),
  budget: whole(10, 1_000_000, 'maximum number of requests', { default: 500, ...OF_URLS }),
  for: text('maximum duration, reckoning included', { default: '5m', without: ['from'] }),
  header: header('a header of every request; repeat for several', OF_URLS),
  keyHeader: text(
    'the header that identifies a client: it is checked first that each client has its own count; then each probe is a new client, and no wait is needed',
    OF_URLS,
  ),
  limitedStatus: {
    ...limitedStatus,
    ...OF_LIMITERS,
    description: 'statuses that mean limited, for example 429,503 (default: 429; of a log, 429 and 503)',
  },
  from: text('folder of an earlier identification, or an access log: nothing is sent', OF_LIMITERS),
  key: text(
    'of a log: the field that identifies the client: client, forwarded, user; none: all requests count together',
    OF_LOGS,
  ),
  time: { ...readingOptions.time, ...OF_LOGS, description: 'of a log: the column with the time, as for weir replay' },
  where: {
    ...readingOptions.where,
    ...OF_LOGS,
    description:
      'of a log: only requests for which it holds, as for weir replay; client=203.0.113.9 looks at that client instead of the one refused most often',
  },
  logFormat: text('of a log: its format (default: recognised); or a line as nginx or Apache describe theirs', OF_LOGS),
  timeout: { ...timeout, ...OF_URLS, description: 'how long to wait for an answer, as 5s (default: 10s)' },
  allow: { ...allowed, ...OF_URLS },
  out: { ...outFor('reports/identify/<host>'), ...OF_LIMITERS },
  client: flag('identify a program instead, over HTTP/1.1: which retry policy it follows'),
  port: { ...port, ...OF_CLIENTS },
  json: jsonOf('identify'),
  program: several(
    text(
      'with --client: a program and its arguments, started for each call with the URL for {url}, as in {url}/v1/items, and in WEIR_URL (default: wait for any)',
      { place: true, rest: true, local: true, ...OF_CLIENTS },
    ),
  ),
};

type Given = GivenTo<typeof options>;

export const identify = command({
  options,
  examples: [
    ['identify http://127.0.0.1:8080/', 'which rule it follows, with which parameters'],
    ['identify http://127.0.0.1:8080/ --key-header X-Api-Key', 'a new key for each probe: quicker'],
    ['identify --from reports/identify/127.0.0.1-8080', 'from what was seen earlier, without a request'],
    ['identify --from access.log', 'from what a server logged'],
    ['identify --client -- curl --retry 3 {url}', 'how a program retries'],
  ],
  more:
    'A rule is named if some counting order explains every answer by it, chance would hardly give them, and no other known rule ' +
    'explains them with any parameters that were found. This is no proof: another rule may behave alike. On a busy machine, and for a block with a limit near the budget, often no rule ' +
    'is named. Before you rely on a name, compare the scenario that it writes with weir load. Exit codes: 0 named, or several remain; 3 no rule or policy was found; 4 never limited, or the answers say too little.',
  run: async (given) => {
    const { url, from } = given;
    if (given.client) return identifyClient(given);
    if ((url === undefined) === (from === undefined)) throw usageFailure('Give a URL, --from or --client.');
    const [{ answerDocument }, { writeFindings }, { identificationOf }] = await Promise.all([
      import('./answer-document.js'),
      import('./findings.js'),
      import('./identification.js'),
    ]);
    const { found, answer } = from === undefined ? await live(url!, given) : await offline(from, given);
    const said = identificationOf(answer, found.evidence.seen, url ?? from);
    if (given.json) say(`${JSON.stringify(said, undefined, 2)}\n`);
    else say(documentText(answerDocument(answer, (url ?? from)!), terminalAtHand()));
    if (given.out !== NONE && (from === undefined || given.out !== undefined)) {
      const folder = await writeFindings(given.out ?? `reports/identify/${hostIn(url)}`, url ?? from!, found, answer, {
        headers: requestHeaders(given.header),
        keyHeader: given.keyHeader,
      });
      if (!given.json) say(`\nEvidence, scenario and page are in ${folder}\n`);
    }
    process.exitCode = exitOfStop() ?? exits[answer.verdict];
  },
});

const exits: Readonly<Record<Answer['verdict'] | ClientAnswer['verdict'], number>> = {
  identified: 0,
  ambiguous: 0,
  none: 3,
  undecided: 4,
  'never limited': 4,
};

interface Identified {
  readonly found: Investigated;
  readonly answer: Answer;
}

async function offline(from: string, { logFormat, time, where, key, limitedStatus }: Given): Promise<Identified> {
  const [{ readAccessLog }, { answerOf }, { readEvidence }, { answerOfLog, identifyRecorded }] = await Promise.all([
    import('./access-log.js'),
    import('./answer.js'),
    import('./findings.js'),
    import('./log-answer.js'),
  ]);
  const seen = await readEvidence(from);
  if (seen !== undefined) {
    const ofLogs = Object.entries({
      'log-format': logFormat,
      time,
      where,
      key,
      'limited-status': limitedStatus,
    });
    const [other] = ofLogs.find(([, value]) => value !== undefined) ?? [];
    if (other !== undefined)
      throw usageFailure(`--${other} has no effect: ${from} holds answers, and not a log.`, `Leave --${other} out.`);
    const found = identifyRecorded(seen);
    return { found, answer: answerOf(found) };
  }
  const log = { format: logFormat, timeColumn: time?.column, timeUnit: time?.unit, where };
  return answerOfLog(await readAccessLog(from, { log, key, limitedStatus }));
}

async function live(url: string, given: Given): Promise<Identified> {
  const [{ answerOf }, { ask }, { investigate }, { investigateKeyed, keysInWords }] = await Promise.all([
    import('./answer.js'),
    import('./ask-target.js'),
    import('./investigation.js'),
    import('./key-check.js'),
  ]);
  const { budget, keyHeader } = given;
  const timeMs = parseTimeMs(given.for, CYCLE_MS, '--for', 1);
  const sends = `Sends at most ${budget} requests in at most ${given.for} to ${url}, and stops at the first sign of harm.`;
  const progress = new Progress('identify');
  let [sent, words] = [0, ''];
  const show = () => progress.show(sent / budget, `${sent} requests; ${words}`);
  const options: AskingOptions = {
    allowRemote: given.allow?.includes('remote') ?? false,
    insecure: given.allow?.includes('plain-http') ?? false,
    headers: requestHeaders(given.header),
    keyHeader,
    limitedStatus: given.limitedStatus,
    ...(given.timeout === undefined ? {} : { timeoutMs: given.timeout }),
    signal: stopSignal(),
    onAccepted: given.json ? undefined : () => say(`${sends}\n\n`),
    onAsk: ({ probe }, sentBefore) => {
      [sent, words] = [sentBefore, probe.words];
      show();
    },
    onTick: show,
  };
  const limits = { budget, timeMs };
  if (keyHeader === undefined) {
    const found = await ask(url, investigate({ ...limits, hasKeys: false }), options);
    return { found, answer: { ...answerOf(found, found.harm), keys: 'not asked' } };
  }
  const found = await ask(url, investigateKeyed(limits), options);
  const answer = answerOf(found, found.harm);
  const ofKeys = found.keys === undefined ? [] : [keysInWords(found.keys, keyHeader)];
  const remarks = [...answer.remarks, ...ofKeys];
  return { found, answer: { ...answer, remarks, keys: found.keys ?? 'not asked' } };
}

function hostIn(url: string | undefined): string {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).host : 'offline';
  return host.replaceAll(/[^\w.-]/g, '-');
}

async function identifyClient({ program, port, for: time, json }: Given): Promise<void> {
  const [{ clientAnswer }, { clientDocument }, { investigateClient }, { playScripts }, { drawsOf }] = await Promise.all(
    [
      import('./client/client-answer.js'),
      import('./client/client-document.js'),
      import('./client/client-investigation.js'),
      import('./client/play-scripts.js'),
      import('../../core/math/random.js'),
    ],
  );
  const progress = new Progress('identify');
  const begun = (url: string) =>
    program === undefined
      ? `Point the program at ${url} and let it make calls, each with a path of its own below it. Ctrl-C ends it.`
      : `Starts ${program[0]} again and again for at most ${time}.`;
  const found = await playScripts(investigateClient(drawsOf(1)('identify client')), {
    port,
    command: program,
    timeMs: parseTimeMs(time, CYCLE_MS, '--for', 1),
    signal: stopSignal(),
    onReady: (url) => void (json || say(`${begun(url)}\n\n`)),
    onProgress: (share, words) => progress.show(share, words),
  });
  const answer = clientAnswer(program?.join(' ') ?? '', found);
  say(json ? `${JSON.stringify(answer, undefined, 2)}\n` : documentText(clientDocument(answer), terminalAtHand()));
  process.exitCode = exitOfStop() ?? exits[answer.verdict];
}
