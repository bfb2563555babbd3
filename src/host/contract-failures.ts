// Failures of a contract that does not count or decide.
import type { Plan } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
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

export function eventTooOld({ cycle, plan }: { cycle: number; plan: Plan }, happened: number): Failure {
  const within = Math.max(...plan.aggregates.map((aggregate) => aggregate.within));
  return new Failure('event_too_old', {
    what: `The event of cycle ${happened} was not counted.`,
    why: `It is now cycle ${cycle}, and the window reaches back to cycle ${cycle - within + 1}.`,
    fix: 'Send what was batched before it is older than the window.',
  });
}

/** For a key without a place. @param againCycle when there may be one; undefined where that is not known */
export function tooManyKeys({ id, keyed }: Pick<ContractImage, 'id' | 'keyed'>, againCycle?: number): Failure {
  return new Failure('too_many_keys', {
    what: 'The event was not counted.',
    why: `The contract ${id} has ${keyed?.maxKeys} keys, as many as it may, and all of them have counts.`,
    againCycle,
    fix: 'Wait until a window is empty, or deploy it with more max_keys, or with the overflow "share".',
  });
}
