// A chart as plain data. palette.ts and paint.ts define its style.

export const chartIds = [
  'window',
  'decisions',
  'comparison',
  'lanes',
  'contracts',
  'queue',
  'latency',
  'percentiles',
  'band',
  'replications',
  'rules',
  'limited',
  'curve',
  'timeline',
  'hours',
] as const;

/** The chart of a kind, or one of several charts side by side. */
type ChartId = (typeof chartIds)[number] | `panel-${number}`;

/** The meaning of a colour and line style; palette.ts defines the style of each. */
export type Tone =
  | 'count'
  | 'admitted'
  | 'limited'
  | 'threshold'
  | 'planned'
  | 'predicted'
  | 'observed'
  | 'difference'
  | 'queue'
  | 'jobs'
  | 'retries'
  | 'median'
  | 'tail'
  | 'response'
  | 'band';

export interface Line {
  readonly label: string;
  readonly tone: Tone;
  readonly xs: readonly number[];
  readonly ys: readonly (number | null)[];
  /** The value holds until the next x; otherwise the points are joined by straight lines. */
  readonly stepped: boolean;
  readonly width?: number;
  /** Fills the area between the line and zero, or the previous line. */
  readonly area?: 'zero' | 'previous';
  /** Fills the area with diagonal lines, so that it is recognizable without its colour. */
  readonly hatched?: boolean;
  /** The values in tooltips, if they are not `ys`: for stacked areas the share of this one. */
  readonly tooltips?: readonly number[];
  readonly axis?: 'left' | 'right';
  /** Each value is a small dot; the dots are not joined. */
  readonly loose?: boolean;
  /** False: without an entry in the legend. */
  readonly listed?: boolean;
  /** The shape of the point at each value; no points if undefined. */
  readonly dots?: 'circle' | 'rect' | 'triangle' | 'rectRot' | 'star';
}

/** Cycles from the start of the run; `firstCycle` is the absolute number of the first. */
export interface CycleAxis {
  readonly kind: 'cycles';
  readonly from: number;
  readonly to: number;
  readonly firstCycle: number;
  readonly cycleMs: number;
}

/** Number of nines: 1 is 90 %, 2 is 99 %; `max` is the place of the largest value. */
interface PercentileAxis {
  readonly kind: 'percentiles';
  readonly max: number;
}

/** Differences from the mean in percent. */
interface PercentAxis {
  readonly kind: 'percent';
  readonly from: number;
  readonly to: number;
}

/** Values of a field. */
interface ValueAxis {
  readonly kind: 'values';
  readonly title: string;
  readonly from: number;
  readonly to: number;
  /** A logarithmic axis; `from` is above 0. */
  readonly log?: boolean;
  /** The places 0, 1, 2, … have names instead of numbers. */
  readonly names?: readonly string[];
}

export interface Mark {
  readonly kind: 'entry' | 'restore' | 'move' | 'difference';
  readonly xs: readonly number[];
}

/** A state of the contract, with its intervals. Its colour follows from its place among those that admit, or that do not. */
export interface StateStrip {
  readonly name: string;
  readonly admits: boolean;
  readonly intervals: readonly (readonly [from: number, to: number])[];
}

/** One row for each name, with its states: all of a definition, or the limiting one of a rate limiter. */
interface Lanes {
  readonly names: readonly string[];
  readonly states: readonly (readonly StateStrip[])[];
}

/** Rows of intervals: a thin line from min to max, a bar from low to high, a dot at the middle. */
interface Ranges {
  readonly names: readonly string[];
  readonly rows: readonly {
    readonly min: number;
    readonly low: number;
    readonly middle: number;
    readonly high: number;
    readonly max: number;
  }[];
}

/** A value for each pair of an x and a y name, as a colour and a number. */
export interface Heat {
  /** From the top. */
  readonly names: readonly string[];
  /** By y, then x; null where there is none. */
  readonly values: readonly (readonly (number | null)[])[];
  /** The values of the lightest and the strongest colour. */
  readonly low: number;
  readonly high: number;
  /** A line is drawn between values below it and others. */
  readonly border?: number;
}

export interface ChartSpec {
  readonly id: ChartId;
  readonly title: string;
  /** A description in one or two sentences, for the caption and for screen readers. */
  readonly about: string;
  readonly x: CycleAxis | PercentileAxis | PercentAxis | ValueAxis;
  readonly yTitle: string;
  readonly rightTitle?: string;
  /** A logarithmic axis; every value must be above 0. */
  readonly yLog?: boolean;
  /** Only whole numbers at the ticks. */
  readonly yWhole?: boolean;
  /** The axis reaches at least to this value: the same for charts side by side. */
  readonly yMax?: number;
  readonly lines: readonly Line[];
  /** Limiting intervals, shaded over the whole height. */
  readonly shades: readonly (readonly [from: number, to: number])[];
  readonly marks: readonly Mark[];
  /** Every state, as a strip on the axis; without it the strip has the limiting intervals. */
  readonly states?: readonly StateStrip[];
  readonly lanes?: Lanes;
  readonly ranges?: Ranges;
  readonly heat?: Heat;
  /** Height in px for a width of 900 px. */
  readonly height: number;
  /** In px; a narrower page scrolls it. Default: any width. */
  readonly leastWidth?: number | undefined;
}
