// Identifies a limiter from recorded requests, and from an access log: what it shows, and what it cannot show. Pure.
//
//   all at once     global search over every structure
//   in stages       40 ─► 80 ─► 160 ─► all: explanations of the first requests are refined with each further part
//   at last         every structure is searched near the times of those explanations
import { rangeOf } from '../../core/math/range.js';
import type { AccessLog } from './access-log.js';
import { type Answer, answerOf } from './answer.js';
import { type Evidence, evidenceOf, type Seen } from './evidence.js';
import { explanationsOf, type Investigated, isAlive, preferred, revivedOf } from './explanations.js';
import type { Fitted } from './fit.js';
import { structures } from './structures.js';
import { onlyTested } from './tested.js';

/** A quicker admitted request was not held for a token; as a share of a token's time. */
const HELD = 0.5;
/** Above this uncertainty of decisions, not every order of counting is searched. */
const COARSE_MS = 30;
/** A time is visible if it is longer than this multiple of the uncertainty. */
const GRAINS = 4;
/** Requests of the first stage. */
const FIRST = 40;

export function answerOfLog(log: AccessLog): { readonly found: Investigated; readonly answer: Answer } {
  const { seen, silenceMs, isStart } = log;
  const first = identifyRecorded(seen);
  const isExplained = first.alive.some(({ best: { structure } }) => structure.holds || structure.isInFlight);
  const isWorked = first.evidence.isHeld && !isExplained;
  const all = isWorked ? identifyRecorded(seen.map((one) => ({ ...one, isWork: true as const }))) : first;
  const visible = all.alive.filter(({ best }) => log.hasDurations || !best.structure.isInFlight);
  const found = { ...all, alive: visible.flatMap((one) => [one, ...unseenOf(one, log)]) };
  const answer = answerOf(found);
  const remarks = [...log.remarks, ...answer.remarks];
  if (visible.length < all.alive.length)
    remarks.push('A limit on what is in flight would explain them, too: without durations that is not known.');
  if (isWorked) remarks.push('Admitted requests took longer than refused ones: it is taken that they were worked on.');
  const unnamed = (remark: string) => {
    const none = { ...answer, verdict: 'undecided' as const, rules: [], distinguishing: undefined };
    return { found, answer: { ...none, remarks: [...remarks, remark] } };
  };
  const { rules } = answer;
  if (rules.length > 0 && rules.every(({ offMs }) => offMs > 0)) return unnamed('So near is not enough for a name.');
  const longestMs = Math.max(0, ...rules.map(({ parameters }) => memoryMsOf(parameters)));
  const isKnown = longestMs <= silenceMs;
  if (!isKnown && !isStart) {
    return unnamed(
      `What explains the answers remembers ${s(longestMs)}, and the client was silent for only ${s(silenceMs)} before the first of them: it is not said.`,
    );
  }
  if (!isKnown) remarks.push('What came before the log is not known: it is taken that nothing did.');
  if (answer.verdict === 'undecided') {
    remarks.push(
      'A limiter may count more than the requests of one client: --key names the field that it counts by, and --key none counts all together.',
    );
  }
  const { uncertaintyMs } = found.evidence;
  if (rules.length === 0 || uncertaintyMs <= COARSE_MS) return { found, answer: { ...answer, remarks } };
  if (rules.every(({ parameters: { block_ms } }) => block_ms !== undefined && block_ms.least < GRAINS * uncertaintyMs))
    return unnamed('What explains the answers has a block that is too short to be seen in this log: it is not said.');
  remarks.push(
    `The log leaves open by ${uncertaintyMs} ms when a request was decided, and not every order was searched: other rules may explain it, too.`,
  );
  return { found, answer: { ...answer, verdict: 'ambiguous', remarks } };
}

/** A queue as deep as a bucket admits the same requests, but holds them; without visible delays they are indistinguishable. */
function unseenOf({ best, ...fitted }: Fitted, { hasDurations, seen }: AccessLog): Fitted[] {
  if (best.structure.id !== 'bucket' || best.parameters.limit < 2) return [];
  const tookMs = seen
    .filter(({ decision }) => decision === 'admitted')
    .map((one) => one.answeredMs - one.sentMs - (one.uncertaintyMs ?? 0));
  if (hasDurations && tookMs.every((ms) => ms < HELD * best.parameters.spanMs)) return [];
  const structure = structures.find(({ id }) => id === 'queue/0')!;
  const samples = fitted.samples.map(({ parameters }) => ({ structure, parameters }));
  return [{ ...fitted, best: { ...best, structure }, samples }];
}

function memoryMsOf({ limit, window_ms, token_ms, block_ms }: Answer['rules'][number]['parameters']): number {
  const windowMs = window_ms?.most ?? (token_ms?.most ?? 0) * (limit?.value ?? 1);
  return Math.max(windowMs, block_ms?.most ?? 0);
}

const s = (ms: number) => `${Number((ms / 1_000).toPrecision(3))} s`;

export function identifyRecorded(seen: readonly Seen[]): Investigated {
  const evidence = evidenceOf(seen);
  const isLimited = seen.some(({ decision }) => decision === 'limited');
  const explaining = (all: readonly Fitted[]) => {
    const nearMisses = all.filter((one) => !isAlive(one));
    return preferred([...all.filter(isAlive), ...revivedOf(nearMisses, evidence)], evidence);
  };
  const all = explanationsOf(evidence);
  const atOnce = explaining(all);
  const found = atOnce.length > 0 || !isLimited ? atOnce : inStages(evidence);
  const near = found.length === 0 ? all : explanationsOf(evidence, found, structures, true);
  const { least, most } = rangeOf(seen.map(({ sentMs }) => sentMs));
  return {
    evidence,
    ...onlyTested(found.length === 0 ? [] : explaining(near), evidence),
    nearest: near[0],
    elapsedMs: most - least,
    ended: isLimited ? 'settled' : 'never limited',
  };
}

function inStages(whole: Evidence): Fitted[] {
  const { seen } = whole;
  let alive: Fitted[] = [];
  for (let n = FIRST; n < 2 * seen.length; n *= 2) {
    const evidence = evidenceOf(seen.slice(0, n), whole);
    const among = alive.map(({ best }) => best.structure);
    const refitted = among.length === 0 ? [] : explanationsOf(evidence, alive, among).filter(isAlive);
    alive = refitted.length > 0 ? refitted : explanationsOf(evidence).filter(isAlive);
  }
  return alive;
}
