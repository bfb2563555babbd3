// Owns several runs in one table for a terminal: a line for each, the verdict first.
import type { Outcome } from '../outcome/schema.js';
import { alignedTable, asciiOnly, hued, type Terminal } from './terminal-text.js';
import { hueOf, plainTerminal } from './text.js';
import { counted, duration, number, share, verdictSigns } from './words.js';

/** Ends with a line feed. Empty for no runs. */
export function summaryText(outcomes: readonly Outcome[], terminal: Terminal = plainTerminal): string {
  if (outcomes.length === 0) return '';
  const titles = ['verdict', 'scenario', 'requests', 'limited', 'share', 'entries', 'limiting', 'peak', 'expectations'];
  const rows = outcomes.map((outcome) => [
    `${verdictSigns[outcome.verdict]} ${outcome.verdict}`,
    outcome.scenario,
    number(outcome.requests),
    number(outcome.limited),
    share(outcome.limited, outcome.requests),
    number(outcome.entries),
    duration(outcome.limiting_cycles * outcome.cycle_ms),
    number(outcome.peak_count),
    outcome.expectations.length === 0
      ? '–'
      : `${outcome.expectations.filter(({ held }) => held).length}/${outcome.expectations.length}`,
  ]);
  const [headLine = '', ...lines] = alignedTable(
    titles.map((title, index) => ({ title, right: index > 1 })),
    rows,
    Math.max(40, terminal.columns),
  );
  const broken = outcomes.filter(({ verdict }) => verdict !== 'held' && verdict !== 'nothing expected').length;
  const sentence =
    broken === 0
      ? outcomes.every(({ verdict }) => verdict === 'held')
        ? `All of ${counted(outcomes.length, 'run')} held.`
        : 'Nothing that was expected failed.'
      : `${broken} of ${counted(outcomes.length, 'run')} did not hold.`;
  const coloured = lines.map((line, index) => hued(line, hueOf(outcomes[index]!.verdict), terminal));
  const text = `${[hued(headLine, 'strong', terminal), ...coloured, '', sentence].join('\n')}\n`;
  return terminal.unicode ? text : asciiOnly(text);
}
