// Owns the words for a manual transition that there is not, or whose condition is false.

import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { Contract } from './contract.js';

/** Why the actor of a contract proposes nothing for a move to the state `to`. */
export function whyNoTransition(contract: Contract, to: string): Failure {
  const { states } = contract.plan;
  const from = states[contract.gate.state]!;
  const transition = from.transitions.find((one) => states[one.to]!.name === to);
  if (transition !== undefined) {
    return new Failure('condition_failed', {
      what: `The contract stays in state "${from.name}".`,
      why: `The condition of the transition to "${to}" is false: ${transition.firesWhen?.text}.`,
      fix: 'Give the `input` that the condition asks for.',
    });
  }
  const targets = from.transitions.map((one) => states[one.to]!.name);
  const guess = nearest(
    to,
    states.map(({ name }) => name),
  );
  return new Failure('no_transition', {
    what: `There is no transition from "${from.name}" to "${to}".`,
    why:
      targets.length === 0 ? `No transition leaves "${from.name}".` : `From here: ${[...new Set(targets)].join(', ')}.`,
    ...(guess === undefined || guess === to ? {} : { fix: `Did you mean "${guess}"?` }),
  });
}
