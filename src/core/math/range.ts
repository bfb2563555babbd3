// A range of numbers, both ends included.

export interface Range {
  readonly least: number;
  readonly most: number;
}

export function rangeOf(values: readonly number[]): Range {
  return { least: Math.min(...values), most: Math.max(...values) };
}
