// A histogram of durations. The only file that uses hdr-histogram-js.
//
//   buckets   | 0 | 1 | 2 | ... | 2047 | 2048-49 | 2050-51 | ... | 4096-99 | ...     us, 3 significant digits
//   p50 ...   the middle of the bucket, so that rounding is not biased; mean and max are exact
//
// Imports one file of the package: the whole brings a compressor and WebAssembly to a browser.
import { constructorFromBucketSize } from 'hdr-histogram-js/dist/JsHistogramFactory.js';

const Int32Histogram = constructorFromBucketSize(32);

const US_PER_MS = 1_000;

/** Memory grows with the logarithm of the longest duration: 9 KB, 100 KB for hours. */
export class Durations {
  maxMs = 0;
  #count = 0;
  #sumMs = 0;
  readonly #histogram = growing();

  get meanMs(): number {
    return this.#count === 0 ? 0 : this.#sumMs / this.#count;
  }

  /** @param ms at least 0; below half a microsecond counts as 0 in the quantiles */
  record(ms: number): void {
    this.#count += 1;
    this.#sumMs += ms;
    if (ms > this.maxMs) this.maxMs = ms;
    this.#histogram.recordValue(Math.round(ms * US_PER_MS));
  }

  add(other: Durations): void {
    this.#count += other.#count;
    this.#sumMs += other.#sumMs;
    this.maxMs = Math.max(this.maxMs, other.maxMs);
    this.#histogram.add(other.#histogram);
  }

  /** @param p in 0 .. 1. @returns 0 before the first */
  quantileMs(p: number): number {
    const us = this.#histogram.getValueAtPercentile(p * 100);
    // The library returns the upper end of the bucket; its width is at most 1/1024 of it.
    const width = us < 2048 ? 1 : bucketWidth(us);
    return Math.min((us - (width - 1) / 2) / US_PER_MS, this.maxMs);
  }

  /** In ms; null before the first. @param taken what was timed */
  figures(taken: string) {
    if (this.#count === 0) return null;
    return {
      n: this.#count,
      mean: this.meanMs,
      p50: this.quantileMs(0.5),
      p90: this.quantileMs(0.9),
      p99: this.quantileMs(0.99),
      p999: this.quantileMs(0.999),
      max: this.maxMs,
      taken: `${taken}; HDR histogram of microseconds, 3 significant digits; mean and max exact`,
    };
  }
}

/** Whole microseconds from 1 on, with 3 significant digits. */
function growing(): InstanceType<typeof Int32Histogram> {
  const histogram = new Int32Histogram(1, 2, 3);
  histogram.autoResize = true;
  return histogram;
}

/** Width of the bucket whose upper end is `us`: with 3 significant digits, 1024 buckets to each power of two from 2048 on. */
function bucketWidth(us: number): number {
  let width = 2;
  while (us >= 2048 * width) width *= 2;
  return width;
}
