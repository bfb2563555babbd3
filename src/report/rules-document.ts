// Rules side by side, as a document.
import { VERSION } from '../core/version.js';
import type { ComparedRule, ComparedRules } from '../harness/outcome/compared-rules.js';
import type { ChangedKey, LogComparison } from '../harness/simulate/compare-logs.js';
import { type Block, nameColumn, type ReportDocument, right, sentence } from './block.js';
import { refusalsChart } from './chart/rules.js';
import { counted, duration, percent } from './words.js';

/** Keys shown in terminal and Markdown; pages and compare.json have all. */
const BRIEF = 10;

interface ComparedReport extends LogComparison {
  readonly name: string;
  readonly changes: PolicyChanges | undefined;
  readonly command: string;
}

export function comparedDocument(report: ComparedReport): ReportDocument {
  const { rules, keys, name, changes, command } = report;
  return {
    title: `Rules side by side on ${name}`,
    sentence: `${rules.length} rules on ${counted(rules[0]!.requests, 'request')} of ${counted(keys, 'key')}`,
    blocks: [
      { kind: 'chart', spec: refusalsChart(report), where: 'documents' },
      ...rulesBlocks(rules, 'Rules'),
      ...changesBlocks(changes),
    ],
    again: { command },
  };
}

interface PolicyChanges {
  readonly newly_refused: number;
  readonly newly_admitted: number;
  readonly keys_newly_refused: number;
  readonly keys_newly_admitted: number;
  readonly by_key: readonly ChangedKey[];
}

const columns: readonly (readonly [head: string, of: (one: ComparedRule) => string | number | undefined])[] = [
  ['rule', ({ name }) => name],
  ['requests', ({ requests }) => requests],
  ['limited', ({ limited }) => limited],
  ['share', ({ limited_share }) => percent(limited_share)],
  ['keys', ({ keys_limited }) => keys_limited],
  ['worst 1 s', ({ worst_burst_1s }) => worst_burst_1s],
  ['fairness', ({ fairness }) => fairness.toFixed(3)],
  ['longest closed', ({ longest_closure_ms }) => duration(longest_closure_ms)],
  ['repeats', ({ wasted }) => wasted],
  ['retries', ({ retries }) => retries],
  ['goodput/s', ({ goodput_per_second: rate }) => (rate === undefined ? undefined : Number(rate.toPrecision(3)))],
  ['served late', ({ served_in_vain }) => served_in_vain],
];

export function rulesBlocks(rules: readonly ComparedRule[], title?: string): Block[] {
  const differ = rules.some(({ requests }) => requests !== rules[0]?.requests);
  const shown = columns.filter(
    ([head, of]) => (head !== 'requests' || differ) && rules.some((one) => of(one) !== undefined),
  );
  const isLate = shown.some(([head]) => head === 'served late');
  return [
    {
      kind: 'table',
      title,
      columns: shown.map(([head], index) => (index === 0 ? head : right(head))),
      rows: rules.map((one) => shown.map(([, of]) => of(one) ?? '–')),
    },
    sentence(isLate ? `${legend} ${servedLegend}` : legend),
  ];
}

const legend =
  "worst 1 s: most requests of one key admitted in any second. fairness: Jain's index of the shares admitted; 1 means every key loses the same share. longest closed: longest time one key stayed refused, from a refused request until one would be admitted. repeats: requests sent by a key that was already limited.";
const servedLegend = 'served late: requests that the service served after their client had given up.';

/** @param of log or scenario, and its seed */
export function comparedAnswer(of: object, { keys, rules, timeline }: ComparedRules, cycleMs: number, partial = false) {
  const { requests } = rules[0]!;
  return { weir: VERSION, kind: 'compare', ...of, cycle_ms: cycleMs, requests, keys, partial, rules, timeline };
}

export function changesOf(changed: readonly ChangedKey[], top: number): PolicyChanges {
  const sum = (of: (one: ChangedKey) => number) => changed.reduce((total, one) => total + of(one), 0);
  return {
    newly_refused: sum(({ newly_refused }) => newly_refused),
    newly_admitted: sum(({ newly_admitted }) => newly_admitted),
    keys_newly_refused: changed.filter(({ newly_refused }) => newly_refused > 0).length,
    keys_newly_admitted: changed.filter(({ newly_admitted }) => newly_admitted > 0).length,
    by_key: changed.slice(0, top),
  };
}

function changesBlocks(changes: PolicyChanges | undefined): Block[] {
  if (changes === undefined) return [];
  const { newly_refused, newly_admitted, keys_newly_refused, keys_newly_admitted, by_key } = changes;
  const words = (requests: number, keys: number) =>
    requests === 0 ? 'none' : `${counted(requests, 'request')} of ${counted(keys, 'key')}`;
  const summary = sentence(
    `Newly refused: ${words(newly_refused, keys_newly_refused)}. Newly admitted: ${words(newly_admitted, keys_newly_admitted)}.`,
    { title: 'What changes' },
  );
  if (by_key.length === 0) return [summary];
  return [
    summary,
    {
      kind: 'table',
      columns: [nameColumn('key'), ...['requests', 'newly refused', 'newly admitted'].map(right)],
      rows: by_key.map((one) => [one.key, one.requests, one.newly_refused, one.newly_admitted]),
      brief: BRIEF,
      more: 'keys',
    },
  ];
}
