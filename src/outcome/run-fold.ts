// What is kept of a run while its rows go by: figures, transitions, the timeline of the contracts, that of all together.
import type { Observer } from 'rxjs';
import type { Figures as Counted } from '../limiter/fast-path.js';
import type { CycleRow, RunShape } from './cycle-row.js';
import type { Past } from './interval-figures.js';
import type { TransitionSeen } from './outcome-schema.js';
import { type Figures, RunFigures } from './run-figures.js';
import { MOST_ROWS, Timeline, TotalsTimeline } from './timeline.js';

/** Subscribe it to the rows of a run, predicted or observed: `rows.subscribe(fold)`. */
export class RunFold implements Pick<Observer<CycleRow>, 'next'> {
  /** All contracts together. */
  readonly totals = new TotalsTimeline();
  readonly #run: RunShape;
  readonly #figures: RunFigures;
  #timeline: Timeline | undefined;

  /** @param keepsTimeline false where it is known that there will be too many rows to keep those of every contract */
  constructor(run: RunShape, keepsTimeline = true) {
    this.#run = run;
    this.#figures = new RunFigures(run);
    this.#timeline = keepsTimeline ? new Timeline(run.names) : undefined;
  }

  // A field, so that the fold can be given to `subscribe` and `tap` as a function, too.
  readonly next = (row: CycleRow): void => {
    this.#figures.next(row);
    this.totals.next(row);
    if (this.#timeline === undefined) return;
    this.#timeline.next(row);
    if (this.#timeline.length > MOST_ROWS) this.#timeline = undefined;
  };

  /** Each contract, cycle by cycle; undefined for a run with too many rows. */
  get timeline(): Timeline | undefined {
    return this.#timeline;
  }

  /** By contract, in order of cycle. */
  get transitions(): readonly (readonly TransitionSeen[])[] {
    return this.#figures.transitions;
  }

  /** See `RunFigures.counted`. */
  counted(contract: number, counts: Counted): void {
    this.#figures.counted(contract, counts);
  }

  /** See `RunFigures.figures`. */
  figures(lastCycle: number, top: number): Figures {
    return this.#figures.figures(lastCycle, top);
  }

  /** What expectations look back at. */
  past(firstCycle: number, lastCycle: number): Past {
    const { names, states } = this.#run;
    const admitting = new Set(states.flatMap(({ name, admits }) => (admits ? [name] : [])));
    return {
      firstCycle,
      lastCycle,
      names,
      timeline: this.#timeline,
      totals: this.totals,
      transitions: this.transitions,
      admits: (state) => admitting.has(state),
    };
  }
}
