// Rules other than Weir's window: for each rule, window and target share, the strictest value that keeps the share.
import { mostStarts } from '../../core/limiter/rule/most-starts.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { instantText, startOf } from '../../core/time/cycle.js';
import { rungFor } from './rule-ladder.js';
import type { HeldOut, Sizing, Tuning } from './sizing.js';

export interface Fit {
  readonly rule: string;
  readonly limited_below: number;
  /** Requests of all keys neither excluded nor suspect, as in the next three fields. */
  readonly requests: number;
  readonly limited: number;
  readonly limited_share: number;
  readonly keys_limited: number;
  /** Requests of suspects limited in addition. */
  readonly suspects_limited: number;
  /** The largest number one client gets through in any second or minute; null for a rule that only delays. */
  readonly worst_burst_1s: number | null;
  readonly worst_burst_1min: number | null;
}

function bursts(definition: RuleDefinition): Pick<FittedRule, 'worst_burst_1s' | 'worst_burst_1min' | 'bursts_exact'> {
  const [second, minute] = [1000, 60_000].map((ms) => mostStarts(definition, ms));
  return {
    worst_burst_1s: finite(second!.starts),
    worst_burst_1min: finite(minute!.starts),
    bursts_exact: second!.exact && minute!.exact,
  };
}

function finite(starts: number): number | null {
  return Number.isFinite(starts) ? starts : null;
}

/** A limit chosen from the first part of the requests, tested on the rest, for the same keys. */
export interface HeldOutFigures {
  readonly chosen_from: number;
  readonly from_at: string;
  readonly requests: number;
  readonly limited: number;
  readonly limited_share: number;
  readonly held: boolean;
}

export function heldOutFigures(
  { chosenFrom, fromCycle, requests, limited }: HeldOut,
  share: number,
  cycleMs: number,
): HeldOutFigures {
  const limited_share = requests === 0 ? 0 : limited / requests;
  const held = limited === 0 || limited < share * requests;
  const from_at = instantText(startOf(fromCycle, cycleMs));
  return { chosen_from: chosenFrom, from_at, requests, limited, limited_share, held };
}

export interface FittedRule extends Fit {
  /** cycles; null for a rule without a window of this length */
  readonly within: number | null;
  /** The strictest value that keeps the share; null if none does, and the figures are those of the loosest. */
  readonly value: number | string | null;
  /** False: the bursts are lower bounds. */
  readonly bursts_exact: boolean;
  readonly definition: RuleDefinition;
  readonly held_out: ({ readonly value: number | string } & HeldOutFigures) | null;
}

export function fittedRules(sizing: Sizing, tuning: Tuning, shares: readonly number[], cycleMs: number): FittedRule[] {
  const { ladders, counts } = sizing;
  if (ladders.length === 0) return [];
  return ladders.flatMap((ladder, index) => {
    const { name, within, rungs } = ladder.plan;
    const { suspects, requests, limited } = tuning.ladders[index]!;
    return shares.map((share): FittedRule => {
      const rung = rungFor(limited, share, requests);
      const at = rung ?? rungs.length - 1;
      const { value, definition } = rungs[at]!;
      const keys = Array.from({ length: counts.keys }, (_, key) => key).filter((key) => ladder.limitedOf(key, at) > 0);
      return {
        rule: name,
        within,
        limited_below: share,
        value: rung === undefined ? null : value,
        definition,
        requests,
        limited: limited[at]!,
        limited_share: requests === 0 ? 0 : limited[at]! / requests,
        keys_limited: keys.filter((key) => !suspects.has(key)).length,
        suspects_limited: [...suspects].reduce((sum, key) => sum + ladder.limitedOf(key, at), 0),
        ...bursts(definition),
        held_out: heldOut(index, share),
      };
    });
  });

  function heldOut(index: number, share: number): FittedRule['held_out'] {
    const found = sizing.heldOutLadder(tuning, index, share);
    if (found === undefined) return null;
    return { value: ladders[index]!.plan.rungs[found.rung]!.value, ...heldOutFigures(found, share, cycleMs) };
  }
}
