// The answer of `weir replay --explain`, as a document and as JSON: which refusals of a log are those of a limit. Pure.
import type { Static } from 'typebox';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { real, shape } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { Count, Text } from '../../harness/outcome/read-schema.js';
import { type Block, type ReportDocument, sentence } from '../../report/block.js';
import { column, type RunColumn, rowName, runTable } from '../../report/run-table.js';
import { capital, counted, duration, latency, listed, number } from '../../report/words.js';
import { titleOf } from './limit-changes.js';
import type { Explained, JudgedAnswer } from './limit-explain.js';

const counts = {
  refused: Count('Answers with a status of a refusal.'),
  ours: Count('Of these, those that the limit refuses.'),
  not_ours: Count('Those that no counting order refuses.'),
  not_judged: Count('Those of which the log does not say it.'),
  let_through: Count('Requests that were let through, and that the limit refuses in any counting order.'),
};
const Named = Type.Array(shape({ name: Text('What is counted.'), ...counts }), { description: 'Most first.' });

export const LimitExplanation = shape({
  weir: Text('The version.'),
  kind: Type.Literal('explain'),
  log: Text('Its name.'),
  statuses: Type.Array(Count('A status of a refusal.')),
  requests: Count('Requests of the log.'),
  ...counts,
  not_judged_of_which_ours: shape({ least: Count('At least.'), most: Count('At most.') }),
  by_log: Count('Refusals judged by what the log, or an error log beside it, says of them.'),
  without_limit: shape('The control: the same log without the limit.', { not_ours: counts.not_ours }),
  by_path: Named,
  by_client: Named,
  by_minute: Named,
  phases: Type.Array(
    shape({
      rule: Text('The rule that the limit may mean.'),
      from_ms: real(0, 1e15, 'Edges of its windows, after those of the clock.'),
      to_ms: real(0, 1e15, 'At most.'),
      least: Count('Refusals that are its own, at least.'),
      most: Count('At most.'),
    }),
    {
      description: 'Where rule or phase is unknown: those that explain the answers, the one that explains most first.',
    },
  ),
  left_out: Type.Array(shape({ name: Text('A limit.'), why: Text('Why it is not judged.') })),
});

export type LimitExplanation = Static<typeof LimitExplanation>;
type Counts = Pick<LimitExplanation, keyof typeof counts>;
type NamedCounts = LimitExplanation['by_path'][number];
type Phase = LimitExplanation['phases'][number];

const BRIEF = 10;
const MINUTE_MS = 60_000;

