// A request of cost n at a gate by a rule is decided as the rule decides it, whole, and the forecast says when one of its cost is admitted.
import { expect, it } from 'vitest';
import { admissionMs } from '../../../src/core/limiter/forecast.js';
import { Gate } from '../../../src/core/limiter/gate.js';
import { recordOf } from '../../../src/core/limiter/gate-record.js';
import { copyOf, LIMITED, NEVER } from '../../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { cycleOf } from '../../../src/core/time/cycle.js';
import { decodeState, encodeState } from '../../../src/node/store/state-codec.js';
import { rules } from './rule/every-rule.js';

const CYCLE_MS = 20;
const SEEDS = Number(process.env['WEIR_SEEDS'] ?? 1) * 2;
const ASKED = 40;

const planOf = (definition: RuleDefinition) => planContract(ruleLimiter(definition));

it.each(Object.entries(rules))('%s charges the cost as a whole, at a gate, and at that of a key', (_, definition) => {
  const plan = planOf(definition);
  const { rule, holdMs } = plan.rule!;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const draw = new RandomStream(seed, 'costs');
    let nowMs = 1e6;
    const state = rule.fresh(nowMs);
    const cycle = () => cycleOf(nowMs, CYCLE_MS);
    let gate = new Gate(plan, { cycle: cycle(), cycleMs: CYCLE_MS, nowMs });
    let record = recordOf(plan, { cycle: cycle(), nowMs }, undefined);
    let [charged, admittedOf] = [0, 0];
    for (let k = 0; k < ASKED; k += 1) {
      nowMs += draw.uniform() < 0.4 ? 0 : Math.floor(draw.uniform() * 60);
      const n = 1 + Math.floor(draw.uniform() ** 2 * 7);
      const isAdmitted = rule.admit(copyOf(state), nowMs, n, holdMs) !== LIMITED;
      const at = `seed ${seed}, request ${k}, cost ${n}`;
      expect(gate.decideOne(n, cycle(), 0, nowMs), at).toBe(isAdmitted ? n : 0);
      charged += n;
      admittedOf += isAdmitted ? n : 0;
      rule.admit(state, nowMs, n, holdMs);
      const againMs = rule.nextAdmission(state, nowMs, n);
      expect(admissionMs(gate, 0, n), at).toBe(againMs === NEVER ? undefined : againMs);
      // The gate of a key is made for its record, which goes through a store now and then.
      const ofKey = new Gate(plan, { cycle: cycle(), cycleMs: CYCLE_MS, nowMs, record });
      expect(ofKey.decideOne(n, cycle(), 0, nowMs), `${at}, of a key`).toBe(isAdmitted ? n : 0);
      const columns = encodeState({ id: 'c', key: 'ann', ...ofKey.image() });
      const saved = decodeState({ id: 'c', key: 'ann' }, columns)!;
      record = recordOf(plan, { cycle: cycle(), nowMs }, saved);
      if (draw.uniform() < 0.1) {
        const { requests, limited } = gate.figures;
        expect([requests, requests - limited], at).toEqual([charged, admittedOf]);
        [charged, admittedOf] = [0, 0];
        gate = new Gate(plan, { cycle: cycle(), cycleMs: CYCLE_MS, nowMs, image: structuredClone(gate.image()) });
      }
    }
  }
});

const bucket = planOf({ primitive: 'token_bucket', params: { rate: 1, per_ms: 100, capacity: 10 } });
const gateAt = (nowMs: number) => new Gate(bucket, { cycle: cycleOf(nowMs, CYCLE_MS), cycleMs: CYCLE_MS, nowMs });
const decide = (gate: Gate, n: number, ms: number) => gate.decideOne(n, cycleOf(ms, CYCLE_MS), 0, ms);

it.each<[name: string, costs: readonly number[], wakeMs: number]>([
  ['limits until one of that cost would be admitted', [10, 4], 400],
  ['limits until the last refused would be: one that costs less brings it forward', [10, 4, 2], 200],
  ['limits until one of cost 1 would be, where none of that cost ever is', [10, 11], 100],
])('a contract that has refused a cost %s', (_, costs, wakeMs) => {
  const gate = gateAt(0);
  for (const n of costs) decide(gate, n, 0);
  expect([gate.plan.states[gate.state]!.name, gate.wakeMs()]).toEqual(['limiting', wakeMs]);
  const again = new Gate(bucket, { cycle: 0, cycleMs: CYCLE_MS, nowMs: 0, image: gate.image() });
  expect(again.wakeMs()).toBe(wakeMs);
});

it('a contract that has refused a cost takes nothing of it, and admits what fits meanwhile', () => {
  const gate = gateAt(0);
  expect([8, 3, 2, 1].map((n) => decide(gate, n, 0))).toEqual([8, 0, 2, 0]);
});

it('several events behind a refused one of a higher cost say that the next wake-up may come sooner', () => {
  const gate = gateAt(0);
  const wakes = [10, 9].map((n) => [gate.decideOne(n, 0, 0, 0), gate.wakeMs()][1]);
  expect([...wakes, gate.decide(2, 0, 0, 0), gate.wakeMs(), gate.hastens]).toEqual([NEVER, 900, 0, 100, true]);
});
