// Where a value lies in its period.
//
//   value    -3   -2   -1    0    1    2    3    4
//   % 3       0   -2   -1    0    1    2    0    1
//   modulo    0    1    2    0    1    2    0    1

/** The remainder of a division that rounds down, from 0 up to `period`, which is positive. */
export function modulo(value: number, period: number): number {
  return ((value % period) + period) % period;
}