export function explanationOf(
  found: Explained,
  { log, weir, top }: { readonly log: string; readonly weir: string; readonly top: number },
): LimitExplanation {
  const { answers, statuses, unjudged, bySaid, phases, leftOut } = found;
  const all = countsOf(answers);
  return {
    ...{ weir, kind: 'explain', log, statuses: [...statuses], requests: answers.length, ...all },
    not_judged_of_which_ours: unjudged,
    by_log: bySaid,
    without_limit: { not_ours: all.refused },
    by_path: countsBy(answers, ({ path }) => path).slice(0, top),
    by_client: countsBy(answers, ({ client }) => client).slice(0, top),
    by_minute: countsBy(answers, ({ ms }) => minuteOf(ms)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    phases: phases
      .map(({ rules: [rule], phaseMs, widthMs, least, most }) => {
        const { threshold, limit = threshold, align, count_refused } = rule!.params as Record<string, unknown>;
        const by = align === undefined ? '' : `, ${align === 'first' ? 'from the first request on' : 'by a clock'}`;
        const all = count_refused || threshold ? ', refused requests count' : '';
        const words = `${rule!.primitive.replaceAll('_', ' ')}${limit === undefined ? '' : ` of ${limit}`}${by}${all}`;
        return { rule: words, from_ms: phaseMs, to_ms: phaseMs + widthMs, least, most };
      })
      .sort((a, b) => b.most - a.most || b.least - a.least),
    left_out: leftOut.map(({ limiter, why }) => ({ name: titleOf(limiter), why })),
  };
}

const minuteOf = (ms: number) => `${new Date(Math.floor(ms / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16)}Z`;

function countsOf(answers: readonly JudgedAnswer[]): Counts {
  const count = (is: (answer: JudgedAnswer) => boolean) => answers.reduce((n, one) => (is(one) ? n + 1 : n), 0);
  return {
    refused: count(({ whose }) => whose !== undefined),
    ours: count(({ whose }) => whose === 'ours'),
    not_ours: count(({ whose }) => whose === 'not ours'),
    not_judged: count(({ whose }) => whose === 'not judged'),
    let_through: count(({ isLetThrough }) => isLetThrough),
  };
}

/** Those with refusals, or with requests that were let through. */
function countsBy(answers: readonly JudgedAnswer[], nameOf: (answer: JudgedAnswer) => string): NamedCounts[] {
  const groups = new Map<string, JudgedAnswer[]>();
  for (const answer of answers) {
    if (answer.whose === undefined && !answer.isLetThrough) continue;
    getOrInsert(groups, nameOf(answer), () => []).push(answer);
  }
  return [...groups].map(([name, some]) => ({ name, ...countsOf(some) })).sort((a, b) => b.refused - a.refused);
}

export interface Threshold {
  readonly text: string;
  /** The most refusals that may not be those of the limit, by how many there are. */
  readonly most: (refused: number) => number;
}

export const isAbove = (one: Counts, { most }: Threshold) => one.not_ours > most(one.refused);
/** Whether it is above only if what was not judged is not the limit's. */
export const isOpen = (one: LimitExplanation, above: Threshold) =>
  !isAbove(one, above) && one.not_ours + one.not_judged - one.not_judged_of_which_ours.least > above.most(one.refused);

export function explainDocument(
  one: LimitExplanation,
  { answers, times, readings }: Explained,
  {
    command,
    limit,
    above,
  }: { readonly command: string; readonly limit: string; readonly above: Threshold | undefined },
): ReportDocument {
  return {
    title: `Was it us? ${limit} on ${one.log}`,
    verdict: verdictOf(one, above),
    sentence: [...unjudgedSentences(one), mainSentence(one, answers)].join(' '),
    blocks: [
      ...(above === undefined ? [] : [checkBlock(one, above)]),
      figuresBlock(one),
      ...phaseBlocks(one),
      ...countsTable('path', one.by_path),
      ...countsTable('client', one.by_client),
      ...countsTable('minute', one.by_minute),
      sentence(timesSentence(times, readings[0]?.also?.at(-1))),
    ],
    again: { command },
  };
}

function verdictOf(one: LimitExplanation, above: Threshold | undefined): ReportDocument['verdict'] {
  if (above !== undefined && isAbove(one, above))
    return { sign: '✘', words: 'too many are not of this limit', hue: 'bad' };
  if (one.refused === 0) return { sign: '–', words: 'nothing was refused', hue: 'open' };
  if (one.ours === one.refused) return { sign: '✔', words: 'all are of this limit', hue: 'good' };
  if (one.not_ours === one.refused) return { sign: '✔', words: 'none is of this limit', hue: 'good' };
  return { sign: '–', words: one.not_ours > 0 ? 'some are not of this limit' : 'not all could be judged', hue: 'open' };
}

const answersOf = ({ statuses }: LimitExplanation) => `of ${statuses.join(' or ')}`;

function unjudgedSentences(one: LimitExplanation): string[] {
  const { least, most } = one.not_judged_of_which_ours;
  const { not_judged: n } = one;
  const within = least === most ? number(least) : `${number(least)} to ${number(most)}`;
  const known = least === 0 && most === n ? '' : `, of which ${within} are those of this limit`;
  const [best] = one.phases;
  const why = listed([...new Set(one.left_out.map((limit) => limit.why))]);
  const said = [
    one.left_out.length > 0 && `${counted(one.left_out.length, 'limit')} could not be judged: ${why}.`,
    n > 0 && `Could not be judged one by one: ${counted(n, 'answer')} ${answersOf(one)}${known}.`,
    best && `At the phase that explains most, ${number(best.most)} refusals are those of this limit.`,
  ];
  return said.filter((text) => typeof text === 'string');
}

function mainSentence(one: LimitExplanation, answers: readonly JudgedAnswer[]): string {
  const { refused, ours, not_ours, let_through } = one;
  const were = `${let_through === 1 ? 'was' : 'were'} let through.`;
  const through = let_through === 0 ? '' : ` ${counted(let_through, 'request')} that it would refuse ${were}`;
  if (refused === 0) return `The log has no answer ${answersOf(one)}.${through}`;
  const others = answers.filter(({ whose }) => whose === 'not ours');
  const certain = one.not_judged > 0 ? 'certainly ' : '';
  const all = `Of ${counted(refused, 'answer')} ${answersOf(one)}, ${number(ours)} are ${certain}those that this limit refuses`;
  return `${all}, ${number(not_ours)} ${certain}are not${others.length === 0 ? '' : whereWords(one, others)}.${through}`;
}

/** ` (mostly POST /api/orders, 18:31 to 18:36 UTC, from the service behind)` */
function whereWords({ by_path }: LimitExplanation, others: readonly JudgedAnswer[]): string {
  const [path] = by_path.toSorted((a, b) => b.not_ours - a.not_ours);
  const times = others.map(({ ms }) => ms);
  const clock = (pick: (a: number, b: number) => number) =>
    new Date(times.reduce((a, b) => pick(a, b))).toISOString().slice(11, 16);
  const most = path!.not_ours < others.length ? 'mostly ' : '';
  const behind = others.every(({ isBehind }) => isBehind) ? ', from the service behind' : '';
  return ` (${most}${path!.name}, ${clock(Math.min)} to ${clock(Math.max)} UTC${behind})`;
}

function checkBlock(one: LimitExplanation, above: Threshold): Block {
  const found = number(one.not_ours);
  const result = isAbove(one, above) ? 'failed' : isOpen(one, above) ? 'error' : 'passed';
  const message = `expected at most ${above.text} that are not of the limit, found ${found}, and ${number(one.not_judged)} not judged`;
  return {
    kind: 'checks',
    rows: [{ name: 'not of this limit', condition: `at most ${above.text}`, found, message, result }],
  };
}

function figuresBlock(one: LimitExplanation): Block {
  const rows = [
    ['requests', one.requests],
    [`answers ${answersOf(one)}`, one.refused],
    ['of this limit', one.ours],
    ['not of this limit', one.not_ours],
    ['not judged', one.not_judged],
    ['let through, though it refuses them', one.let_through],
    ['judged by the log itself', one.by_log],
    ['control: not of this limit, without it', one.without_limit.not_ours],
  ] as const;
  return { kind: 'figures', title: 'Answers', rows: rows.map(([label, n]) => ({ label, value: number(n) })) };
}

function phaseBlocks({ phases }: LimitExplanation): Block[] {
  if (phases.length === 0) return [];
  const columns = [
    rowName('rule', ({ rule }: Phase) => rule),
    column('windows begin', ({ from_ms, to_ms }: Phase) =>
      to_ms === 0 ? 'at any time' : `${number(from_ms)} to ${number(to_ms)} ms after the clock's`,
    ),
    column('of this limit', ({ least, most }: Phase) => `${number(least)} to ${number(most)}`),
  ];
  return [
    runTable(columns, phases, { title: 'Rules and phases that explain the answers', brief: BRIEF, more: 'phases' }),
  ];
}

const columnsOf = (head: string): RunColumn<NamedCounts>[] => [
  rowName(head, ({ name }) => name),
  column('refused', ({ refused }) => refused),
  column('of this limit', ({ ours }) => ours),
  column('not of it', ({ not_ours }) => not_ours),
  column('not judged', ({ not_judged }) => not_judged),
  column('let through', ({ let_through }) => let_through),
];

function countsTable(head: string, rows: readonly NamedCounts[]): Block[] {
  if (rows.length === 0) return [];
  return [runTable(columnsOf(head), rows, { title: capital(`${head}s`), brief: BRIEF, more: `${head}s` })];
}

const BETTER = ' With $msec and $request_time of nginx in the log, more is judged.';
const AROUND = { start: 'after its time', end: 'before its line', unknown: 'before or after its line' };

function timesSentence({ grainMs, order, withinMs }: Explained['times'], tookField: string | undefined): string {
  const length = (ms: number) => (ms < 1_000 ? latency(ms) : duration(ms));
  const known = `Times are known to ${length(grainMs)}.`;
  if (withinMs === undefined) return grainMs === 1 ? known : `${known}${BETTER}`;
  const unsaid = `${tookField} does not say how long each request took, and is not used`;
  const none = tookField === undefined ? 'The log has no durations' : unsaid;
  return `${known} ${none}: a request is taken to be decided within the ${length(withinMs)} ${AROUND[order]}.${BETTER}`;
}
