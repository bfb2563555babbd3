// A candidate is a second contract whose record is discarded. It starts, also after a restart, with the counts of the limiter.
import { carried, carryOver } from '../../core/limiter/carry-over.js';
import type { GateImage } from '../../core/limiter/gate-record.js';
import type { Plan } from '../../core/limiter/plan.js';
import { copyOf } from '../../core/limiter/rule/rule.js';
import { CandidateComparison } from './candidate-comparison.js';
import { Contract } from './contract.js';
import { detachedContext, type HostContext } from './host-context.js';
import type { Convert, Keys } from './keys.js';
import { Chain } from './ledger.js';
import type { Steps } from './steps.js';

interface Source {
  readonly image: GateImage;
  readonly keys: Keys | undefined;
}

/** @param source the gates to start from, under the plan `before`; default: those of the limiter */
export function* beginCandidate(
  limiter: Contract,
  plan: Plan,
  context: HostContext,
  source: Source = { image: limiter.gate.image(), keys: limiter.keys },
  before: Plan = limiter.plan,
): Steps<CandidateComparison> {
  const kept = carryOver(before, plan);
  const convert: Convert = (image) => {
    const gate = carried(image, kept, plan);
    // Copied, because the rule of the limiter continues to use its own.
    return gate?.rule === undefined ? gate : { ...gate, rule: { ...gate.rule, state: copyOf(gate.rule.state) } };
  };
  const { image, machine, cycle } = limiter;
  const saved = convert(source.image);
  const keyed = image.keyed && { ...image.keyed, overflow: 'share' as const };
  const own = { ...image, definition: plan.definition, candidate: undefined, keyed };
  const from = saved?.windows[0]?.cycle ?? cycle;
  const candidate = new Contract(own, plan, new Chain(machine.slug), from, apart(context), saved);
  context.wakes.schedule(candidate);
  const { keys } = candidate;
  if (keys !== undefined && source.keys !== undefined) yield* keys.restoreFrom(source.keys, convert);
  return new CandidateComparison(limiter, candidate, cycle);
}

/** A context whose writes are discarded. */
function apart(context: HostContext): HostContext {
  const { clock, wakes, claimMemory, actors } = context;
  return {
    ...detachedContext(clock, wakes, () => {}),
    ...{ claimMemory, actors },
    get busyMs() {
      return context.busyMs;
    },
  };
}
