// Rules other than Weir's window: for each rule, window and target share, the strictest value that keeps the share.
import { mostStarts } from '../../core/limiter/rule/most-starts.js';
import { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { exact, flag } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { instantText, startOf } from '../../core/time/cycle.js';
import { Count, Measure, Nullable, Text } from '../../harness/outcome/read-schema.js';
import { rungFor } from './rule-ladder.js';
import type { HeldOut, Sizing, Tuning } from './sizing.js';

export const fit = {
  rule: Text('Name of the rule.'),
  limited_below: Measure('The share of requests that may be limited.'),
  requests: Count('Requests of all keys but suspects, as in the next three fields.'),
  limited: Count('Of them, those limited.'),
  limited_share: Measure('limited / requests; 0 of 0.'),
  keys_limited: Count('Keys with a limited request.'),
  suspects_limited: Count('Requests of suspects limited in addition.'),
  worst_burst_1s: Nullable(Count('Most that one client gets through in any second; null for a rule that only delays.')),
  worst_burst_1min: Nullable(Count('The same in any minute.')),
};

const Fit = exact(fit);
export type Fit = Shaped<typeof Fit>;

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

export const heldOutFields = {
  chosen_from: Measure('The share of the requests, the first ones, that it was chosen from.'),
  from_at: Text('When the rest begins, ISO 8601.'),
  requests: Count('Requests of the rest, of the same keys.'),
  limited: Count('Of them, those limited.'),
  limited_share: Measure('limited / requests; 0 of 0.'),
  held: flag('Whether the share holds for the rest.'),
};
const HeldOutFigures = exact(heldOutFields);
type HeldOutFigures = Shaped<typeof HeldOutFigures>;

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

const RuleValue = Type.Union([Type.Number(), Type.String()], { description: 'The value that was searched.' });

export const FittedRule = exact(
  'The strictest value that keeps the share; null if none does, and the figures are those of the loosest.',
  {
    ...fit,
    within: Nullable(Count('Cycles; null for a rule without a window of this length.')),
    value: Nullable(RuleValue),
    bursts_exact: flag('False: the bursts are lower bounds.'),
    definition: RuleDefinition,
    held_out: Nullable(exact({ value: RuleValue, ...heldOutFields })),
  },
);
export type FittedRule = Shaped<typeof FittedRule>;

export function fittedRules(sizing: Sizing, tuning: Tuning, shares: readonly number[], cycleMs: number): FittedRule[] {
  const { ladders, counts } = sizing;
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
