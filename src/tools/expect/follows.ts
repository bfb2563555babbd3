// Whether answers follow a limit, as an assertion that does not depend on where a window begins.
//
//   answers ─► does some phase of the window, some order of counting, explain them?   no: differs, with the smallest set
//                 │ yes
//                 ▼
//              and if all had been admitted?   explained, too: not tested, for no limit at all would pass
//                 │ no
//                 ▼
//              follows, with the near limits that the answers fit as well
import { checkLimiter } from '../../core/limiter/products/limiter-spec.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { Failure } from '../../core/schema/failure.js';
import { explain, isExplained, type Settled } from '../../harness/explain/explain.js';
import { meantRules, passesUnlimited, requestsToTest, SLACK_MS } from '../../harness/explain/meant-rules.js';
import { type SeenRequest, slowestMs } from '../../harness/explain/seen-request.js';
import { nearRulesOf, seconds } from '../../harness/live/near-rules.js';
import { listed } from '../../report/words.js';

/** One request of one key. */
export interface SeenAnswer {
  /** In ms by one clock, whichever; a fraction is kept. */
  readonly sentMs: number;
  /** Not before `sentMs`. Infinity: it was never answered. */
  readonly answeredMs: number;
  /** undefined: the answer does not say whether it was limited. */
  readonly limited: boolean | undefined;
}

export interface Judgement {
  /** `not tested`: no limit at all would have passed, too. `undecided`: there are too many orders to look at. */
  readonly verdict: 'follows' | 'differs' | 'not tested' | 'undecided';
  /** Two sentences at most; for `not tested` with the requests that would test it. */
  readonly why: string;
  /** For `differs`: the answers that no phase and no order explains, a line each. Otherwise empty. */
  readonly drawing: string;
  /** Limits near this one that the answers fit as well, as `61 in 60 s`. */
  readonly fits: readonly string[];
}

const options = { slackMs: SLACK_MS };
/** A near limit that takes longer is not named. */
const NODES_OF_NEAR = 5_000;
const NODES_OF_ANSWER = 5;

/**
 * Whether one key of a limiter could have given these answers, each counted at any moment between being sent and answered. The key was
 * unused for as long as the limiter remembers before the first of them, and had no other requests meanwhile.
 * @param limit in the words of `--limit`. Without the name of a product, as `60 in 60s`, any window will do: a fixed one, wherever it
 * begins, or one that rolls; refused requests do not count
 * @throws Failure `invalid_definition` for a limit, `invalid_input` for answers, with the place of the first fault
 */
export function follows(answers: readonly SeenAnswer[], limit: string): Judgement {
  const rules = meantRules(checkLimiter(limit));
  const seen = seenOf(answers);
  const found = explain(seen, rules, options);
  if (found.type === 'unknown')
    return { verdict: 'undecided', why: unknownWords(found.why, limit), drawing: '', fits: [] };
  if (found.type === 'refuted') return differs(seen, found.settled(), limit);
  if (passesUnlimited(seen, rules)) return notTested(seen, rules, limit);
  const quick = { ...options, mostNodes: NODES_OF_NEAR + NODES_OF_ANSWER * seen.length };
  const fits = nearRulesOf(rules).flatMap((one) => (isExplained(seen, one.rules, quick) === true ? one.words : []));
  const also = fits.length === 0 ? '' : ` They fit ${listed(fits)}, too.`;
  return { verdict: 'follows', why: `${seen.length} answers follow ${limit}.${also}`, drawing: '', fits };
}

function unknownWords(why: 'too many' | 'not seen' | 'paused', limit: string): string {
  return why === 'not seen'
    ? `What ${limit} decides follows from how long each request is in flight there, which answers do not show.`
    : 'The requests could have been counted in too many orders to look at all of them. Send fewer at once.';
}

function differs(seen: readonly SeenRequest[], { last, set = seen }: Settled, limit: string): Judgement {
  const startMs = seen[0]!.sentMs;
  const at = seconds(last.sentMs - startMs);
  const n = (of: SeenRequest['decision']) => set.filter(({ decision }) => decision === of).length;
  const [admitted, limited] = [n('admitted'), n('limited')];
  let why: string;
  if (admitted === 0) {
    const others = seen.filter(({ sentMs }) => sentMs <= last.answeredMs).length - limited;
    const [were, them] = limited === 1 ? ['A request was', 'it'] : [`${limited} requests were`, 'at least one of them'];
    why = `${were} limited, with ${others} others sent by ${at}. ${limit} admits ${them}, wherever its window begins.`;
  } else {
    const all = `${admitted} admitted ${limited === 0 ? '' : `and ${limited} limited `}requests`;
    why =
      `No counting order of ${limit} can explain ${all}, wherever its window begins: they were sent within ` +
      `${seconds(set.at(-1)!.sentMs - set[0]!.sentMs)}. The answer to the one sent at ${at} settled it.`;
  }
  return { verdict: 'differs', why, drawing: drawn(set, startMs), fits: [] };
}

