// A contract with keys, whatever it counts by, against a contract of its own for each key: several windows, states that fire on silence,
// operators that refuse, every rule.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ContractDefinition } from '../../../src/core/limiter/definition.js';
import { retryAfterCycles } from '../../../src/core/limiter/forecast.js';
import type { Gate } from '../../../src/core/limiter/gate.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { defined, move } from '../../core/limiter/defined.js';
import { rules } from '../../core/limiter/rule/every-rule.js';
import { stubborn } from '../../core/operator/registered.js';
import { verifyRows } from '../../core/record/verifying.js';
import { forAll, tries } from '../../draws.js';
import { valueOrCode } from '../../failures.js';
import { decideAt } from './decide-at.js';
import { restarted } from './virtual-host.js';

const CYCLE_MS = 40;
const START = 2_306_790_000;
const KEYS = ['a', 'b', 'c'];

stubborn((cycle) => cycle % 7 < 4);

const told = (from: string, to: string, condition: string, within: number, other = {}) =>
  move(from, to, condition, { within, post_actions: [{ emit: `to_${to}` }], ...other });
const states = { open: { initial: true }, shut: {} };

const definitions: readonly ContractDefinition[] = [
  defined('two-windows', { ...states, closed: {} }, [
    told('open', 'shut', 'count > 2', 3),
    told('open', 'closed', 'count > 4', 9),
    told('shut', 'open', 'count <= 2', 3),
    told('closed', 'open', 'count <= 3', 9),
  ]),
  defined('two-kinds', { ...states, slow: { admits: true } }, [
    told('open', 'slow', 'count > 3', 4),
    told('slow', 'shut', 'count > 1', 6, { event: 'error' }),
    told('slow', 'open', 'count <= 1', 4),
    told('shut', 'open', 'count == 0', 6, { event: 'error' }),
  ]),
  defined('heartbeat', states, [told('open', 'shut', 'count < 1', 3), told('shut', 'open', 'count >= 2', 3)]),
  defined('refused', states, [
    told('open', 'shut', 'count > 2', 5, { operator: 'STUBBORN' }),
    told('open', 'shut', 'count > 6', 5),
    told('shut', 'open', 'count < 2', 5),
  ]),
  ...Object.values(rules).map((rule) => ruleLimiter(rule)),
];

const step = fc.record({
  key: fc.constantFrom(...KEYS),
  gapMs: fc.oneof({ weight: 4, arbitrary: fc.nat(60) }, fc.nat(900)),
  does: fc.oneof(
    { weight: 8, arbitrary: fc.record({ n: fc.integer({ min: 1, max: 4 }), age: fc.constantFrom(0, 0, 0, 1, 4) }) },
    fc.record({ to: fc.nat(2), holdCycles: fc.nat(6) }),
    fc.constant('restart' as const),
  ),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Refused by one of many nodes at the first instant of a cycle, and admitted again by the next one at that instant. */
const dueAtOnce: Step[] = [
  { key: 'a', gapMs: 77, does: 'restart' },
  { key: 'a', gapMs: 43, does: { n: 1, age: 0 } },
  { key: 'a', gapMs: 0, does: { n: 1, age: 0 } },
];

/** A host on which each key is counted in one of two ways. */
class Arm {
  readonly store = new MemoryStore();
  readonly clock = new VirtualClock(START * CYCLE_MS, CYCLE_MS);
  host = new Host({ clock: this.clock, store: this.store });
  readonly #definition: ContractDefinition;
  readonly #ids = new Map<string, string>();

  constructor(definition: ContractDefinition, hasKeys: boolean) {
    this.#definition = definition;
    this.host.createMachine({ slug: 'm' });
    const keyed = { maxKeys: 10, idleCycles: 1_000_000, overflow: 'refuse' } as const;
    if (hasKeys) this.#ids.set('', this.host.createContract('m', definition, undefined, keyed).id);
  }

  take({ key, gapMs, does }: Step, kind: number) {
    this.clock.run({ untilMs: this.clock.now() + gapMs });
    if (does === 'restart') {
      this.host = restarted(this.host, this);
      return 'restarted';
    }
    const cycle = this.clock.cycle();
    const { host } = this;
    let id = this.#ids.get('') ?? this.#ids.get(key);
    if (id === undefined) {
      id = host.createContract('m', this.#definition).id;
      this.#ids.set(key, id);
    }
    const contract = host.contract(id);
    const name = this.#ids.has('') ? key : undefined;
    const states = contract.plan.states;
    const asked = () => {
      if ('to' in does) {
        const asks = { to: states[does.to % states.length]!.name, holdCycles: does.holdCycles };
        const { from, to } = host.transition(contract, asks, name);
        return [from, to];
      }
      if (does.age === 0) return contract.decide(does.n, cycle, kind, name);
      return decideAt(host, contract, does.n, cycle - does.age, kind, name);
    };
    const answer = valueOrCode(asked);
    if (name === undefined) contract.advance(cycle);
    const gate = contract.gateOf(name, cycle);
    return [cycle, key, answer, states[gate.state]!.name, gate.count, ...foreseen(gate)];
  }

  /** The rows of each key, without what says whose they are. */
  rows() {
    this.clock.run({ untilMs: this.clock.now() + 200 * CYCLE_MS });
    const rows = this.store.rows('m', { limit: 100_000 }).filter(({ kind }) => kind.startsWith('transition'));
    expect(verifyRows(this.store.rows('m', { limit: 100_000 }))).toMatchObject({ valid: true });
    const keys = new Map([...this.#ids].map(([key, id]) => [id, key]));
    return KEYS.map((key) =>
      rows
        .filter((row) => (row.key ?? keys.get(row.contract_id!)) === key)
        .map(({ kind, cycle, from, to, inputs, cause, emitted }) => ({
          ...{ kind, cycle, from, to, inputs, cause, emitted },
        })),
    );
  }
}

const foreseen = (gate: Gate) => [gate.remaining, retryAfterCycles(gate), gate.heldUntilCycle > gate.cycle];

it.each(definitions.map((definition) => [JSON.stringify(definition.rule ?? definition.name), definition] as const))(
  'keys of %s are contracts',
  (_, definition) => {
    forAll(
      [fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(1)],
      { numRuns: tries(30), examples: [[dueAtOnce, 0]] },
      (steps, kind) => {
        const events = new Set(
          definition.transitions.map(({ trigger }) => (trigger as { readonly event?: string }).event),
        );
        const [one, other] = [new Arm(definition, true), new Arm(definition, false)];
        // A rule may remember when its contract was made: all keys are there from the first instant on.
        const first = KEYS.map((key): Step => ({ key, gapMs: 0, does: { n: 1, age: 0 } }));
        for (const [index, each] of [...first, ...steps].entries()) {
          const of = (index * kind) % events.size;
          expect(one.take(each, of)).toEqual(other.take(each, of));
        }
        expect(one.rows()).toEqual(other.rows());
      },
    );
  },
);
