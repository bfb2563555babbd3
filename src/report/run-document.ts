// A run as a document.
import type { ContractOutcome, Outcome } from '../harness/outcome/outcome-schema.js';
import { answerBlocks } from './answer-blocks.js';
import {
  type Block,
  type CheckRow,
  type Medium,
  nameColumn,
  type ReportDocument,
  right,
  sentence,
  type Table,
} from './block.js';
import { chartOfRun, chartsOf } from './chart/charts.js';
import { isThresholdNear } from './chart/cycle-axis.js';
import { figures, figureText, meanText, meanTitle } from './figures.js';
import { replaySentence } from './replay-sentence.js';
import {
  commandOf,
  hasLimiter,
  intervalsOfLimiting,
  isOfAll,
  limitingStates,
  type Reported,
  shownContract,
} from './reported.js';
import { rulesBlocks } from './rules-table.js';
import { column, type RunColumn, rowName, runTable } from './run-table.js';
import { documentText } from './terminal-blocks.js';
import type { Terminal } from './terminal-text.js';
import {
  capital,
  contractWord,
  counted,
  cycleWords,
  duration,
  foundWords,
  instantOf,
  number,
  readSentences,
  share,
  spanWords,
  verdictSentence,
  verdictView,
  windowWords,
} from './words.js';

const MOST_DIFFERENCES = 200;
const MOST_IN_JUNIT = 50;
const MOST_BRIEF = 10;

export function reportText(reported: Reported, terminal?: Terminal): string {
  return documentText(runDocument(reported, 'terminal'), terminal);
}

/** @param medium charts are made only for documents: the data of long runs takes time */
export function runDocument(reported: Reported, medium: Medium): ReportDocument {
  const { outcome } = reported;
  const { scenario, seed, question, kind, notes = [], compared, limits, cycle_ms } = outcome;
  const [{ threshold = null, within = 0 } = {}] = outcome.by_contract;
  const window =
    threshold === null || within === 0 ? undefined : `${number(threshold)} in ${windowWords(within, cycle_ms)}`;
  const isAnswer = kind === 'replay' && outcome.verdict === 'nothing expected';
  const charts = medium === 'documents' ? chartsOf(reported).filter(({ id }) => id !== 'requests') : [];
  // The expectations answer the question, and follow it.
  const isAnswered = medium === 'terminal' && outcome.expectations.length > 0;
  const titled = (title: string) => (medium === 'terminal' ? undefined : title);
  const [drawn, leading] = isOfAll(outcome) ? (['requests', 'decisions'] as const) : (['window', 'window'] as const);
  const lead =
    medium === 'terminal' ? chartOfRun(reported, drawn) : charts.find(({ id }) => isAnswer && id === leading);
  return {
    title: limits === undefined ? scenario : limitsTitle(limits),
    besides: limits !== undefined ? scenario : kind === 'replay' ? window : `seed ${seed}`,
    verdict: isAnswer ? undefined : verdictView(outcome),
    sentence: isAnswer ? replaySentence(outcome) : verdictSentence(outcome),
    question: isAnswered ? undefined : question,
    facts: factsOf(outcome),
    properties: propertiesOf(outcome),
    again: { command: commandOf(reported), facts: `weir ${outcome.weir}, seed ${seed}, digest ${outcome.digest}` },
    blocks: [
      ...notes.map((note) => sentence(note)),
      ...readSentences(outcome).map((text) => sentence(text, { where: 'documents' })),
      ...expectationBlocks(outcome, isAnswered ? question : titled('Expectations')),
      { kind: 'checks', rows: runChecks(outcome), where: 'junit' },
      ...answerBlocks(outcome),
      ...(lead === undefined ? [] : [{ kind: 'chart', spec: lead } as const]),
      ...farThreshold(outcome),
      figureBlock(outcome, titled('Figures')),
      ...limitBlocks(outcome),
      ...equalRuns(outcome),
      ...contractBlocks(outcome),
      ...entryBlocks(outcome),
      ...differenceBlocks(outcome),
      ...(compared === undefined ? [] : rulesBlocks(compared.rules, 'Other rules, fitted to the same rate')),
      ...charts
        .filter((spec) => spec !== lead)
        .map((spec, index): Block => ({ kind: 'chart', spec, title: index === 0 ? 'Charts' : undefined })),
    ],
  };
}

function propertiesOf(outcome: Outcome) {
  const { weir, kind, seed, digest, requests, admitted, limited, entries, first_cycle, last_cycle, cycle_ms } = outcome;
  const cycles = first_cycle === null || last_cycle === null ? 0 : last_cycle - first_cycle + 1;
  const run_seconds = ((cycles * cycle_ms) / 1000).toFixed(3);
  return { weir, kind, seed, digest, requests, admitted, limited, entries, run_seconds };
}

