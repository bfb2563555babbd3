// Rules side by side: a row for each rule. Of a log, and of a scenario that compares.
import type { ComparedRule } from '../harness/outcome/compared-rules.js';
import { type Block, sentence } from './block.js';
import { column, type RunColumn, rowName, runTable } from './run-table.js';
import { duration, percent } from './words.js';

const threeDigits = (share: number) => share.toFixed(3);
const closureOf = ({ longest_closure_ms }: ComparedRule) => longest_closure_ms;
const rateFigure = (rate: number) => Number(rate.toPrecision(3));

export const rulesColumns: readonly RunColumn<ComparedRule>[] = [
  rowName('rule', ({ name }) => name),
  column('requests', ({ requests }) => requests),
  column('limited', ({ limited }) => limited),
  column('share', ({ limited_share }) => limited_share, percent),
  column('keys', ({ keys_limited }) => keys_limited),
  column('worst 1 s', ({ worst_burst_1s }) => worst_burst_1s),
  column('fairness', ({ fairness }) => fairness, threeDigits),
  { ...column('longest closed', closureOf, duration), field: 'longest_closure_ms' },
  column('repeats', ({ wasted }) => wasted),
  column('retries', ({ retries }) => retries),
  column('goodput/s', ({ goodput_per_second: rate }) => rate, rateFigure),
  column('served late', ({ served_in_vain }) => served_in_vain),
];

export function rulesBlocks(rules: readonly ComparedRule[], title?: string): Block[] {
  const differ = rules.some(({ requests }) => requests !== rules[0]?.requests);
  const isLate = rules.some(({ served_in_vain }) => served_in_vain !== undefined);
  return [
    runTable(
      rulesColumns.filter((one) => differ || one.title !== 'requests'),
      rules,
      { title },
    ),
    sentence(isLate ? `${legend} ${servedLegend}` : legend),
  ];
}

const legend =
  "worst 1 s: most requests of one key admitted in any second. fairness: Jain's index of the shares admitted; 1 means every key loses the same share. longest closed: longest time one key stayed refused, from a refused request until one would be admitted. repeats: requests sent by a key that was already limited.";
const servedLegend = 'served late: requests that the service served after their client had given up.';
