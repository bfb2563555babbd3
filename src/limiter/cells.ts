// Owns the memory that counting takes place in: cells, cut one behind the other out of long arrays that many owners share.
// Leaves what stands in a cell to its owner: window.ts, quiet.ts.
//
//   array   | head a | window a ........ | head b | window b ........ | head c | window c ........ |   free    |
//           ^ at of gate a               ^ at of gate b               ^ at of gate c
//
// Why not fields of objects: of ten thousand contracts none is in the processor's cache when it is asked for, and a decision takes
// as long as the places in memory it has to visit. An object is one place, each of its numbers that is no small integer another
// (the engine keeps it in a box), a typed array two (its header and its content). With objects for gate, window and figures, a
// decision had a third of the speed of a bare ring of counts behind a Map (`npm run bench -- decide`); with cells it has two thirds.

/** Cells of one owner: `array[at]` is the first. They are 0 at the beginning, and lie close to those cut just before. */
export interface Cells {
  readonly array: Float64Array;
  readonly at: number;
}

/** 64 KB: a hundred owners share the header of an array, so that it stays in the cache. */
const ARRAY_LENGTH = 8192;

/** A longer piece gets an array of its own; what is left at the end of a shared one is at most as much. */
const LONGEST_SHARED = ARRAY_LENGTH / 16;

let array = new Float64Array(ARRAY_LENGTH);
let used = 0;

/** Cuts off `length` cells. The array goes when all who own cells of it have gone. */
export function cutCells(length: number): Cells {
  if (length > LONGEST_SHARED) return { array: new Float64Array(length), at: 0 };
  if (used + length > ARRAY_LENGTH) {
    array = new Float64Array(ARRAY_LENGTH);
    used = 0;
  }
  const at = used;
  used += length;
  return { array, at };
}
