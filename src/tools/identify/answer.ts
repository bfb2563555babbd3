// The answer of an investigation: the rule with its parameters, the rules it cannot be distinguished from, and remarks. Pure.

import { checkRule, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { type Range, rangeOf } from '../../core/math/range.js';
import { waitsInWords } from '../../harness/live/announced-waits.js';
import { capital, counted } from '../../report/words.js';
import { type DistinguishingProbe, distinguishingProbe } from './distinguishing-probe.js';
import type { Evidence } from './evidence.js';
import { type Investigated, isAlive } from './explanations.js';
import { type Fitted, fitted } from './fit.js';
import type { KeyScope } from './key-check.js';
import { searchByRun } from './parameter-search.js';
import { anyPhase, phaseOf, phaseRange, roundedOf } from './printed-values.js';
import { openIn } from './probes.js';
import { productsLike } from './products-like.js';
import { around, disjoint, RESOLUTION, spansOf, widened } from './ranges.js';
import { isByToken, isInCells, type Parameters, spansInWindow, windowMsOf } from './structure.js';
import { structures } from './structures.js';
import { finestMs, TOLERANCE_MS, violationOf } from './violation.js';

/** A parameter and its range; `pieces` if only parts of the range explain the answers. */
interface Parameter extends Range {
  readonly value: number;
  readonly pieces?: readonly Range[] | undefined;
}

export interface IdentifiedRule {
  readonly structure: string;
  readonly family: string;
  readonly words: string;
  /** Ready for a scenario; with the roundest numbers of the ranges. */
  readonly limiter: RuleDefinition;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Every parameter is known to the resolution. */
  readonly isExact: boolean;
  /** Smallest timing error over the orders tried, in ms; 0 if an order explains every answer. */
  readonly offMs: number;
  readonly products: readonly string[];
  /** Phases of the grid, if its period is exactly the one that is printed. */
  readonly edgesMs?: Range | undefined;
}

export interface Answer {
  readonly verdict: 'identified' | 'ambiguous' | 'none' | 'undecided' | 'never limited';
  readonly rules: readonly IdentifiedRule[];
  readonly remarks: readonly string[];
  /** For several rules: a probe that would distinguish them, if one is certain to. */
  readonly distinguishing?: DistinguishingProbe | undefined;
  /** Whether keys are counted separately; absent if nothing was sent. */
  readonly keys?: KeyScope | 'not asked' | undefined;
  /** The limit that the headers state, if the rules show another one. */
  readonly falseLimit?: { readonly stated: number; readonly shown: number } | undefined;
  readonly requests: number;
  readonly seconds: number;
}

/** Windows of the first limit in which many a further one would refuse something. */
const SEVERAL = 4;
/** If more rules explain the answers, none is named. */
const MOST_RULES = 5;
const MOST_FAMILIES = 2;
/** Largest median lateness, as a share of a rule's shortest time: a late answer leaves open when its request was counted. */
const MOST_UNREST = 0.2;
/** If the instants of counting are less certain than this, finding no rule proves little. */
const MOST_LATE_MS = 30;

export function answerOf(investigated: Investigated, harm?: string | undefined): Answer {
  const { evidence, alive, elapsedMs, usedBefore } = investigated;
  const common = {
    requests: (usedBefore?.answers ?? 0) + evidence.seen.length,
    seconds: Math.round(elapsedMs / 100) / 10,
  };
  const stopped = harm === undefined ? [] : [`It stopped early: ${harm}`];
  const waits = [waitsInWords(evidence.seen)].filter((words) => words !== undefined);
  const unnamed = unnamedFor(investigated);
  if (unnamed !== undefined) {
    const [verdict, ...why] = unnamed;
    return { verdict, rules: [], remarks: [...stopped, ...why, ...waits], ...common };
  }
  const rules = alive.map((fitted) => ruleOf(fitted, evidence, unrestOf(evidence) + evidence.slackMs));
  const isOne = rules.length === 1;
  const distinguishing = isOne ? undefined : distinguishingProbe(alive, evidence);
  const falseLimit = falseLimitOf(evidence, rules);
  const isOpen = !isOne && distinguishing === undefined;
  const remarks = [...stopped, ...remarksOn(investigated, rules, isOpen, falseLimit), ...waits];
  const found = { verdict: isOne ? 'identified' : 'ambiguous', rules, remarks, falseLimit } as const;
  return { ...found, ...(isOne ? {} : { distinguishing }), ...common };
}

function* remarksOn(
  investigated: Investigated,
  rules: readonly IdentifiedRule[],
  isOpen: boolean,
  falseLimit: Answer['falseLimit'],
): Generator<string> {
  const { evidence, alive, usedBefore } = investigated;
  if (usedBefore !== undefined)
    yield `The limiter was in use before: the first ${usedBefore.answers} answers are explained if it had admitted ${counted(usedBefore.admitted, 'request')} shortly before them. The numbers are of the later answers.`;
  const offMs = Math.max(...rules.map((rule) => rule.offMs));
  if (offMs > 0)
    yield `${isLog(evidence) ? 'The log leaves' : 'Late answers leave'} open in which order requests were counted: in the nearest that was found, answers are missed by up to ${Math.ceil(offMs)} ms, and not every one was searched.${again(evidence)}`;
  if (alive.some(({ best }) => best.parameters.isStalled))
    yield 'Some held answers came later than this explains, as on a machine that stalls: at most one in eight.';
  yield* [...cellsInWords(investigated), ...cutInWords(investigated), ...rules.flatMap(edgesInWords)];
  yield notLookedFor(evidence, alive[0]!.best.structure.isInFlight ? 0 : windowMsOf(alive[0]!.best));
  if (isOpen) yield `${rules.length} rules fit all answers, and no available probe distinguishes them.`;
  if (falseLimit !== undefined)
    yield `The headers state a limit of ${falseLimit.stated}; the answers show ${falseLimit.shown}.`;
}

const isLog = ({ uncertaintyMs }: Evidence) => uncertaintyMs > 0;
const again = (evidence: Evidence) => (isLog(evidence) ? '' : ' Repeat it on an idle machine.');

/** The verdict and remarks if no rule is named. */
function unnamedFor(investigated: Investigated): readonly [Answer['verdict'], ...string[]] | undefined {
  const { evidence, alive, ended, untested } = investigated;
  const { seen, isHeld, uncertaintyMs } = evidence;
  const widestMs = Math.round(evidence.widestMs);
  if (ended === 'never limited') {
    const none = `None of ${counted(seen.length, 'request')} was refused: either there is no limit, or it is higher.`;
    return [ended, isLog(evidence) ? none : `${none} A larger --budget looks higher.`];
  }
  if (seen.every(({ decision }) => decision !== 'limited')) return ['undecided'];
  if (untested !== undefined)
    return [
      'undecided',
      `${capital(untested[0]!.best.structure.words)} explains the answers, and so might refusals by chance: it is not tested by enough of them.`,
      ...cutInWords(investigated),
    ];
  if (alive.length === 0) {
    if (!isLog(evidence) && evidence.widestMs <= MOST_LATE_MS) return ['none', firstUnexplained(investigated)];
    const open = isLog(evidence)
      ? `the log leaves open by up to ${widestMs} ms when a request was decided`
      : `some came up to ${widestMs} ms later than the quickest`;
    return [
      'undecided',
      `No rule was found that explains these answers; but ${open}, and not all that this leaves open was searched.${again(evidence)}`,
    ];
  }
  const timed = alive.filter(({ best: { structure } }) => !structure.isInFlight);
  if (isHeld && timed.length > 0 && alive.every(({ best: { structure } }) => !structure.holds))
    // With a limit on requests in flight, the service may cause the delays; other rules leave them unexplained.
    return [
      timed.length === alive.length ? 'none' : 'undecided',
      'Admitted requests were held, and no rule that holds requests was found that explains the answers.',
    ];
  const unrestMs = unrestOf(evidence);
  const openMs = unrestMs + uncertaintyMs;
  const shortestMs = Math.min(...timed.map(({ best }) => best.parameters.spanMs));
  if (openMs > MOST_UNREST * shortestMs) {
    const open = isLog(evidence)
      ? `The log leaves open by ${Math.round(openMs)} ms when a request was decided`
      : `Half of the answers took more than ${Math.round(unrestMs)} ms longer than the quickest`;
    return [
      'undecided',
      `${open}: too long beside the ${Math.round(shortestMs)} ms in which the limiter gives something back.${again(evidence)}`,
    ];
  }
  const cellMs = Math.min(...alive.map(({ best }) => best.structure.period?.(best.parameters) ?? Infinity));
  if (!isLog(evidence) && evidence.widestMs > cellMs)
    // Counted in another cell, the same answers could come from another rule.
    return [
      'undecided',
      `Some answers came up to ${widestMs} ms later than the quickest: longer than the ${Math.round(cellMs)} ms of a cell in which the nearest rule would count, and not all that this leaves open was searched.${again(evidence)}`,
    ];
  const families = new Set(alive.map(({ best }) => best.structure.family)).size;
  if ((families > 1 && alive.length > MOST_RULES) || families > MOST_FAMILIES)
    return [
      'undecided',
      `${alive.length} rules of ${families} families fit all answers; none fits better than the others, so none is named.`,
      ...cutInWords(investigated),
    ];
  return undefined;
}

/** Any further limit that allows what was admitted gives the same answers. */
function notLookedFor({ seen }: Evidence, windowMs: number): string {
  const sent = seen.filter(({ decision }) => decision === 'admitted').map(({ sentMs }) => sentMs);
  const { least, most } = rangeOf(seen.map(({ sentMs }) => sentMs));
  const seconds = (ms: number) => `${Number((ms / 1000).toPrecision(3))} s`;
  const [wholeMs, severalMs] = [most - least, SEVERAL * windowMs];
  const mostIn = Math.max(...sent.map((fromMs) => sent.filter((ms) => ms >= fromMs && ms < fromMs + severalMs).length));
  const inSeveral = severalMs > 0 && severalMs < wholeMs ? `, or ${mostIn} in ${seconds(severalMs)}` : '';
  const allowing = `${counted(sent.length, 'request')} in that time${inSeveral}`;
  return `Not looked for: a window longer than ${seconds(wholeMs)}, or a further limit that allows ${allowing}.`;
}

function cutInWords({ ended }: Investigated): string[] {
  if (ended === 'stopped') return ['Fewer probes were sent than were wanted.'];
  if (ended !== 'budget' && ended !== 'time') return [];
  const [needed, option] = ended === 'budget' ? ['more requests', '--budget'] : ['more time', '--for'];
  return [`The next probe needs ${needed} than ${option} leaves: raise ${option}.`];
}

/** A window in cells that are too short to be seen gives the answers of a log. */
function cellsInWords({ alive, evidence }: Investigated): string[] {
  return alive.flatMap(({ best }) => {
    const cut = structures.find((one) => isInCells(one) && one.extends === best.structure.id);
    if (cut === undefined) return [];
    const seen = structures.filter((one) => one.family === cut.family && one.extends === undefined);
    const leastMs = finestMs(cut, evidence);
    return windowMsOf(best) >= leastMs * Math.max(...seen.map(({ part }) => part!))
      ? []
      : [`A window cut into segments shorter than ${Math.ceil(leastMs)} ms would give the same answers.`];
  });
}

function unrestOf({ seen, isHeld, admittedMs, limitedMs }: Evidence): number {
  const late = seen
    .filter(({ decision }) => decision === 'limited' || (decision === 'admitted' && !isHeld))
    .map((one) => one.answeredMs - one.sentMs - (one.decision === 'admitted' ? admittedMs : limitedMs))
    .sort((a, b) => a - b);
  return late[late.length >> 1] ?? 0;
}

function ruleOf(found: Fitted, evidence: Evidence, unknownMs: number): IdentifiedRule {
  const offMs = found.violationMs > TOLERANCE_MS ? found.violationMs : 0;
  // A violation is a time, and a lower bound for the error of the parameters.
  const { structure, parameters } = found.best;
  const byMs = unknownMs + offMs + (parameters.isStalled ? evidence.usualWidthMs : 0);
  const spanByMs = byMs / spansInWindow(found.best);
  const { limit, spans } = atWidest(found, evidence);
  // Both ends assume equal transport times; measured times may be off by their variation.
  const pieces = spans.map((one) => widened(one, spanByMs));
  const spanMs = { least: pieces[0]!.least, most: pieces.at(-1)!.most };
  const ranges = { ...found.ranges, limit, spanMs, otherMs: widened(found.ranges.otherMs, byMs) };
  const mostMs = Math.max(TOLERANCE_MS, found.violationMs);
  const rounded = roundedOf(found, evidence, mostMs, spans);
  const shown: Record<string, Parameter> = { limit: { ...ranges.limit, value: rounded.limit } };
  if (!structure.isInFlight)
    shown[isByToken(structure) ? 'token_ms' : 'window_ms'] = {
      ...ranges.spanMs,
      value: rounded.spanMs,
      ...(pieces.length > 1 && { pieces }),
    };
  if (structure.part !== undefined)
    shown['part'] = { least: structure.part, most: structure.part, value: structure.part };
  if (structure.capacity !== undefined) {
    const capacity = (otherMs: number) => structure.capacity!({ ...rounded, otherMs });
    const { least, most } = ranges.otherMs;
    shown['limit'] = { least: capacity(least), most: capacity(most), value: capacity(rounded.otherMs) };
  } else if (structure.has.includes('otherMs')) shown['block_ms'] = { ...ranges.otherMs, value: rounded.otherMs };
  const definition = structure.definition(rounded);
  const params = { ...(definition.params as Record<string, unknown>) };
  let edgesMs: Range | undefined;
  if (structure.period !== undefined) {
    const phase = phaseOf(structure, rounded);
    const gives = (one: Parameters) => violationOf({ structure, parameters: one }, evidence, { mostMs }).ms <= mostMs;
    const edges = widened(phaseRange(structure, rounded, gives), byMs, -Infinity);
    shown['phase_ms'] = { ...anyPhase(structure.period(rounded), edges, spanMs, evidence), value: phase };
    edgesMs = edges;
    if (phase > 0 && 'align' in params) params['phase_ms'] = phase;
  }
  return {
    structure: structure.id,
    family: structure.family,
    words: structure.words,
    limiter: checkRule({ ...definition, params }),
    parameters: shown,
    isExact: offMs === 0 && openIn({ ...found, ranges }, RESOLUTION).length === 0,
    offMs,
    products: productsLike(structure, rounded),
    edgesMs,
  };
}

function edgesInWords({ parameters, edgesMs }: IdentifiedRule): string[] {
  const window = parameters['window_ms'] ?? parameters['token_ms'];
  if (edgesMs === undefined || window === undefined) return [];
  const [least, most] = [edgesMs.least, edgesMs.most].map((ms) => Number(ms.toFixed(1)));
  const what = window === parameters['token_ms'] ? 'the time of its ticks' : 'its window';
  const exactly = Number(window.value.toPrecision(6));
  return [`If ${what} is exactly ${exactly} ms, its phase is between ${least} and ${most} ms.`];
}

function atWidest(
  { best, ranges, violationMs }: Fitted,
  evidence: Evidence,
): { readonly limit: Range; readonly spans: readonly Range[] } {
  const { structure } = best;
  const mostMs = Math.max(TOLERANCE_MS, violationMs);
  const violation = (one: Parameters, most: number) =>
    violationOf({ structure, parameters: one }, evidence, { mostMs: most }).ms;
  const pieces = structure.period === undefined ? [] : searchByRun(structure, evidence, mostMs);
  const all = pieces.map((one) => one.parameters).filter((one) => violation(one, mostMs) <= mostMs);
  const limit = rangeOf([ranges.limit.least, ranges.limit.most, ...all.map((one) => one.limit)]);
  if (structure.isInFlight) return { limit, spans: [ranges.spanMs] };
  // Variants without a parameter that could distinguish them: their spans may be those of the limiter, too.
  const variants = structures.filter((one) => one.extends === structure.id && one.has.length === structure.has.length);
  const ofVariants = variants.flatMap((variant) => {
    const found = fitted(variant, evidence, undefined, [best.parameters.spanMs]);
    return isAlive(found) ? atWidest(found, evidence).spans : [];
  });
  const { least, most } = ranges.spanMs;
  const others = all.filter(({ spanMs }) => spanMs < least || spanMs > most);
  const spans = [
    ...spansOf(best, ranges.spanMs, violation, mostMs),
    ...others.map(({ spanMs }) => around(spanMs)),
    ...ofVariants,
  ];
  return { limit, spans: disjoint(spans) };
}

function falseLimitOf({ seen }: Evidence, rules: readonly IdentifiedRule[]): Answer['falseLimit'] {
  const stated = seen.find(({ announcedLimit }) => announcedLimit !== undefined)?.announcedLimit;
  const limits = rules.map(({ parameters }) => parameters['limit']);
  const shown = limits[0]?.value;
  if (stated === undefined || shown === undefined) return undefined;
  const isFalse = limits.every((one) => one?.value === shown && (stated < one.least || stated > one.most));
  return isFalse ? { stated, shown } : undefined;
}

function firstUnexplained({ evidence, nearest }: Investigated): string {
  const none = 'No rule was found that explains these answers';
  if (nearest === undefined) return `${none}.`;
  const { sentMs } = violationOf(nearest.best, evidence);
  const fromMs = evidence.seen.reduce((least, one) => Math.min(least, one.sentMs), Infinity);
  const place = evidence.seen.findIndex((one) => one.sentMs === sentMs);
  const one = evidence.seen[place];
  if (one === undefined) return `${none}.`;
  return (
    `${none}; the first that none explains is request ${place + 1}, sent after ${((sentMs - fromMs) / 1000).toFixed(3)} s and ` +
    `${one.decision}. The nearest is ${nearest.best.structure.words}.`
  );
}
