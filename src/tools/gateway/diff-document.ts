// The effect of a change of a gateway's limits: changed limits, bursts, and clients newly refused.
import { VERSION } from '../../core/version.js';
import { type Block, type ReportDocument, sentence } from '../../report/block.js';
import { column, type RunColumn, rowName, runTable } from '../../report/run-table.js';
import { capital, counted, duration, number, percent } from '../../report/words.js';
import { changeBlocks, changeWords, moveBlocks, replicaSentence } from './change-blocks.js';
import type { ChangeCounts, LimitChange, RetryCost } from './diff-answer.js';
import type { FoundLimiter, GatewayLimits, Written } from './found.js';
import { titleOf } from './limit-changes.js';
import type { LimitDiff } from './limit-diff.js';
import type { LimitMove } from './limit-move.js';
import type { LeftOut } from './limit-sides.js';
import { inWords } from './request-condition.js';

export interface LimitsDiff {
  readonly names: { readonly old: string; readonly new: string };
  readonly old: GatewayLimits;
  readonly new: GatewayLimits;
  readonly changes: readonly LimitChange[];
  readonly traffic: LimitDiff | undefined;
  /** The old limits written for another product. */
  readonly move: LimitMove | undefined;
  readonly replicas: number;
  readonly log: string | undefined;
  /** Budget: less than this share of the requests may be newly refused. */
  readonly below: number | undefined;
  readonly top: number;
  readonly command: string;
}

const BRIEF = 10;

export function diffDocument(diff: LimitsDiff): ReportDocument {
  const { names, changes, traffic, below, command } = diff;
  return {
    title: `Limits of ${names.new}`,
    verdict: verdictOf(diff),
    sentence: [
      ...(traffic === undefined ? [] : unjudgedSentences(traffic)),
      changesSentence(diff),
      ...replicaSentence(diff),
      ...(traffic === undefined ? [] : [trafficSentence(traffic)]),
    ].join(' '),
    blocks: [
      ...(below === undefined || traffic === undefined ? [] : [budgetBlock(diff, traffic)]),
      ...changeBlocks(changes),
      ...moveBlocks(diff.move, names.new, diff.move?.traffic && trafficSentence(diff.move.traffic)),
      ...(traffic === undefined ? [] : trafficBlocks(traffic, diff)),
      ...unreadBlocks(diff),
    ],
    again: { command },
  };
}

const shareOf = ({ requests, newly_refused }: Pick<LimitDiff, 'requests' | 'newly_refused'>) =>
  requests === 0 ? 0 : newly_refused / requests;

const shareAtOnce = ({ requests, newly_refused, newly_refused_at_once = newly_refused }: LimitDiff) =>
  shareOf({ requests, newly_refused: newly_refused_at_once });

/** Whether the budget holds for one reading of whole seconds alone: each second evenly, or all of it at its beginning. */
function dependsOnSeconds({ traffic, below = 0 }: LimitsDiff): boolean {
  return traffic !== undefined && shareOf(traffic) < below !== shareAtOnce(traffic) < below;
}

const hasLimits = ({ limiters }: GatewayLimits) => limiters.length > 0;

/** Whether a budget cannot be said to hold: a limit that could not be judged, or what is not understood, changes; or times are too coarse. */
export function isUnjudged(diff: LimitsDiff): boolean {
  const { traffic, below } = diff;
  if (traffic === undefined || below === undefined) return false;
  return traffic.unjudged.length > 0 || !isUnreadTheSame(diff) || dependsOnSeconds(diff);
}

const unjudgedWords = ({ unjudged }: LimitDiff) => `${counted(unjudged.length, 'limit')} could not be judged`;

function unjudgedSentences(traffic: LimitDiff): string[] {
  const reasons = [...new Set(traffic.unjudged.map(({ why }) => why))].join('; ');
  return traffic.unjudged.length === 0 ? [] : [`${unjudgedWords(traffic)}: ${reasons}.`];
}

