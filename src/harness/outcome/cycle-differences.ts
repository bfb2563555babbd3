// Where two runs of the same contracts differ, cycle by cycle.
//
//   cycle      41    42    43    44         requests and admitted: every cycle that differs
//   predicted   5     5     5     5         count and state: the cycle in which they begin to differ
//   observed    5     4     5     5
import type { Difference } from './outcome-schema.js';
import type { Timeline, TimelineRow } from './timeline.js';

interface ComparedRun {
  readonly timeline: Timeline | undefined;
  readonly totals: Timeline;
}

type Row = Pick<TimelineRow, 'requests' | 'admitted' | 'count' | 'state'>;

const figures = ['requests', 'admitted', 'count', 'state'] as const;

/** By cycle, then contract name. Compares the totals if either run has no timeline by contract. */
export function differencesBetween(predicted: ComparedRun, observed: ComparedRun): Difference[] {
  const byContract = predicted.timeline !== undefined && observed.timeline !== undefined;
  const [mine, theirs] = [predicted, observed].map((run) => byCell(byContract ? run.timeline! : run.totals));
  const cells = new Map([...mine!, ...theirs!].map(([key, { cycle, contract }]) => [key, { cycle, contract }]));
  const inOrder = [...cells].sort(([, a], [, b]) => a.cycle - b.cycle || (a.contract < b.contract ? -1 : 1));
  const last = new Map<string, { mine: Row | undefined; theirs: Row | undefined }>();
  return inOrder.flatMap(([key, { cycle, contract }]) => {
    const before = last.get(contract);
    const now = { mine: mine!.get(key) ?? idle(before?.mine), theirs: theirs!.get(key) ?? idle(before?.theirs) };
    last.set(contract, now);
    return figures.flatMap((figure): Difference[] => {
      const [expected, found] = [now.mine?.[figure] ?? null, now.theirs?.[figure] ?? null];
      const isNew =
        figure === 'requests' || figure === 'admitted' || before?.mine?.[figure] === before?.theirs?.[figure];
      return expected === found || !isNew ? [] : [{ cycle, contract, figure, predicted: expected, observed: found }];
    });
  });
}

function byCell(timeline: Timeline): Map<string, TimelineRow> {
  return new Map([...timeline.rows()].map((row) => [`${row.cycle} ${row.contract}`, row]));
}

function idle(before: Row | undefined): Row | undefined {
  return before === undefined ? undefined : { ...before, requests: 0, admitted: 0 };
}
