// The plans of a host: contracts of equal definitions share one, and with it one machine.
import type { ContractDefinition } from '../limiter/definition.js';
import type { Plan } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import type { FindOperator } from '../operator/operator.js';
import { digestOf } from '../schema/canonical.js';

/** The plan of all contracts whose definitions are equal, with the digest that goes into their rows. */
interface SharedPlan {
  readonly plan: Plan;
  readonly digest: string;
}

export class SharedPlans {
  readonly #findOperator: FindOperator;
  /** By the JSON text of its definition, which keeps the order of its states. */
  readonly #byText = new Map<string, SharedPlan>();
  /** How many contracts have a plan, and by what it is found. */
  readonly #uses = new Map<Plan, { readonly text: string; contracts: number }>();
  /** A store gives contracts of one definition the same object. */
  readonly #byDefinition = new WeakMap<ContractDefinition, Plan>();

  constructor(findOperator: FindOperator) {
    this.#findOperator = findOperator;
  }

  /** The first plan with this definition. */
  of(plan: Plan): SharedPlan {
    const text = JSON.stringify(plan.definition);
    let shared = this.#byText.get(text);
    if (shared === undefined) {
      shared = { plan, digest: digestOf(plan.definition) };
      this.#byText.set(text, shared);
    }
    return shared;
  }

  /** A contract has the plan from now on. */
  take(plan: Plan): void {
    const use = this.#uses.get(plan);
    if (use === undefined) this.#uses.set(plan, { text: JSON.stringify(plan.definition), contracts: 1 });
    else use.contracts += 1;
  }

  /** A contract with the plan is gone: the last one takes the plan with it. */
  release(plan: Plan): void {
    const use = this.#uses.get(plan);
    if (use === undefined) return;
    use.contracts -= 1;
    if (use.contracts > 0) return;
    this.#uses.delete(plan);
    this.#byText.delete(use.text);
    this.#byDefinition.delete(plan.definition);
  }

  /** The plan of a stored definition. */
  ofStored(definition: ContractDefinition): Plan {
    let plan = this.#byDefinition.get(definition);
    if (plan === undefined) {
      plan = this.of(planContract(definition, this.#findOperator, { isStored: true })).plan;
      this.#byDefinition.set(definition, plan);
    }
    return plan;
  }
}
