// Random bursts: Poisson requests at one of two rates, each held for an exponential time (MMPP-2).
//
//   on rate         ______            __          ________           mean rate = (on T_on + off T_off) / (T_on + T_off)
//   off rate   ____|      |__________|  |________|        |____      P(on at the start) = T_on / (T_on + T_off)
//   requests    .   .. .... .    .    ...   .     . .. ....   .
//
// The state may switch at any point of a cycle. Given the switches, the requests of a cycle are one Poisson draw whose mean is the
// integral of the rate over the cycle. Each instant is where the integral reaches a uniform share of its total:
//
//   cycle      |   off    |     on      | off  |          integral  0 .. Lambda
//   switches   0          a             b      1          share u Lambda -> its instant
import type { RandomStream } from '../../math/random.js';
import { drawPoisson } from '../../math/random-law.js';
import type { Rate } from '../../schema/quantity.js';
import { type Arrival, checkPeak } from './arrival.js';
import { perCycle } from './carry.js';

export interface OnOffShape {
  readonly on: Rate;
  readonly off: Rate;
  /** Mean times in the two states, in cycles, each at least LEAST_SOJOURN. */
  readonly onFor: number;
  readonly offFor: number;
}

/** The shortest mean time in a state, in cycles: about a hundred switches in a cycle are simulated at most. */
export const LEAST_SOJOURN = 0.01;

/** Three streams, so that the bursts do not depend on the rates, nor the counts on whether instants are drawn. */
interface OnOffStreams {
  readonly sojourns: RandomStream;
  readonly counts: RandomStream;
  readonly instants: RandomStream;
}

export class OnOffArrival implements Arrival {
  readonly #streams: OnOffStreams;
  /** Rates and mean sojourns by state: 0 off, 1 on. */
  readonly #rates: readonly [number, number];
  readonly #sojourns: readonly [number, number];
  #state: 0 | 1;
  /** From the start of the cycle to the next switch. */
  #wait: number;
  /** Of the cycle last counted: its state at the start, its switches, the integral of its rate. */
  #stateBefore: 0 | 1 = 0;
  readonly #switches: number[] = [];
  #integral = 0;

  /** @throws Failure `invalid_input` when a rate is above MOST_PER_CYCLE */
  constructor({ on, off, onFor, offFor }: OnOffShape, streams: OnOffStreams) {
    checkPeak('/on_rate', perCycle(on));
    checkPeak('/off_rate', perCycle(off));
    this.#streams = streams;
    this.#rates = [perCycle(off), perCycle(on)];
    this.#sojourns = [offFor, onFor];
    this.#state = streams.sojourns.uniform() * (onFor + offFor) < onFor ? 1 : 0;
    // An exponential time has no memory: the rest of the first sojourn has the same law as a whole one.
    this.#wait = this.#sojourn();
  }

  count(): number {
    this.#stateBefore = this.#state;
    this.#switches.length = 0;
    this.#integral = 0;
    let since = 0;
    while (this.#wait < 1) {
      this.#integral += (this.#wait - since) * this.#rates[this.#state];
      since = this.#wait;
      this.#switches.push(since);
      this.#state = this.#state === 1 ? 0 : 1;
      this.#wait += this.#sojourn();
    }
    this.#integral += (1 - since) * this.#rates[this.#state];
    this.#wait -= 1;
    return drawPoisson(this.#integral, this.#streams.counts);
  }

  instants(out: Float64Array, n: number): void {
    for (let k = 0; k < n; k += 1) out[k] = this.#placeOf(this.#streams.instants.uniform() * this.#integral);
    out.subarray(0, n).sort();
  }

  #sojourn(): number {
    return this.#streams.sojourns.exponential(1 / this.#sojourns[this.#state]);
  }

  /** The instant at which the integral of the rate reaches `share`, 0 <= share < integral. */
  #placeOf(share: number): number {
    let state = this.#stateBefore;
    let since = 0;
    let left = share;
    for (const until of this.#switches) {
      const ofStretch = (until - since) * this.#rates[state];
      if (left < ofStretch) break;
      left -= ofStretch;
      since = until;
      state = state === 1 ? 0 : 1;
    }
    // Rounding may leave a tiny remainder for a last segment without requests.
    const rate = this.#rates[state];
    return rate > 0 ? Math.min(since + left / rate, LAST_INSTANT) : since;
  }
}

/** The last double before the end of the cycle. */
const LAST_INSTANT = 1 - 2 ** -53;