function factsOf(outcome: Outcome): string {
  const { kind, arm, seed, first_cycle: first, last_cycle: last, cycle_ms } = outcome;
  const from = first === null ? undefined : instantOf(first, outcome);
  const when = from === undefined || last === null ? '' : `, ${from} to ${instantOf(last, outcome) ?? ''}`;
  const span = first === null || last === null ? 'no cycle' : spanWords(last - first + 1, cycle_ms);
  return `${kind}, ${arm}; ${kind === 'replay' ? '' : `seed ${seed}; `}${span}${when}; 1 cycle = ${cycle_ms} ms`;
}

function farThreshold({ ...outcome }: Outcome): Block[] {
  const contract = shownContract(outcome);
  if (contract === undefined || contract.threshold === null || outcome.first_cycle === null) return [];
  if (isThresholdNear(contract.threshold, contract.peak_count)) return [];
  return [sentence(`The threshold of ${number(contract.threshold)} is far above the counts.`, { where: 'terminal' })];
}

export function expectationBlocks(outcome: Outcome, title?: string): Block[] {
  const { expectations, partial } = outcome;
  if (expectations.length === 0) return [];
  const rows = expectations.map((one): CheckRow => {
    const found = foundWords(one, outcome);
    const message = !one.held
      ? `expected ${one.expected}, ${found}`
      : partial === true
        ? 'held so far: the run was stopped before its end'
        : '';
    return {
      name: one.name,
      ...(one.name !== one.expected && { condition: one.expected }),
      found: found.replace(/^found /, ''),
      result: !one.held ? 'failed' : partial === true ? 'skipped' : 'passed',
      message,
    };
  });
  return [{ kind: 'checks', rows, title }];
}

/** At least one: JUnit readers treat an empty suite as an error. */
function runChecks(outcome: Outcome): CheckRow[] {
  const { comparison, partial } = outcome;
  const end: CheckRow = {
    name: 'the run came to its end',
    result: partial === true ? 'skipped' : 'passed',
    message: partial === true ? verdictSentence(outcome) : '',
  };
  if (comparison === undefined) return [end];
  const { verdict, reason, differences, differences_total } = comparison;
  const listed = differences
    .slice(0, MOST_IN_JUNIT)
    .map(
      ({ cycle, contract, figure, predicted, observed }) =>
        `cycle ${cycle}, contract ${contract}: ${figure} predicted ${predicted ?? 'none'}, observed ${observed ?? 'none'}`,
    );
  const agrees: CheckRow = {
    name: 'observed agrees with predicted',
    result: verdict === 'agrees' ? 'passed' : verdict === 'node differs' ? 'failed' : 'error',
    message: reason,
    details: listed.length === 0 ? undefined : [...listed, `${differences_total} in all`].join('\n'),
  };
  return [agrees, end];
}

function figureBlock(outcome: Outcome, title: string | undefined): Block {
  const { replications, requests, skipped_lines, cycle_ms, costs, control } = outcome;
  const isLimited = hasLimiter(outcome);
  const rows = figures.flatMap((figure) => {
    const value = figure.of(outcome);
    if (value === undefined || (figure.isOfLimiter && !isLimited)) return [];
    const [main = '', cycles] = figureText(figure, value, cycle_ms).split(' (');
    const isShare = figure.name === 'admitted' || figure.name === 'limited';
    const inTime = outcome.kind === 'replay' ? undefined : cycles?.slice(0, -1);
    const unit = figure.name.startsWith('costs.') ? costs?.unit : undefined;
    const beside = inTime ?? (isShare ? share(value, requests) : unit);
    const label = figure.name === 'contracts_limited' ? `${contractWord(outcome)}s limited` : figure.label;
    const without = control && figureText(figure, figure.of({ ...control, contracts: 1 } as never), cycle_ms);
    return [{ label, value: main, beside, mean: meanText(figure, outcome), without }];
  });
  const skipped = { label: 'skipped lines', value: number(skipped_lines), beside: undefined, mean: undefined };
  const means = replications && meanTitle(replications);
  const all = skipped_lines > 0 ? [...rows, { ...skipped, without: undefined }] : rows;
  if (control === undefined) return { kind: 'figures', title, meanTitle: means, rows: all };
  return {
    kind: 'table',
    title,
    columns: ['', right('this run'), ...(means === undefined ? [] : [right(means)]), right(control.name)],
    rows: all.map(({ label, value, beside, mean = '–', without = '–' }) => [
      label,
      beside === undefined ? value : `${value} (${beside})`,
      ...(means === undefined ? [] : [mean]),
      without,
    ]),
  };
}

/** `api: 10r/s burst 20 (nginx.conf:6)`; of several limits their files. */
function limitsTitle(limits: NonNullable<Outcome['limits']>): string {
  const [one] = limits;
  if (limits.length === 1 && one !== undefined) return `${one.name}: ${one.limit} (${one.file}:${one.line})`;
  return `Limits of ${[...new Set(limits.map(({ file }) => file))].join(', ')}`;
}

