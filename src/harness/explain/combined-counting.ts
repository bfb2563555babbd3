// Rules made of rules: members count separately, all at the same instant.
//
//   or     a admits, or a refuses and b admits               refused: by both
//   and    all admit                                         refused: by at least one; each member is charged, or none
import { membersOf, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { ALWAYS, type Counted, type RuleCounting, type Span } from './counting.js';
import { atOnce } from './span.js';

const NOT_YET: Span = { from: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };

type States = readonly unknown[];
/** 'would refuse': refuses, but is not charged. */
type Part = 'admits' | 'refuses' | 'would refuse' | 'is not asked';

export function combinedCounting(
  definition: RuleDefinition,
  countingOf: (member: RuleDefinition) => RuleCounting,
): RuleCounting<States> | undefined {
  const members = membersOf(definition).map(countingOf);
  switch (definition.primitive) {
    case 'or':
      return combined(
        members,
        [
          ['admits', 'is not asked'],
          ['refuses', 'admits'],
        ],
        [['refuses', 'refuses']],
      );
    case 'and': {
      const refusals = members.map((_, k) =>
        members.map((__, other): Part => (other === k ? 'would refuse' : 'is not asked')),
      );
      return combined(members, [members.map((): Part => 'admits')], refusals);
    }
    case 'and_all_charged': {
      const [admitted, ...refusals] = choices(members.length);
      return combined(members, [admitted!], refusals);
    }
    default:
      return undefined;
  }
}

function choices(n: number): Part[][] {
  if (n === 0) return [[]];
  return (['admits', 'refuses'] as const).flatMap((part) => choices(n - 1).map((rest) => [part, ...rest]));
}

type Ways = readonly (readonly Part[])[];

function combined(members: readonly RuleCounting[], admissions: Ways, refusals: Ways): RuleCounting<States> {
  const holding = members.filter(({ holds }) => holds !== 'none');
  const isOrdered = holding.every(({ holds }) => holds === 'in order') && admissions.length === 1;
  const holds = holding.length === 0 ? 'none' : isOrdered ? 'in order' : 'in any order';

  const narrowed = (states: States, span: Span, parts: readonly Part[], released: Span, n: number) => {
    let found: Counted<States>[] = [{ state: [], at: span, released: NOT_YET }];
    parts.forEach((part, k) => {
      const [member, own] = [members[k]!, states[k]];
      const asked = (at: Span): Counted<unknown>[] => {
        if (part === 'admits') return member.admit(own, at, released, n);
        return part === 'is not asked' ? [atOnce(own, at)] : member.refuse(own, at, part === 'refuses', n);
      };
      found = found.flatMap((before) =>
        asked(before.at).map((one) => ({
          state: [...before.state, one.state],
          at: one.at,
          released: {
            from: Math.max(before.released.from, one.released.from),
            to: Math.max(before.released.to, one.released.to),
          },
        })),
      );
    });
    return found;
  };
  /** Members share one instant, so each narrows the span of the others. */
  const counted = (states: States, span: Span, parts: readonly Part[], released: Span, n: number) =>
    narrowed(states, span, parts, released, n).flatMap((one) => {
      const isWhole = one.at.from === span.from && one.at.to === span.to;
      return isWhole ? [one] : narrowed(states, one.at, parts, released, n);
    });

  return {
    stepMs: members.some(({ stepMs }) => stepMs === 1) ? 1 : 0,
    isBounded: members.every(({ isBounded }) => isBounded),
    holds,
    begin(tMs, longAgoMs) {
      const begins = members.map((member) => member.begin(tMs, longAgoMs));
      const most = begins.reduce((n, { length }) => Math.max(n, length), 1);
      return Array.from({ length: most }, (_, k) => begins.map((states) => states[Math.min(k, states.length - 1)]!));
    },
    admit(states, span, released, n) {
      const until = holds === 'in any order' ? ALWAYS : { from: ALWAYS.from, to: released.to };
      return admissions
        .flatMap((parts) => counted(states, span, parts, until, n))
        .filter(({ released: { to } }) => to >= released.from);
    },
    refuse: (states, span, isCharged, n) =>
      refusals.flatMap((parts) => {
        const charged = isCharged ? parts : parts.map((part) => (part === 'refuses' ? 'would refuse' : part));
        return counted(states, span, charged, ALWAYS, n).map((one) => ({ ...one, released: one.at }));
      }),
    settled: (states, tMs) => states.map((state, k) => members[k]!.settled(state, tMs)),
    key: (states) => states.map((state, k) => members[k]!.key(state)).join('|'),
    join(one, other) {
      const joined = one.map((state, k) => members[k]!.join(state, other[k]));
      return joined.every((state) => state === undefined) ? undefined : joined.map((state, k) => state ?? one[k]);
    },
  };
}
