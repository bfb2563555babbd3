// The answer for rules beside the window of Weir: for each rule, window and wanted share, the strictest number that keeps it.
import { mostStarts } from '../limiter/rule/most-starts.js';
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import { instantText, startOf } from '../time/cycle.js';
import { rungFor } from './rule-ladder.js';
import type { HeldOut, Sizing, Tuning } from './sizing.js';

/** What is said of every limit that keeps a wanted share. */
export interface Fit {
  readonly rule: string;
  /** The wanted share; less than this is limited. */
  readonly limited_below: number;
  /** The requests that it was found for: of all keys neither excluded nor suspected. The next three figures are of them. */
  readonly requests: number;
  readonly limited: number;
  readonly limited_share: number;
  readonly keys_limited: number;
  /** Of the suspects, who would be limited besides. */
  readonly suspects_limited: number;
  /** The most that a client gets through in any second, and in any minute; null for a rule that only delays. */
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

/** A limit that was chosen from the first part of the requests, on the rest of them; of the same keys as the figures beside it. */
export interface HeldOutFigures {
  /** Of all requests, the share that it was chosen from. */
  readonly chosen_from: number;
  /** The first cycle of the rest. */
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
  /** The strictest that keeps it; null if none of those tried does. The figures are then of the loosest.  */
  readonly value: number | string | null;
  /** Whether the bursts are the most that any client gets; else at least as many pass. */
  readonly bursts_exact: boolean;
  readonly definition: RuleDefinition;
  /** As of a recommendation; null also where the first part had no value that kept the share. */
  readonly held_out: ({ readonly value: number | string } & HeldOutFigures) | null;
}

/** By rule and share, in the order of the ladders. */
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