function verdictOf(diff: LimitsDiff): ReportDocument['verdict'] {
  const { changes, traffic, below, ...sides } = diff;
  const open = (words: string) => ({ sign: '–', words, hue: 'open' }) as const;
  const good = (words: string) => ({ sign: '✔', words, hue: 'good' }) as const;
  const share = traffic && below !== undefined ? shareOf(traffic) : undefined;
  if (traffic !== undefined && traffic.unjudged.length > 0) return open(unjudgedWords(traffic));
  if (share !== undefined && !isUnreadTheSame(sides)) return open('what is not understood changes');
  if (!hasLimits(sides.old) && !hasLimits(sides.new)) return open('no limit was found');
  if (dependsOnSeconds(diff)) return open('times of whole seconds leave the budget open');
  if (share !== undefined)
    return share < below! ? good('within the budget') : { sign: '✘', words: 'over the budget', hue: 'bad' };
  if (changes.length > 0) return open('limits change');
  return isUnreadTheSame(sides) ? good('no limit changes') : open('no limit that is understood changes');
}

/** What is not understood; it may have moved. */
const unreadIn = ({ notUnderstood, unread }: GatewayLimits) =>
  [...notUnderstood.map(({ what }) => what.replace(/\bline \d+/g, 'line')), ...unread.map(({ text }) => text)].sort();

const isUnreadTheSame = ({ old, new: fresh }: Pick<LimitsDiff, 'old' | 'new'>) =>
  unreadIn(old).join('\n') === unreadIn(fresh).join('\n');

function changesSentence({ changes, names, ...sides }: LimitsDiff): string {
  if (!hasLimits(sides.old) && !hasLimits(sides.new))
    return `No limit was found in ${names.old}, and none in ${names.new}: ${unreadWords(sides) ?? '`weir help ci` lists what is read.'}`;
  const some = (kind: LimitChange['kind']) => changes.filter((one) => one.kind === kind).length;
  const words = (['changed', 'added', 'removed'] as const).filter((kind) => some(kind) > 0);
  if (words.length === 0)
    return isUnreadTheSame(sides)
      ? 'No limit differs.'
      : 'No limit that is understood differs, but what is not understood does.';
  const [first = 'changed', ...others] = words;
  const counts = [`${counted(some(first), 'limit')} ${first}`, ...others.map((kind) => `${some(kind)} ${kind}`)];
  // A removed limit may be a misspelt one.
  const before = unreadIn(sides.old);
  const isAdded = unreadIn(sides.new).some((what) => !before.includes(what));
  return `${counts.join(', ')}${some('removed') > 0 && isAdded ? '; what is not understood changes, too' : ''}.`;
}

/** Undefined if there is no file in a format that is not read. */
function unreadWords({ old, new: fresh }: Pick<LimitsDiff, 'old' | 'new'>): string | undefined {
  const names = [...new Set([...old.unread, ...fresh.unread].map(({ format }) => format.name))];
  return names.length === 0 ? undefined : `files of ${names.join(', ')} are not read.`;
}

function trafficSentence({ requests, clients, newly_refused, newly_admitted, ...traffic }: LimitDiff): string {
  const of = (n: number, keys: number) => `${counted(n, 'request')} of ${counted(keys, 'client')}`;
  const isWhole = traffic.unjudged.length === 0;
  const none = isWhole ? 'nothing' : 'none';
  const share = percent(newly_refused / requests);
  const refused = newly_refused === 0 ? none : `${of(newly_refused, traffic.clients_newly_refused)} (${share})`;
  const admitted =
    newly_admitted === 0 ? '' : ` Newly admitted: ${of(newly_admitted, traffic.clients_newly_admitted)}.`;
  const { newly_refused_at_once: n = newly_refused } = traffic;
  const atOnce = n === newly_refused ? '' : `; ${number(n)} if all of a second came at its beginning`;
  return `${isWhole ? 'Newly refused' : 'Newly refused by the other limits'}: ${refused}${atOnce}.${admitted} In all ${of(requests, clients)}.`;
}

function budgetBlock(diff: LimitsDiff, traffic: LimitDiff): Block {
  const { below = 0 } = diff;
  const share = shareOf(traffic);
  // Two different shares are never shown as the same.
  const shown = (one: number) => percent(one, percent(share) === percent(below) ? 9 : 3);
  const found = dependsOnSeconds(diff) ? `${shown(share)} or ${shown(shareAtOnce(traffic))}` : shown(share);
  return {
    kind: 'checks',
    rows: [
      {
        name: 'newly refused',
        condition: `below ${shown(below)}`,
        found,
        message: `expected below ${shown(below)}, found ${found}`,
        result: isUnjudged(diff) ? 'error' : share < below ? 'passed' : 'failed',
      },
    ],
  };
}

