// Services behind the gate, in series. Each calls the next after its own work, several times if that fails.
//
//   attempt ─► tier 0 ─ work ─► tier 1 ─ work ─► tier 2 ─► served: so is the attempt
//                ▲                ▲ └─ fails: called again, or tier 1 has failed, too
//                └── the client   └─ calls of tier 0: 4 attempts in each of three layers are 64
import type { SentAttempt } from '../actor/client/client.js';
import type { RandomStream } from '../math/random.js';
import type { ServiceFigures } from '../outcome/outcome-schema.js';
import type { ServicePlan, TierPlan } from '../scenario/service-plan.js';
import type { Clock } from '../time/clock.js';
import { Service } from './service.js';

interface TiersOptions {
  readonly clock: Clock;
  readonly plan: ServicePlan;
  readonly draw: (tier: number) => RandomStream;
  readonly speed: () => number;
  readonly onServed: (attempt: SentAttempt) => void;
  readonly onFailed: (attempt: SentAttempt) => void;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Call {
  readonly attempt: SentAttempt;
  readonly tier: number;
  readonly number: number;
  readonly within: Call | undefined;
}

export class Tiers {
  readonly #plans: readonly TierPlan[];
  readonly #services: readonly Service<Call>[];
  readonly #options: TiersOptions;

  constructor(options: TiersOptions) {
    const { clock, plan, draw, speed, fromMs, untilMs } = options;
    this.#options = options;
    this.#plans = plan.tiers;
    this.#services = plan.tiers.map(
      (tier, index) =>
        new Service<Call>({
          clock,
          plan: tier,
          draw: draw(index),
          speed,
          onServed: (call) => this.#next(call.attempt, call.tier + 1, call),
          onFailed: (call) => this.#again(call),
          fromMs,
          untilMs,
        }),
    );
  }

  enter(attempt: SentAttempt): void {
    this.#next(attempt, 0, undefined);
  }

  figures(): ServiceFigures[] {
    return this.#services.map((service) => service.figures());
  }

  #next(attempt: SentAttempt, tier: number, within: Call | undefined): void {
    if (tier === this.#services.length) this.#options.onServed(attempt);
    else this.#call({ attempt, tier, number: 1, within });
  }

  #call(call: Call): void {
    if (this.#services[call.tier]!.offer(call) === undefined) this.#again(call);
  }

  #again(call: Call): void {
    if (call.number < this.#plans[call.tier]!.attempts) this.#call({ ...call, number: call.number + 1 });
    else if (call.within === undefined) this.#options.onFailed(call.attempt);
    else this.#again(call.within);
  }
}