const limitColumns: readonly RunColumn<NonNullable<Outcome['limits']>[number]>[] = [
  column('limit', ({ name, limit }) => `${name}: ${limit}`),
  column('where', ({ where }) => where),
  column('counts by', ({ key }) => key),
  column('line', ({ file, line }) => `${file}:${line}`),
  column('requests', ({ requests }) => requests),
  { ...column('refused', ({ limited, not_judged }) => (not_judged ? 'not judged' : limited)), side: 'right' },
];

function limitBlocks({ limits = [] }: Outcome): Table[] {
  if (limits.length === 0) return [];
  return [runTable(limitColumns, limits, { title: 'Limits', brief: MOST_BRIEF, more: 'limits' })];
}

function equalRuns({ replications }: Outcome): Block[] {
  if (replications === undefined || Object.values(replications.figures).some(({ min, max }) => min < max)) return [];
  return [sentence(`The figures of all ${number(replications.n)} runs are equal: chance has no effect on them.`)];
}

function entryBlocks(outcome: Outcome): Table[] {
  const { by_contract, contracts, cycle_ms, first_cycle, last_cycle } = outcome;
  const limiting = limitingStates(outcome);
  if (first_cycle === null || instantOf(first_cycle, outcome) === undefined) return [];
  const entries = by_contract
    .flatMap((contract) =>
      intervalsOfLimiting(outcome, contract, last_cycle ?? 0).map(([cycle, end]) => {
        return { contract, cycle, cycles: end - cycle };
      }),
    )
    .sort((a, b) => a.cycle - b.cycle);
  if (entries.length === 0) return [];
  const hasCounts = entries.every(({ contract: { rule } }) => rule === undefined);
  const isSeveral = contracts > 1;
  const inTime = outcome.kind === 'replay';
  const spanOf = (cycles: number) => {
    if (cycles === 0) return `less than ${inTime ? duration(cycle_ms) : 'a cycle'}`;
    return inTime ? duration(cycles * cycle_ms) : spanWords(cycles, cycle_ms);
  };
  return [
    {
      kind: 'table',
      where: 'terminal',
      columns: [
        nameColumn('limiting from'),
        ...(inTime ? [] : [right('cycle')]),
        'for',
        ...(hasCounts ? [right('count')] : []),
        ...(isSeveral ? [nameColumn(contractWord(outcome))] : []),
      ],
      rows: entries
        .slice(0, MOST_BRIEF)
        .map(({ contract: { id, transitions }, cycle, cycles }) => [
          instantOf(cycle, outcome) ?? '',
          ...(inTime ? [] : [cycle - first_cycle]),
          spanOf(cycles),
          ...(hasCounts ? [transitions.find((one) => one.cycle === cycle && limiting.has(one.to))?.count ?? 0] : []),
          ...(isSeveral ? [id] : []),
        ]),
      total: entries.length,
      more: 'entries into limiting',
    },
  ];
}

function contractBlocks(outcome: Outcome): Table[] {
  const { contracts, by_contract, cycle_ms, limits } = outcome;
  const word = contractWord(outcome);
  const limited = by_contract.filter((contract) => contract.limited > 0);
  if (contracts < 2 || limited.length === 0) return [];
  const columns: readonly RunColumn<ContractOutcome>[] = [
    rowName(word, ({ id }) => id),
    column('requests', ({ requests }) => requests),
    column('limited', ({ limited: n }) => n),
    { ...column('share', ({ limited: n, requests }) => share(n, requests)), side: 'right' },
    column('entries', ({ entries }) => entries),
    { ...column('limiting', ({ limiting_cycles }) => duration(limiting_cycles * cycle_ms)), side: 'right' },
    column('peak', ({ peak_count }) => (limits === undefined ? peak_count : undefined)),
  ];
  const title = `${capital(word)}s with most limited requests`;
  return [runTable(columns, limited, { title, folded: true, brief: MOST_BRIEF, more: 'with limited requests' })];
}

function differenceBlocks(outcome: Outcome): Block[] {
  const { comparison } = outcome;
  if (comparison === undefined) return [];
  const { reason, compared_cycles, compared_decisions, tolerance, differences, differences_total } = comparison;
  const compared = `${reason} Compared: ${counted(compared_cycles, 'cycle')}, ${counted(compared_decisions, 'decision')}; tolerance: ${tolerance.replace(/\.$/, '')}.`;
  const summary = sentence(compared, { title: 'Predicted and observed', where: 'documents' });
  if (differences.length === 0) return [summary];
  const columns: readonly RunColumn<(typeof differences)[number]>[] = [
    rowName(contractWord(outcome), ({ contract }) => contract),
    { ...column('cycle', ({ cycle }) => cycleWords(cycle, outcome)), side: 'right' },
    column('figure', ({ figure }) => figure),
    column('predicted', ({ predicted }) => String(predicted ?? 'none')),
    column('observed', ({ observed }) => String(observed ?? 'none')),
    column('note', ({ note }) => note),
  ];
  const more = { brief: MOST_BRIEF, total: differences_total, more: 'differences' };
  return [summary, runTable(columns, differences.slice(0, MOST_DIFFERENCES), more)];
}
