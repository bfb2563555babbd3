// A transition that somebody asked for: its row, or why the contract does not take it.
import type { Plan } from '../limiter/plan.js';
import type { AuditRow } from '../record/row.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';

export interface Move {
  readonly to: string;
  readonly input?: Readonly<Record<string, number>>;
  readonly holdCycles?: number;
  readonly by?: string | undefined;
}

/** Why a contract in the state `stateIndex` takes no transition to the state `to`. */
export function whyNoTransition({ states }: Plan, stateIndex: number, to: string): Failure {
  const { name: from, transitions } = states[stateIndex]!;
  const transition = transitions.find((one) => states[one.to]!.name === to);
  if (transition !== undefined) {
    return new Failure('condition_failed', {
      what: `The contract stays in state "${from}".`,
      why: `The condition of the transition to "${to}" is false: ${transition.asksFor.fires_when}.`,
      fix: 'Give the `input` that the condition asks for.',
    });
  }
  const targets = transitions.map((one) => states[one.to]!.name);
  const guess = nearest(
    to,
    states.map(({ name }) => name),
  );
  return new Failure('no_transition', {
    what: `There is no transition from "${from}" to "${to}".`,
    why: targets.length === 0 ? `No transition leaves "${from}".` : `From here: ${[...new Set(targets)].join(', ')}.`,
    ...(guess === undefined || guess === to ? {} : { fix: `Did you mean "${guess}"?` }),
  });
}

/** Why a transition that was due was not taken, by its row. */
export function refusedBy({ failure }: AuditRow, state: string): Failure {
  return new Failure((failure?.code as 'compute_failed' | undefined) ?? 'compute_failed', {
    what: `The contract stays in state "${state}".`,
    why: failure?.detail ?? 'The operator refused.',
    fix: 'Give inputs within the ranges of GET /api/operators.',
  });
}
