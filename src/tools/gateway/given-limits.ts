// The limits of a gateway's file or folder that `--limit` names, or one in words: logs are replayed through them, or held against them.
import { limitText } from '../../core/limiter/products/limit-text.js';
import { VERSION } from '../../core/version.js';
import { allWindows, meantRules } from '../../harness/explain/meant-rules.js';
import type { ExplainAsked, GatewayFiles, GatewayReplay, GatewayTool } from '../../harness/simulate/replay.js';
import { exitCodes } from '../../report/command/exit-codes.js';
import { exitOfStop, releaseStop, stopSignal } from '../../report/command/interrupt.js';
import { limiterGiven } from '../../report/command/limit.js';
import { logName, readingProgress, readingText } from '../../report/command/log-reading.js';
import { NONE } from '../../report/command/options.js';
import { printDocument } from '../../report/command/print.js';
import { warn } from '../../report/command/say.js';
import { openAnswerFolder, writeAnswer } from '../../report/folder.js';
import { FoundLimits, type GatewayLimits, type Like, limitsOf } from './found.js';
import type { ExplainedLimits } from './limit-explain.js';
import { filesIn } from './limit-files.js';
import { everyone, unknownKey } from './limit-key.js';
import { LimitReplay } from './limit-replay.js';
import { fittingLimits } from './limit-rule.js';
import { limitersInFiles } from './limits-in.js';
import { noSuchPlace } from './pasted.js';
import { notRead } from './unread-formats.js';

export const gateway: GatewayTool = { replay, explain };

/** @throws Failure `invalid_definition` if the files have no limit, or not at the location that is named */
async function replay({ file, location }: GatewayFiles): Promise<GatewayReplay> {
  const limits = await limitsAt(file, location);
  return { notes: notesOf(limits), begin: (paths, options) => new LimitReplay(paths, limits, options) };
}

const notesOf = ({ notUnderstood, notApplied }: GatewayLimits) =>
  [...notUnderstood, ...notApplied].map((one) => `${one.file}:${one.line}: ${one.what}.`);

/** @throws Failure of the limit, the log and the folder */
async function explain({ limit, files, paths, log, top, out, json, command, ...asked }: ExplainAsked): Promise<void> {
  const [{ explainLog }, { explainDocument, explanationOf, isAbove, isOpen }] = await Promise.all([
    import('./limit-explain.js'),
    import('./explain-document.js'),
  ]);
  const limits =
    files === undefined
      ? await limitInWords(limit, log.keyColumn)
      : { gateway: await limitsAt(files.file, files.location) };
  for (const note of notesOf(limits.gateway)) warn(`weir: ${note}\n`);
  const name = logName(paths);
  const folder = out === undefined || out === NONE ? undefined : await openAnswerFolder('explain', name, out);
  const hooks = {
    signal: stopSignal(),
    onProgress: readingProgress(name),
    // Judging computes for long without a pause, in which no listener runs: the signal itself ends it.
    onJudging: releaseStop,
  };
  const found = await explainLog(paths, limits, log, hooks);
  const answer = explanationOf(found, { log: name, weir: VERSION, top });
  const given = asked.unexplainedAbove;
  const above = given && {
    text: given.text,
    most: (refused: number) => ('n' in given ? given.n : given.share * refused),
  };
  const document = explainDocument(answer, found, { command, limit, above });
  const page = folder && (await writeAnswer(folder, { answer, document }));
  const code = above === undefined ? 0 : isAbove(answer, above) ? 1 : isOpen(answer, above) ? exitCodes.invalid : 0;
  process.exitCode = exitOfStop() ?? code;
  printDocument(answer, document, json, { lines: found.readings.map(readingText), page });
}

/** One limit for all requests together, or for each key. */
async function limitInWords(words: string, key: string | undefined): Promise<ExplainedLimits> {
  const limit = await limiterGiven(words);
  const meant = meantRules(limit, allWindows);
  const found = new FoundLimits([]);
  const by = key === undefined ? everyone : unknownKey(key);
  // Any of the rules that are meant has its count and key.
  const [rule] = meant as unknown as readonly Like[];
  found.limiter({ file: words, line: 1 }, { name: limitText(limit), limit: rule, key: by });
  return { gateway: limitsOf(found), meant };
}

async function limitsAt(file: string, location: string | undefined): Promise<GatewayLimits> {
  const found = fittingLimits(limitersInFiles(await filesIn(file)));
  const { limiters, places, notUnderstood, unread, appliesTo } = found;
  if (limiters.length === 0 && unread[0] !== undefined) throw notRead(unread[0].format, file);
  const here = limiters.filter(({ where }) => location === undefined || where === location);
  if (here.length > 0)
    return {
      ...found,
      limiters: here,
      appliesTo: (...asked) => appliesTo(...asked).filter((one) => here.includes(one)),
    };
  for (const { file: name, line, what } of notUnderstood) warn(`weir: ${name}:${line}: ${what}.\n`);
  throw noSuchPlace(file, limiters.length === 0 ? [] : places);
}