function trafficBlocks(traffic: LimitDiff, { top, changes, new: fresh }: LimitsDiff): Block[] {
  const { by_client, by_path, by_minute, by_limiter } = traffic;
  const figures: Block = {
    kind: 'figures',
    title: 'Requests of the log',
    rows: [
      { label: 'requests', value: number(traffic.requests) },
      ...(['refused_old', 'refused_new'] as const).map((name) => ({
        label: name === 'refused_old' ? 'refused before' : 'refused after',
        value: number(traffic[name]),
        beside: percent(traffic.requests === 0 ? 0 : traffic[name] / traffic.requests),
      })),
    ],
  };
  const limits = [...by_limiter].sort(([, a], [, b]) => b - a);
  const isLeftOut = changes.length > 0 && fresh.limiters.length > 0;
  return [
    figures,
    ...retryBlocks(traffic.retries),
    ...(limits.length === 0 ? [] : [runTable(refusalColumns, limits, { title: 'Newly refused by' })]),
    ...countsTable('client', by_client, top),
    ...countsTable('path', by_path, top),
    ...countsTable('minute', by_minute, top, true),
    ...traffic.warnings.map(({ what }) => sentence(what)),
    ...(isLeftOut ? leftOutBlocks(traffic.left_out) : []),
  ];
}

function retryBlocks(cost: RetryCost | undefined): Block[] {
  if (cost === undefined) return [];
  const { like, refused, not_retried, retries, extra_load, served, given_up, wait_ms } = cost;
  const rows: readonly (readonly [label: string, value: string | false, beside?: string])[] = [
    ['newly refused', number(refused)],
    ['not tried again', not_retried > 0 && number(not_retried), 'by their status'],
    ['retries', number(retries), `${percent(extra_load)} more load`],
    ['served later', number(served)],
    ['given up', number(given_up)],
    ...(wait_ms === null ? [] : [['until served', duration(wait_ms.p50), tailWords(wait_ms)] as const]),
  ];
  const shown = rows.flatMap(([label, value, beside]) =>
    value === false ? [] : [{ label, value, ...(beside !== undefined && { beside }) }],
  );
  return [{ kind: 'figures', title: `If clients try again as ${like}`, rows: shown }];
}

const tailWords = ({ p99, max }: NonNullable<RetryCost['wait_ms']>) => `p99 ${duration(p99)}, max ${duration(max)}`;

const refusalColumns: readonly RunColumn<readonly [FoundLimiter, number]>[] = [
  column('limit', ([{ name }]) => name),
  column('where', ([{ where }]) => where),
  column('line', ([{ file, line }]) => `${file}:${line}`),
  column('requests', ([, n]) => n),
];

export function countsColumns(head: string): RunColumn<ChangeCounts>[] {
  const share = ({ requests, refused_old, refused_new }: ChangeCounts) =>
    `${percent(refused_old / requests)} → ${percent(refused_new / requests)}`;
  return [
    rowName(head, ({ name }) => name),
    column('requests', ({ requests }) => requests),
    column('newly refused', ({ newly_refused }) => newly_refused),
    column('newly admitted', ({ newly_admitted }) => newly_admitted),
    { ...column('refused', share), side: 'right' },
  ];
}

function countsTable(head: string, all: readonly ChangeCounts[], top: number, folded = false): Block[] {
  if (all.length === 0) return [];
  const more = { folded, brief: BRIEF, total: all.length, more: `${head}s` };
  return [runTable(countsColumns(head), all.slice(0, top), { title: capital(`${head}s`), ...more })];
}

function leftOutBlocks({ old, new: fresh }: LimitDiff['left_out']): Block[] {
  const words = new Set([...old, ...fresh].map(({ limiter, why }) => `${titleOf(limiter)}: ${why}`));
  const columns = [column('limit', (one: string) => one)];
  return words.size === 0 ? [] : [runTable(columns, [...words], { title: 'Not put through the log', folded: true })];
}

const lineColumns: readonly RunColumn<GatewayLimits['notUnderstood'][number]>[] = [
  column('line', ({ file, line }) => `${file}:${line}`),
  column('what', ({ what }) => what),
];

function unreadBlocks({ old, new: fresh }: LimitsDiff): Block[] {
  const table = (title: string, rows: GatewayLimits['notUnderstood']): Block[] =>
    rows.length === 0 ? [] : [runTable(lineColumns, rows, { title, folded: true, brief: BRIEF, more: 'lines' })];
  const before = old.notUnderstood.filter(({ what }) => !fresh.notUnderstood.some((one) => one.what === what));
  return [
    ...table('Not understood', fresh.notUnderstood),
    ...table('Not understood in the old files', before),
    ...table('Defined and not applied', fresh.notApplied),
  ];
}

