// The plans of a host: contracts with equal definitions share one, and with it one machine. A plan is collected with its last contract.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import type { Plan } from '../../core/limiter/plan.js';
import { planContract } from '../../core/limiter/validate.js';
import { definitionText } from '../store/store.js';

export class SharedPlans {
  /** By the JSON text of the definition, because the order of states matters. */
  readonly #byText = new Map<string, WeakRef<Plan>>();
  readonly #collected = new FinalizationRegistry<string>((text) => {
    if (this.#byText.get(text)?.deref() === undefined) this.#byText.delete(text);
  });

  of(plan: Plan): Plan {
    const text = definitionText(plan.definition);
    const known = this.#byText.get(text)?.deref();
    if (known !== undefined) return known;
    this.#byText.set(text, new WeakRef(plan));
    this.#collected.register(plan, text);
    return plan;
  }

  ofStored(definition: ContractDefinition): Plan {
    return this.#byText.get(definitionText(definition))?.deref() ?? this.of(planContract(definition));
  }
}
