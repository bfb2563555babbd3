// The remainder of a division that rounds down: 0 <= modulo < period, for a positive period.
//
//   value    -3   -2   -1    0    1    2    3    4
//   % 3       0   -2   -1    0    1    2    0    1
//   modulo    0    1    2    0    1    2    0    1

export function modulo(value: number, period: number): number {
  return ((value % period) + period) % period;
}
