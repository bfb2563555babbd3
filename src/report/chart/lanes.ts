// Charts of many contracts: a lane for each, thick while it limits; and how many limit at once.

import { type ChartSpec, unmarked } from '../chart-specs/spec.js';
import type { Reported } from '../reported.js';
import { capital, contractWord, counted, number, plain } from '../words.js';
import { countSteps, cycleAxis, shadesOf, statesOf, steppedLine } from './cycle-axis.js';

const MOST_LANES = 40;

function limitingWord(word: ReturnType<typeof contractWord>): string {
  return word === 'contract' ? 'limiting' : 'limited';
}

export function lanesChart({ outcome }: Reported): ChartSpec | undefined {
  const limited = outcome.by_contract.filter(({ transitions }) => transitions.length > 0);
  if (outcome.contracts < 2 || limited.length === 0) return undefined;
  const axis = cycleAxis(outcome);
  const shown = limited.slice(0, MOST_LANES);
  const states = shown.map((contract) => {
    const named = statesOf(outcome, contract, axis);
    return named.length > 0
      ? named
      : [{ name: 'limiting', admits: false, intervals: shadesOf(outcome, contract, axis) }];
  });
  const rest = outcome.contracts_limited - shown.length;
  const word = contractWord(outcome);
  return {
    id: 'lanes',
    title: outcome.states === undefined ? `When each ${word} was ${limitingWord(word)}` : `States of each ${word}`,
    about: `${number(outcome.contracts_limited)} of ${counted(outcome.contracts, word)} had limited requests.${rest > 0 ? ` Shown are the ${number(shown.length)} with most of them.` : ''}`,
    x: axis,
    yTitle: capital(word),
    yWhole: true,
    lines: [],
    ...unmarked,
    lanes: { names: shown.map(({ id }) => plain(id)), states },
    height: 130 + 22 * shown.length,
  };
}

/** Undefined for a single contract, or if no two limited at once: the lanes then show the same. */
export function contractsChart({ outcome, totals }: Reported): ChartSpec | undefined {
  if (outcome.contracts < 2) return undefined;
  const axis = cycleAxis(outcome);
  const steps = countSteps(totals, axis, () => true);
  const most = steps.ys.reduce((most, one) => Math.max(most, one), 0);
  if (most < 2) return undefined;
  const word = contractWord(outcome);
  return {
    id: 'contracts',
    title: `${capital(word)}s ${limitingWord(word)} at once`,
    about: `At most ${number(most)} of ${number(outcome.contracts)} in the same cycle.`,
    x: axis,
    yTitle: `${capital(word)}s ${limitingWord(word)}`,
    yWhole: true,
    lines: [
      steppedLine(`${word}s ${limitingWord(word)}`, 'limited', steps, { area: 'zero', hatched: true, width: 1.5 }),
    ],
    ...unmarked,
    height: 260,
  };
}
