// Triggers that can never fire, found before a contract runs: their operator would refuse them in every cycle, or no count fulfils them.
import { fire } from '../operator/fire.js';
import type { Fault } from '../schema/failure.js';
import type { Plan, PlannedTransition, Steps } from './plan.js';

export function* triggerFaults({ transitions }: Plan): Steps<Fault[]> {
  const faults: Fault[] = [];
  for (const transition of transitions) {
    const { trigger, index } = transition;
    if (trigger === undefined) continue;
    if (trigger.counts.length === 0) {
      faults.push({
        path: `/transitions/${index}/trigger/condition`,
        message: 'holds for no count: it can never fire',
      });
      continue;
    }
    const why = whyNeverComputed(transition);
    yield 2;
    if (why === undefined) continue;
    const message = `are such that the trigger can never fire: a trigger has no inputs, and ${why}`;
    faults.push({ path: `/transitions/${index}/inputs`, message });
  }
  return faults;
}

/** A trigger fires its operator with the inputs of the definition. Without an input that changes, every firing gives the same. */
function whyNeverComputed({ operator, inputs, proofRequired }: PlannedTransition): string | undefined {
  // The value of the count is one that changes.
  if (operator.kind === 'substrate') return undefined;
  const needed = Object.entries(operator.inputs).filter(
    ([name, input]) => name !== 'cycle' && input.default === undefined && !Object.hasOwn(inputs, name),
  );
  if (needed.length > 0) {
    const names = needed.map(([name, { unit }]) => (unit === '1' ? name : `${name} in ${unit}`));
    return `${operator.id} lacks ${names.join(', ')}`;
  }
  if (Object.hasOwn(operator.inputs, 'cycle')) return undefined;
  const firing = fire(operator, inputs, 0, { proofRequired });
  return firing.ok ? undefined : firing.why.replace(/\.$/, '');
}
