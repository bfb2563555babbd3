// Failures of a contract that cannot count, decide or move.
import type { Plan } from '../../core/limiter/plan.js';
import type { AuditRow } from '../../core/record/row.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { Failure } from '../../core/schema/failure.js';
import type { ContractImage } from '../store/store.js';
import type { Chain } from './ledger.js';

export function contractNotFound(id: string): Failure {
  return new Failure('contract_not_found', {
    what: `There is no contract "${id}".`,
    fix: 'List the contracts of the machine.',
  });
}

export function contractFailed({ id, machine }: { id: string; machine: Chain }, error: unknown): Failure {
  return new Failure('contract_failed', {
    what: `The contract ${id} of machine ${machine.slug} has stopped.`,
    why: `Its actor threw: ${error instanceof Error ? error.message : String(error)}.`,
    fix: 'Deploy it again; the other contracts go on.',
    cause: error,
  });
}

/** @param now the running cycle */
export function eventTooOld({ id }: { readonly id: string }, happened: number, now: number, within: number): Failure {
  return new Failure('event_too_old', {
    what: `The event of cycle ${happened} was not counted.`,
    why: `The window of contract ${id} reaches back to cycle ${now - within + 1}.`,
    fix: 'Send what was batched before it is older than the window, or name a contract with a longer one in `contract_id`.',
  });
}

export function tooManyKeys({ id, keyed }: Pick<ContractImage, 'id' | 'keyed'>, againCycle?: number): Failure {
  return new Failure('too_many_keys', {
    what: 'The event was not counted.',
    why: `The contract ${id} has ${keyed?.maxKeys} keys, as many as it may, and all of them have counts.`,
    againCycle,
    fix: 'Wait until a window is empty, or deploy it with more max_keys, or with the overflow "share".',
  });
}

export interface Move {
  readonly to: string;
  readonly input?: Readonly<Record<string, number>>;
  readonly holdCycles?: number;
  readonly by?: string | undefined;
}

/** @param refused the row of an operator that refused */
export function whyNoTransition({ states }: Plan, stateIndex: number, to: string, refused?: AuditRow): Failure {
  const { name: from, transitions } = states[stateIndex]!;
  if (refused !== undefined) {
    const { failure } = refused;
    return new Failure((failure?.code as 'compute_failed' | undefined) ?? 'compute_failed', {
      what: `The contract stays in state "${from}".`,
      why: failure?.detail ?? 'The operator refused.',
      fix: 'Give inputs within the ranges of GET /api/operators.',
    });
  }
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
