// The work of `weir identify`: what is asked is said first, then sent, then answered, and kept for a later look.

import { readAccessLog } from '../identify/access-log.js';
import { type Answer, answerOf } from '../identify/answer.js';
import { answerText } from '../identify/answer-text.js';
import { type AskingOptions, ask } from '../identify/asking.js';
import type { Investigated } from '../identify/explanations.js';
import { readEvidence, writeFindings } from '../identify/findings.js';
import { identificationOf } from '../identify/identification.js';
import { investigate } from '../identify/investigation.js';
import { investigateKeyed, keysInWords } from '../identify/key-check.js';
import { answerOfLog } from '../identify/log-answer.js';
import { recorded } from '../identify/recorded.js';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import { usageFailure } from './ending.js';
import type { GivenToIdentify } from './identify.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { Progress } from './progress.js';
import { say } from './say.js';

const MOST_REQUESTS = 1_000_000;

/** Nothing fits, or the answers do not settle it. */
const exits: Readonly<Record<Answer['verdict'], number>> = {
  'one rule': 0,
  several: 0,
  'never limited': 4,
  undecided: 4,
  'nothing fits': 3,
};

export async function identifyRun(given: GivenToIdentify): Promise<void> {
  const { url, from, resolution } = given;
  if ((url === undefined) === (from === undefined)) throw usageFailure('Give either a URL or --from.');
  if (!(resolution >= 0.001 && resolution <= 0.5)) throw usageFailure('--resolution takes a number from 0.001 to 0.5.');
  const { found, answer } = from === undefined ? await live(url!, given) : await offline(from, given);
  const said = identificationOf(answer, found.evidence.seen, url ?? from);
  if (given.json) say(`${JSON.stringify(said, undefined, 2)}\n`);
  else say(`${answerText(answer)}\n`);
  if (given.report && (from === undefined || given.out !== undefined)) {
    const folder = await writeFindings(given.out ?? `reports/identify/${hostIn(url)}`, url ?? from!, found, answer);
    if (!given.json) say(`\nEvidence, scenario and page are in ${folder}\n`);
  }
  process.exitCode = exitOfStop() ?? exits[answer.verdict];
}

interface Identified {
  readonly found: Investigated;
  readonly answer: Answer;
}

/** What was recorded earlier: by an identification, or by a server. */
async function offline(
  from: string,
  { logFormat, key, client, limitedStatus, resolution }: GivenToIdentify,
): Promise<Identified> {
  const seen = await readEvidence(from);
  if (seen !== undefined) {
    const ofLogs = Object.entries({ 'log-format': logFormat, key, client, 'limited-status': limitedStatus });
    const [other] = ofLogs.find(([, value]) => value !== undefined) ?? [];
    if (other !== undefined)
      throw usageFailure(`--${other} has no effect: ${from} holds answers, and not a log.`, `Leave --${other} out.`);
    const found = recorded(seen);
    return { found, answer: answerOf(found, resolution) };
  }
  const options = { format: logFormat, key, client, limitedStatus: statusesIn(limitedStatus) };
  return answerOfLog(await readAccessLog(from, options), resolution);
}

async function live(url: string, given: GivenToIdentify): Promise<Identified> {
  const { budget, keyHeader, resolution } = given;
  if (!Number.isInteger(budget) || budget < 10 || budget > MOST_REQUESTS) {
    throw usageFailure(`--budget takes a whole number from 10 to ${MOST_REQUESTS}.`);
  }
  const timeMs = parseTimeMs(given.time, CYCLE_MS, '--time', 1);
  const { signal, release } = interruptible();
  if (!given.json) {
    say(
      `Sends at most ${budget} requests in at most ${given.time} to ${url}, and stops at the first sign of harm.\n\n`,
    );
  }
  const progress = new Progress('identify');
  const options: AskingOptions = {
    allowRemote: given.allowRemote,
    insecure: given.insecure,
    headers: headersIn(given.header ?? []),
    keyHeader,
    limitedStatus: statusesIn(given.limitedStatus),
    ...(given.timeout === undefined ? {} : { timeoutMs: parseTimeMs(given.timeout, CYCLE_MS, '--timeout', 1) }),
    signal,
    onAsk: ({ probe }, sent) => progress.show(sent / budget, `${sent} requests; ${probe.words}`),
  };
  try {
    const limits = { budget, timeMs, resolution };
    if (keyHeader === undefined) {
      const found = await ask(url, investigate({ ...limits, hasKeys: false }), options);
      return { found, answer: { ...answerOf(found, resolution, found.harm), keys: 'not asked' } };
    }
    const found = await ask(url, investigateKeyed(limits), options);
    const answer = answerOf(found, resolution, found.harm);
    const words = keysInWords(found.keys, keyHeader);
    const remarks = [...answer.remarks, ...(words === undefined ? [] : [words])];
    return { found, answer: { ...answer, remarks, keys: found.keys ?? 'not asked' } };
  } finally {
    progress.clear();
    release();
  }
}

function headersIn(lines: readonly string[]): Record<string, string> | undefined {
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined) throw usageFailure(`--header takes "Name: value", not ${JSON.stringify(line)}.`);
      return [name, value!];
    }),
  );
}

function statusesIn(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const statuses = text.split(',').map(Number);
  if (statuses.every((status) => Number.isInteger(status) && status >= 400 && status <= 599)) return statuses;
  throw new Failure('wrong_usage', {
    what: `--limited-status takes statuses from 400 to 599, not ${JSON.stringify(text)}.`,
    fix: 'For example --limited-status 429,503.',
  });
}

function hostIn(url: string | undefined): string {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).host : 'offline';
  return host.replaceAll(/[^\w.-]/g, '-');
}
