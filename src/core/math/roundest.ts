// Rounding to as few digits as a range allows.

/** The number above 0 in the range with the fewest digits (a half counts as round), nearest to `value`; `value` if there is none. */
export function roundest(least: number, most: number, value: number): number {
  if (!(most > 0)) return value;
  let scale = 1e15;
  while (scale > most) scale /= 10;
  for (; scale > 1e-9 * most; scale /= 10) {
    for (const step of [scale, scale / 2]) {
      const near = Math.round(value / step) * step;
      const found = [near, near - step, near + step].find((one) => one >= least && one <= most && one > 0);
      if (found !== undefined) return Number(found.toPrecision(12));
    }
  }
  return value;
}
