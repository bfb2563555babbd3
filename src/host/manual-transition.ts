// A transition that somebody asked for: its row, or why the contract does not take it.
import type { Plan } from '../limiter/plan.js';
import type { AuditRow } from '../record/row.js';
import { nearest } from '../schema/did-you-mean.js';
import { assert, Failure } from '../schema/failure.js';
import type { Contract } from './contract.js';

/** A manual transition as it was asked for. */
export interface Move {
  readonly to: string;
  readonly input?: Readonly<Record<string, number>>;
  readonly holdCycles?: number;
  /** Who asks for it: the id of a key. */
  readonly by?: string | undefined;
}

/**
 * Moves a contract to another state in `cycle`, regardless of its counts.
 * @returns the row of the transition
 * @throws Failure `no_transition`, `condition_failed`, `compute_failed`, `prove_failed`, `verify_failed`
 */
export function move(contract: Contract, { to, input = {}, holdCycles = 0, by }: Move, cycle: number): AuditRow {
  contract.advance(cycle);
  const outcome = contract.move({ type: 'move', to, cycle, counts: contract.gate.counts, input, holdCycles, by });
  if (outcome === 'stayed') throw whyNoTransition(contract.plan, contract.stateIndex, to);
  const { last } = contract.machine;
  assert(last !== undefined, 'a transition left no row');
  if (outcome === 'moved') return last;
  throw refusedBy(last, contract);
}

/** Why the machine of a contract in the state `stateIndex` takes no transition when it is asked for the state `to`. */
export function whyNoTransition({ states }: Plan, stateIndex: number, to: string): Failure {
  const { name: from, transitions } = states[stateIndex]!;
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
function refusedBy({ failure }: AuditRow, { state }: Contract): Failure {
  return new Failure((failure?.code as 'compute_failed' | undefined) ?? 'compute_failed', {
    what: `The contract stays in state "${state}".`,
    why: failure?.detail ?? 'The operator refused.',
    fix: 'Give inputs within the ranges of GET /api/operators.',
  });
}
