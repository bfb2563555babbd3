// The plans of a host: contracts of equal definitions share one, and with it one machine.
import type { ContractDefinition } from '../limiter/definition.js';
import type { Plan } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import type { FindOperator } from '../operator/operator.js';
import { digestOf } from '../schema/canonical.js';

interface SharedPlan {
  readonly plan: Plan;
  readonly digest: string;
  /** JSON text of the definition, which keeps the order of its states. */
  readonly text: string;
  contracts: number;
}

export class SharedPlans {
  readonly #findOperator: FindOperator;
  readonly #byText = new Map<string, SharedPlan>();
  readonly #byPlan = new WeakMap<Plan, SharedPlan>();
  /** A store gives contracts of one definition the same object. */
  readonly #byDefinition = new WeakMap<ContractDefinition, Plan>();

  constructor(findOperator: FindOperator) {
    this.#findOperator = findOperator;
  }

  of(plan: Plan): SharedPlan {
    const text = JSON.stringify(plan.definition);
    const shared = this.#byText.get(text) ?? { plan, digest: digestOf(plan.definition), text, contracts: 0 };
    this.#byText.set(text, shared);
    this.#byPlan.set(shared.plan, shared);
    return shared;
  }

  ofStored(definition: ContractDefinition): Plan {
    const known = this.#byDefinition.get(definition);
    if (known !== undefined) return known;
    const { plan } = this.of(planContract(definition, this.#findOperator, { isStored: true }));
    this.#byDefinition.set(definition, plan);
    return plan;
  }

  take(plan: Plan): void {
    const shared = this.#byPlan.get(plan);
    if (shared !== undefined) shared.contracts += 1;
  }

  /** A contract with the plan is gone: the last one takes the plan with it. */
  release(plan: Plan): void {
    const shared = this.#byPlan.get(plan);
    if (shared === undefined) return;
    shared.contracts -= 1;
    if (shared.contracts > 0) return;
    this.#byText.delete(shared.text);
    this.#byPlan.delete(plan);
    this.#byDefinition.delete(plan.definition);
  }
}