function notTested(seen: readonly SeenRequest[], rules: readonly RuleDefinition[], limit: string): Judgement {
  const enough = requestsToTest(rules);
  const spanMs = (seen.at(-1)?.sentMs ?? 0) - (seen[0]?.sentMs ?? 0);
  const silent = seen.some(({ decision }) => decision === 'unknown') ? ' Some of their answers are not known.' : '';
  const lateMs = slowestMs(seen);
  const late = ` An answer took ${seconds(lateMs)}, in which a window may end: repeat it where answers come sooner.`;
  const isLate = silent === '' && lateMs > spanMs && seen.length >= (enough ?? Infinity);
  const next = isLate ? late : enough === undefined ? '' : ` Send ${enough} at once.`;
  const why = `A server without any limit would pass, too: ${seen.length} requests within ${seconds(spanMs)} do not test ${limit}.`;
  return { verdict: 'not tested', why: `${why}${silent}${next}`, drawing: '', fits: [] };
}

const MOST_ANSWERS = 100_000;

/** In order of sending. @throws Failure `invalid_input` */
function seenOf(answers: readonly SeenAnswer[]): SeenRequest[] {
  const refuse = (path: string, message: string) => {
    const what = 'The answers cannot be judged.';
    throw new Failure('invalid_input', { what, why: `${path} ${message}.`, faults: [{ path, message }] });
  };
  if (!Array.isArray(answers)) refuse('', 'must be an array of { sentMs, answeredMs, limited }');
  if (answers.length > MOST_ANSWERS) refuse('', `has ${answers.length} answers, and up to ${MOST_ANSWERS} are judged`);
  return answers
    .map(({ sentMs, answeredMs, limited }, index): SeenRequest => {
      if (!Number.isFinite(sentMs)) refuse(`/${index}/sentMs`, 'must be a number of ms');
      if (!(answeredMs >= sentMs)) refuse(`/${index}/answeredMs`, 'must be a number of ms, not before sentMs');
      if (limited !== undefined && typeof limited !== 'boolean')
        refuse(`/${index}/limited`, 'must be true, false or undefined');
      const isKnown = limited !== undefined && Number.isFinite(answeredMs);
      return { sentMs, answeredMs, decision: isKnown ? (limited ? 'limited' : 'admitted') : 'unknown' };
    })
    .sort((one, other) => one.sentMs - other.sentMs);
}

//    0.000 s  o                          admitted
//    0.004 s   oo                        admitted
//    0.982 s                         x   limited
const WIDTH = 40;
/** Of more only the first and the last are drawn. */
const MOST_LINES = 30;

/** A line each: from being sent to being answered, on one axis of time. @param requests in order of sending @param startMs the zero */
function drawn(requests: readonly SeenRequest[], startMs: number): string {
  const known = requests.filter(({ answeredMs }) => Number.isFinite(answeredMs));
  const fromMs = requests[0]!.sentMs;
  const toMs = Math.max(fromMs, ...known.map(({ answeredMs }) => answeredMs));
  const columnOf = (ms: number) => Math.round(((ms - fromMs) / (toMs - fromMs || 1)) * (WIDTH - 1));
  const lines = requests.map(({ sentMs, answeredMs, decision }) => {
    const [first, last] = [columnOf(sentMs), columnOf(Math.min(answeredMs, toMs))];
    const lane = ' '.repeat(first) + marks[decision].repeat(last - first + 1);
    return `${((sentMs - startMs) / 1000).toFixed(3).padStart(9)} s  ${lane.padEnd(WIDTH)}  ${decision}`;
  });
  if (lines.length <= MOST_LINES) return lines.join('\n');
  const half = MOST_LINES / 2;
  const between = `${' '.repeat(13)}… ${lines.length - MOST_LINES} more`;
  return [...lines.slice(0, half), between, ...lines.slice(-half)].join('\n');
}

const marks = { admitted: 'o', limited: 'x', unknown: '?' } as const;
