// Rules made of rules: members count separately, all at the same instant.
//
//   or     a admits, or a refuses and b admits               refused: by both
//   and    all admit                                         refused: by at least one; each member is charged, or none
import { membersOf, type RuleDefinition } from '../limiter/rule/rule-definition.js';
import { ALWAYS, type Counted, type RuleCounting, type Span } from './counting.js';

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
      return new Combined(
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
      return new Combined(members, [members.map((): Part => 'admits')], refusals);
    }
    case 'and_all_charged': {
      const [admitted, ...refusals] = choices(members.length);
      return new Combined(members, [admitted!], refusals);
    }
    default:
      return undefined;
  }
}

function choices(n: number): Part[][] {
  if (n === 0) return [[]];
  return (['admits', 'refuses'] as const).flatMap((part) => choices(n - 1).map((rest) => [part, ...rest]));
}

class Combined implements RuleCounting<States> {
  readonly stepMs: 0 | 1;
  readonly isBounded: boolean;
  readonly holds: RuleCounting['holds'];
  readonly #members: readonly RuleCounting[];
  readonly #admissions: readonly (readonly Part[])[];
  readonly #refusals: readonly (readonly Part[])[];

  constructor(
    members: readonly RuleCounting[],
    admissions: readonly (readonly Part[])[],
    refusals: readonly (readonly Part[])[],
  ) {
    this.#members = members;
    this.#admissions = admissions;
    this.#refusals = refusals;
    this.isBounded = members.every(({ isBounded }) => isBounded);
    this.stepMs = members.some(({ stepMs }) => stepMs === 1) ? 1 : 0;
    const holding = members.filter(({ holds }) => holds !== 'none');
    const isOrdered = holding.every(({ holds }) => holds === 'in order') && admissions.length === 1;
    this.holds = holding.length === 0 ? 'none' : isOrdered ? 'in order' : 'in any order';
  }

  begin(tMs: number, longAgoMs: number): States[] {
    const begins = this.#members.map((member) => member.begin(tMs, longAgoMs));
    const most = begins.reduce((n, { length }) => Math.max(n, length), 1);
    return Array.from({ length: most }, (_, k) => begins.map((states) => states[Math.min(k, states.length - 1)]!));
  }

  admit(states: States, span: Span, released: Span, n: number): Counted<States>[] {
    const until = this.holds === 'in any order' ? ALWAYS : { from: ALWAYS.from, to: released.to };
    return this.#admissions
      .flatMap((parts) => this.#counted(states, span, parts, until, n))
      .filter(({ released: { to } }) => to >= released.from);
  }

  refuse(states: States, span: Span, isCharged: boolean, n: number): Counted<States>[] {
    return this.#refusals.flatMap((parts) => {
      const charged = isCharged ? parts : parts.map((part) => (part === 'refuses' ? 'would refuse' : part));
      return this.#counted(states, span, charged, ALWAYS, n).map((one) => ({ ...one, released: one.at }));
    });
  }

  settled(states: States, tMs: number): States {
    return states.map((state, k) => this.#members[k]!.settled(state, tMs));
  }

  key(states: States): string {
    return states.map((state, k) => this.#members[k]!.key(state)).join('|');
  }

  join(one: States, other: States): States | undefined {
    const joined = one.map((state, k) => this.#members[k]!.join(state, other[k]));
    return joined.every((state) => state === undefined) ? undefined : joined.map((state, k) => state ?? one[k]);
  }

  /** Members share one instant, so each narrows the span of the others. */
  #counted(states: States, span: Span, parts: readonly Part[], released: Span, n: number): Counted<States>[] {
    return this.#narrowed(states, span, parts, released, n).flatMap((one) => {
      const isWhole = one.at.from === span.from && one.at.to === span.to;
      return isWhole ? [one] : this.#narrowed(states, one.at, parts, released, n);
    });
  }

  #narrowed(states: States, span: Span, parts: readonly Part[], released: Span, n: number): Counted<States>[] {
    let found: Counted<States>[] = [{ state: [], at: span, released: NOT_YET }];
    parts.forEach((part, k) => {
      found = found.flatMap((before) =>
        this.#asked(k, states[k], before.at, part, released, n).map((one) => ({
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
  }

  #asked(k: number, state: unknown, span: Span, part: Part, released: Span, n: number): Counted<unknown>[] {
    const member = this.#members[k]!;
    switch (part) {
      case 'admits':
        return member.admit(state, span, released, n);
      case 'refuses':
        return member.refuse(state, span, true, n);
      case 'would refuse':
        return member.refuse(state, span, false, n);
      case 'is not asked':
        return [{ state, at: span, released: span }];
    }
  }
}
