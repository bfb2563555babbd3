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

type ChartId = (typeof chartIds)[number] | 'course' | `panel-${number}`;

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
  /** The value holds until the next x; otherwise straight lines join the points. */
  readonly stepped: boolean;
  readonly width?: number;
  readonly area?: 'zero' | 'previous';
  readonly hatched?: boolean;
  readonly tooltips?: readonly number[];
  readonly axis?: 'left' | 'right';
  readonly loose?: boolean;
  readonly listed?: boolean;
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

/** The last cycles; `to` is now. */
export interface AgoAxis {
  readonly kind: 'ago';
  readonly from: number;
  readonly to: number;
  readonly cycleMs: number;
}

/** Number of nines: 1 is 90 %, 2 is 99 %; `max` is the place of the largest value. */
interface PercentileAxis {
  readonly kind: 'percentiles';
  readonly max: number;
}

interface PercentAxis {
  readonly kind: 'percent';
  readonly from: number;
  readonly to: number;
}

interface ValueAxis {
  readonly kind: 'values';
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly log?: boolean;
  readonly names?: readonly string[];
}

export interface Mark {
  readonly kind: 'entry' | 'restore' | 'move' | 'difference';
  readonly xs: readonly number[];
}

/** The colour follows from the position among states that admit, or among those that do not. */
export interface StateStrip {
  readonly name: string;
  readonly admits: boolean;
  readonly intervals: readonly (readonly [from: number, to: number])[];
}

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

export interface Heat {
  readonly names: readonly string[];
  readonly values: readonly (readonly (number | null)[])[];
  readonly low: number;
  readonly high: number;
  /** Drawn as a line between lower values and others. */
  readonly border?: number;
}

export interface ChartSpec {
  readonly id: ChartId;
  readonly title: string;
  readonly about: string;
  readonly x: CycleAxis | AgoAxis | PercentileAxis | PercentAxis | ValueAxis;
  readonly yTitle: string;
  readonly rightTitle?: string;
  /** Smallest end of the right axis. */
  readonly rightMax?: number;
  readonly yLog?: boolean;
  readonly yWhole?: boolean;
  /** Smallest end of the axis; gives charts side by side the same scale. */
  readonly yMax?: number;
  readonly lines: readonly Line[];
  readonly shades: readonly (readonly [from: number, to: number])[];
  readonly marks: readonly Mark[];
  /** Intervals without values, hatched. */
  readonly unknown?: readonly (readonly [from: number, to: number])[];
  /** A strip on the axis; without it the strip shows the limiting intervals. */
  readonly states?: readonly StateStrip[];
  readonly lanes?: Lanes;
  readonly ranges?: Ranges;
  readonly heat?: Heat;
  /** px, for a width of 900 px. */
  readonly height: number;
  /** px; a narrower page scrolls it. Default: any width. */
  readonly leastWidth?: number | undefined;
}

/** Of a chart without shaded intervals and marks. */
export const unmarked = { shades: [], marks: [] } as const;
