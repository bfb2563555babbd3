// The shape of a chart: what is drawn, as plain data that a page can carry. How it looks is in palette.ts and paint.ts.

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
] as const;

export type ChartId = (typeof chartIds)[number];

/** What a colour and a line style stand for; palette.ts gives each its looks. */
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
  /** null leaves a gap. */
  readonly ys: readonly (number | null)[];
  /** The value holds until the next place; otherwise a straight line leads there. */
  readonly stepped: boolean;
  readonly width?: number;
  /** Fills the area down to zero, or to the line before this one. */
  readonly area?: 'zero' | 'previous';
  /** Fills with diagonal lines, so that the area is known without its colour. */
  readonly hatched?: boolean;
  /** What the tooltip says instead of the height; of stacked areas the own part. */
  readonly told?: readonly number[];
  readonly axis?: 'left' | 'right';
  /** Each value is a small dot, and no line leads from one to the next. */
  readonly loose?: boolean;
  /** The shape of the dots at each place; none without it. */
  readonly dots?: 'circle' | 'rect' | 'triangle' | 'rectRot' | 'star';
}

/** Cycles from the start of the run; `firstCycle` is their absolute beginning. */
export interface CycleAxis {
  readonly kind: 'cycles';
  readonly from: number;
  readonly to: number;
  readonly firstCycle: number;
  readonly cycleMs: number;
}

/** Nines: 1 is 90 %, 2 is 99 %; `max` is where the largest value stands. */
export interface PercentileAxis {
  readonly kind: 'percentiles';
  readonly max: number;
}

/** Differences from the mean in percent. */
export interface PercentAxis {
  readonly kind: 'percent';
  readonly from: number;
  readonly to: number;
}

export interface Mark {
  readonly kind: 'entry' | 'restore' | 'difference';
  readonly xs: readonly number[];
}

/** One row for each name, with the stretches of each. */
export interface Lanes {
  readonly names: readonly string[];
  readonly stretches: readonly (readonly (readonly [from: number, to: number])[])[];
}

/** Rows of intervals: a thin line from min to max, a bar from low to high, a dot at the middle. */
export interface Ranges {
  readonly names: readonly string[];
  readonly rows: readonly {
    readonly min: number;
    readonly low: number;
    readonly middle: number;
    readonly high: number;
    readonly max: number;
    readonly told: string;
  }[];
}

export interface ChartSpec {
  readonly id: ChartId;
  readonly title: string;
  /** What can be seen, in a sentence or two: the caption, and what a screen reader says. */
  readonly about: string;
  readonly x: CycleAxis | PercentileAxis | PercentAxis;
  readonly yTitle: string;
  readonly rightTitle?: string;
  /** Powers of ten at equal distances; every value has to be above 0. */
  readonly yLog?: boolean;
  /** Only whole numbers stand at the axis. */
  readonly yWhole?: boolean;
  readonly lines: readonly Line[];
  /** Limiting stretches: shaded over the whole height. */
  readonly shades: readonly (readonly [from: number, to: number])[];
  readonly marks: readonly Mark[];
  readonly lanes?: Lanes;
  readonly ranges?: Ranges;
  /** Height in px when 900 px wide. */
  readonly height: number;
}