export function diffAnswer(diff: LimitsDiff): object {
  const { names, changes, traffic, below, log, top, move, replicas, ...sides } = diff;
  const shown = (side: GatewayLimits) => ({
    limiters: side.limiters.map(({ when, refuses, key: { text, parts }, ...one }) => ({
      ...one,
      key: { text, parts },
      ...(when && { condition: inWords(when) }),
      ...(refuses && { refused_if: inWords(refuses) }),
    })),
    not_understood: side.notUnderstood,
    not_applied: side.notApplied,
  });
  return {
    weir: VERSION,
    kind: 'diff',
    names,
    replicas,
    limiters: changes,
    not_understood: sides.new.notUnderstood.map(({ what: text, ...at }) => ({ ...at, text })),
    ...(move && { written: writtenAnswer(move) }),
    old: shown(sides.old),
    new: shown(sides.new),
    ...(traffic && { log, ...trafficAnswer(traffic, top) }),
    ...(traffic !== undefined &&
      below !== undefined && {
        budget: { newly_refused_below: below, held: isUnjudged(diff) ? null : shareOf(traffic) < below },
      }),
  };
}

function trafficAnswer({ readings: _, by_client, ...traffic }: LimitDiff, top: number): object {
  const { requests, refused_old, refused_new, by_path, by_limiter, left_out, unjudged } = traffic;
  const leftOut = (some: readonly LeftOut[]) =>
    some.map(({ limiter, why }) => ({ name: limiter.name, where: limiter.where, why }));
  return {
    ...traffic,
    share: [refused_old, refused_new].map((refused) => (requests === 0 ? 0 : refused / requests)),
    newly_refused_share: shareOf(traffic),
    keys: by_client.slice(0, top).map(({ name: key, refused_old: old, refused_new, ...counts }) => {
      return { key, ...counts, old, new: refused_new };
    }),
    by_path: by_path.slice(0, top),
    by_limiter: [...by_limiter].map(([{ name, where, file, line }, newly_refused]) => {
      return { name, where, file, line, newly_refused };
    }),
    left_out: { old: leftOut(left_out.old), new: leftOut(left_out.new) },
    unjudged: leftOut(unjudged),
  };
}

function writtenAnswer({ as, text, left, changes: limiters, traffic }: LimitMove): object {
  if (traffic === undefined) return { as, text, left, limiters };
  const { requests, refused_old, refused_new, newly_refused, newly_admitted } = traffic;
  return { as, text, left, limiters, traffic: { requests, refused_old, refused_new, newly_refused, newly_admitted } };
}

/** GitHub workflow commands: an error for a limit over the budget, else notices. */
export function annotations({ changes, traffic, below, old, new: fresh }: LimitsDiff): string[] {
  const isOver = traffic !== undefined && below !== undefined && shareOf(traffic) >= below;
  const changeOf = ({ name, where }: { name: string; where: string }) =>
    changes.find((one) => one.name === name && one.where === where && one.kind !== 'removed');
  const refusals = [...(traffic?.by_limiter ?? [])].map(([limiter, n]) => {
    const { file, line } = changeOf(limiter) ?? limiter;
    const words = `${titleOf(limiter)} newly refuses ${counted(n, 'request')}`;
    return { at: `${file}:${line}`, command: annotation(isOver ? 'error' : 'warning', file, line, words) };
  });
  const said = new Set(refusals.map(({ at }) => at));
  const unread = fresh.unread.filter((one) => !old.unread.some(({ text }) => text === one.text));
  const isNew = (one: Written) => unread.some(({ file, line }) => file === one.file && line === one.line);
  return [
    ...refusals.map(({ command }) => command),
    ...changes
      .filter(({ file, line }) => !said.has(`${file}:${line}`))
      .map((one) => annotation('notice', one.file, one.line, `${one.name}: ${changeWords(one)}`)),
    ...fresh.notUnderstood
      .filter(
        (one) => !old.notUnderstood.some(({ file, what }) => file === one.file && what === one.what) || isNew(one),
      )
      .map(({ file, line, what }) => annotation('notice', file, line, what)),
  ];
}

function annotation(level: 'error' | 'warning' | 'notice', file: string, line: number, text: string): string {
  const data = (given: string) => given.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (given: string) => data(given).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${level} file=${property(file)},line=${line}::${data(text)}`;
}
