// Why a contract takes no transition to a state that somebody asked for.
import type { AuditRow } from '../record/row.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { Contract } from './contract.js';

/** Why the machine of a contract takes no transition when it is asked for the state `to`. */
export function whyNoTransition(contract: Contract, to: string): Failure {
  const { states } = contract.plan;
  const { name: from, transitions } = states[contract.stateIndex]!;
  const transition = transitions.find((one) => states[one.to]!.name === to);
  if (transition !== undefined) {
    return new Failure('condition_failed', {
      what: `The contract stays in state "${from}".`,
      why: `The condition of the transition to "${to}" is false: ${transition.firesWhen?.text}.`,
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
export function refusedBy({ failure }: AuditRow, { state }: Contract): Failure {
  return new Failure((failure?.code as 'compute_failed' | undefined) ?? 'compute_failed', {
    what: `The contract stays in state "${state}".`,
    why: failure?.detail ?? 'The operator refused.',
    fix: 'Give inputs within the ranges of GET /api/operators.',
  });
}
