// Several runs as a table with a line for each, after the expectations that did not hold.
import type { Outcome } from '../harness/outcome/outcome-schema.js';
import { type ReportDocument, sentence } from '../report/block.js';
import { hasLimiter } from '../report/reported.js';
import { expectationBlocks } from '../report/run-document.js';
import { column, type RunColumn, runTable } from '../report/run-table.js';
import { counted, duration, share, verdictView } from '../report/words.js';

export function runsDocument(outcomes: readonly Outcome[]): ReportDocument {
  const broken = outcomes.filter(({ verdict }) => verdict !== 'held' && verdict !== 'nothing expected');
  const words =
    broken.length > 0
      ? `${broken.length} of ${counted(outcomes.length, 'run')} did not hold.`
      : outcomes.every((outcome) => verdictView(outcome).hue === 'good')
        ? `All of ${counted(outcomes.length, 'run')} held.`
        : 'Nothing that was expected failed.';
  const failed = broken.flatMap((outcome) => [
    sentence(`${outcome.scenario}:`),
    ...expectationBlocks({ ...outcome, expectations: outcome.expectations.filter(({ held }) => !held) }),
  ]);
  return { title: '', sentence: '', blocks: [...failed, runTable(columns, outcomes), sentence(words)] };
}

const ofLimiter = (of: (outcome: Outcome) => number) => (outcome: Outcome) =>
  hasLimiter(outcome) ? of(outcome) : undefined;

const columns: readonly RunColumn<Outcome>[] = [
  { ...column('verdict', ({ verdict }) => verdict), shown: verdictCell },
  column('scenario', ({ scenario }) => scenario),
  column('requests', ({ requests }) => requests),
  column(
    'limited',
    ofLimiter(({ limited }) => limited),
  ),
  {
    ...column(
      'share',
      ofLimiter(({ limited }) => limited),
    ),
    shown: ({ limited, requests }) => share(limited, requests),
  },
  column(
    'entries',
    ofLimiter(({ entries }) => entries),
  ),
  column(
    'limiting',
    ofLimiter(({ limiting_cycles, cycle_ms }) => limiting_cycles * cycle_ms),
    duration,
  ),
  column(
    'peak',
    ofLimiter(({ peak_count }) => peak_count),
  ),
  { ...column('expectations', heldWords), side: 'right' },
];

function verdictCell(outcome: Outcome) {
  const { sign, words, hue } = verdictView(outcome);
  return { text: `${sign} ${words}`, hue: hue === 'open' ? undefined : hue };
}

function heldWords({ expectations }: Outcome): string | undefined {
  if (expectations.length === 0) return undefined;
  return `${expectations.filter(({ held }) => held).length}/${expectations.length}`;
}
