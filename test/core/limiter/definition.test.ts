import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { findOperator } from '../../../src/core/operator/registry.js';
import { failureOf, faultsOf } from '../../failures.js';
import { registered } from '../operator/registered.js';
import { defined, move } from './defined.js';

/** A physics operator that computes nothing. */
const heavy = {
  ...findOperator('NEWTON2')!,
  id: 'PHYS',
  inputs: { mass: { unit: 'kg', min: 0, max: 10, description: 'mass' } },
  compute: () => {
    throw new Error('too heavy');
  },
};
registered(heavy);

/** The rate limiter with one thing changed. */
const changed = (change: (definition: any) => void): unknown => {
  const definition = structuredClone(rateLimiter());
  change(definition);
  return definition;
};

/** The rate limiter with one value set by its place; undefined: without it. */
const withValue = (path: string, value: unknown): unknown =>
  changed((definition) => {
    const places = path.split('/').slice(1);
    const last = places.pop()!;
    const holder = places.reduce((at, place) => at[place], definition);
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  });

/** Moves at every count from 1 to twice `bands`: to b at the odd ones, back at the even ones. */
const toAndFro = (bands: number) => {
  const step = (from: string, to: string, first: number) =>
    Array.from({ length: Math.ceil(bands / 20) }, (_, part) => {
      const counts = Array.from({ length: Math.min(20, bands - 20 * part) }, (_, k) => first + 2 * (20 * part + k));
      const condition = counts.map((count) => `count == ${count}`).join(' || ');
      return move(from, to, condition, { within: 60 });
    });
  return defined('flips', { a: { initial: true }, b: {} }, [...step('a', 'b', 1), ...step('b', 'a', 2)]);
};

function refusal(definition: unknown): { code: string; faults: string[] } {
  const plan = () => planContract(definition);
  return { code: failureOf(plan)?.code ?? 'none', faults: faultsOf(plan) };
}

it('the template is a definition that can run, by default with 100 in 60 cycles', () => {
  const plan = planContract(rateLimiter());
  expect(plan.states.map(({ name, admits, quiet }) => ({ name, admits, quiet }))).toEqual([
    { name: 'allowing', admits: true, quiet: [[{ lo: 0, hi: 100 }]] },
    { name: 'limiting', admits: false, quiet: [[{ lo: 101, hi: Number.POSITIVE_INFINITY }]] },
  ]);
  expect([plan.aggregates, plan.thresholds, plan.kinds]).toEqual([
    [{ event: 'request', within: 60 }],
    [100],
    [{ event: 'request', aggregates: [0] }],
  ]);
});

it('the template writes its parameters into its conditions', () => {
  const { transitions } = rateLimiter({ threshold: 5, within: 10 });
  expect(transitions.map(({ trigger }) => trigger)).toEqual([
    { kind: 'on_aggregate', event: 'request', aggregate: 'count', within: 10, condition: 'count > 5' },
    { kind: 'on_aggregate', event: 'request', aggregate: 'count', within: 10, condition: 'count <= 5' },
  ]);
});

it.each([
  [{ threshold: 0 }, '/threshold must be an integer from 1 to 1000000000 (request events)'],
  [{ threshold: 1.5 }, '/threshold must be an integer from 1 to 1000000000 (request events)'],
  [{ within: 100_001 }, '/within must be an integer from 1 to 100000 (cycles)'],
  [{ within: Number.NaN }, '/within must be an integer from 1 to 100000 (cycles)'],
])('the template refuses %j', (parameters, fault) => {
  expect(faultsOf(() => rateLimiter(parameters))).toEqual([fault]);
});

const hysteresis = defined('hysteresis', { open: { initial: true }, warm: { admits: true }, shut: {} }, [
  move('open', 'warm', 'count > 5'),
  move('warm', 'shut', 'count > 9'),
  move('shut', 'open', 'count < 3'),
  { from: 'warm', to: 'open', operator: 'PHYS', inputs: { mass: 2 }, fires_when: 'input.key == 7 && count < 9' },
]);

it('a definition may have more states, gaps between entering and leaving, manual transitions with conditions', () => {
  const plan = planContract(hysteresis);
  expect(plan.states.map(({ admits, quiet }) => [admits, quiet[0]])).toEqual([
    [true, [{ lo: 0, hi: 5 }]],
    [true, [{ lo: 0, hi: 9 }]],
    [false, [{ lo: 3, hi: Number.POSITIVE_INFINITY }]],
  ]);
  expect(plan.states[1]!.transitions.map(({ proofRequired, asksFor }) => [proofRequired, asksFor.fires_when])).toEqual([
    [false, null],
    [true, 'input.key == 7 && count < 9'],
  ]);
});

it('a further condition beside a trigger narrows the counts at which it fires', () => {
  const plan = planContract(changed((d) => (d.transitions[0].fires_when = 'count < 200')));
  expect(plan.states[0]!.quiet).toEqual([
    [
      { lo: 0, hi: 100 },
      { lo: 200, hi: Number.POSITIVE_INFINITY },
    ],
  ]);
});

it('a definition may look at several windows and kinds of events', () => {
  const plan = planContract(
    changed((d) => {
      d.states.broken = {};
      d.transitions.push(
        move('allowing', 'broken', 'count >= 3', { event: 'error', within: 5 }),
        move('broken', 'allowing', 'count == 0', { event: 'error', within: 5 }),
      );
    }),
  );
  expect(plan.kinds).toEqual([
    { event: 'request', aggregates: [0] },
    { event: 'error', aggregates: [1] },
  ]);
});

it.each([7, null, []])('%j is no definition', (definition) => {
  expect(refusal(definition)).toEqual({ code: 'invalid_definition', faults: ['/ must be an object'] });
});

it.each([
  ['/name', undefined, 'is required'],
  ['/version', undefined, 'is required'],
  ['/states', undefined, 'is required'],
  ['/transitions', undefined, 'is required'],
  ['/nmae', 'x', 'is not known; did you mean "name"?'],
  ['/transitions/1/operatr', 'KO42', 'is not known; did you mean "operator"?'],
  ['/name', 'rate limiter', 'must match ^[A-Za-z][A-Za-z0-9_-]{0,63}$'],
  ['/version', 'new', 'must match ^[0-9]{1,6}(\\.[0-9]{1,6}){0,2}$'],
  ['/states', ['a'], 'must be an object'],
  ['/states', {}, 'must not be empty'],
  ['/states/allowing/role', 'main', 'must be one of "initial", "intermediate", "final"'],
  ['/states/allowing/initial', 'yes', 'must be a boolean'],
  ['/transitions/0/operator', undefined, 'is required'],
  ['/transitions/0/trigger/kind', undefined, 'is required'],
  ['/transitions/0/trigger/within', undefined, 'is required'],
  ['/transitions/0/trigger/within', 0, 'must be >= 1'],
  ['/transitions/0/trigger/within', 1.5, 'must be an integer'],
  ['/transitions/0/trigger/within', 100_001, 'must be <= 100000'],
  ['/transitions/0/trigger/aggregate', 'sum', 'must be "count"'],
  ['/transitions/0/trigger/withn', 3, 'is not known; did you mean "within"?'],
  ['/transitions/0/post_actions', [{ call: 'x' }], '/transitions/0/post_actions/0/emit is required'],
  ['/audit_clock/tick_rate', 2, 'must be <= 1'],
])('what does not fit the schema is refused: %s = %j', (path, value, message) => {
  const { code, faults } = refusal(withValue(path, value));
  expect(code).toBe('invalid_definition');
  expect(faults).toContain(message.startsWith('/') ? message : `${path} ${message}`);
});

it.each([
  ['trigger/condition', 'count >', '8: a number, a name or "(" was expected, but the condition ends here'],
  ['trigger/condition', 'cont > 3', '1: the name "cont" is not known (did you mean "count"?)'],
  ['trigger/condition', 'input.x > 3', '1: the name "input.x" is not known (known here: count)'],
  ['trigger/condition', 'count * count > 3', '1: count cannot be multiplied by itself'],
  // Beside a trigger nobody gives inputs.
  ['fires_when', 'input.x > 3', '1: the name "input.x" is not known (known here: count)'],
])('a condition that cannot be read is refused with its place in %s: %s', (place, condition, why) => {
  const path = `/transitions/0/${place}`;
  const fault = `${path} cannot be read: column ${why}`;
  expect(refusal(withValue(path, condition))).toEqual({ code: 'invalid_expression', faults: [fault] });
});

it('a condition on the count cannot be read where nothing is counted', () => {
  const byHand = { from: 'x', to: 'x', operator: 'KO42', fires_when: 'count > 1' };
  const definition = defined('a', { x: { initial: true } }, [byHand]);
  expect(refusal(definition).faults).toEqual([
    '/transitions/0/fires_when cannot be read: column 1: the name "count" is not known (known here: input.<name>)',
  ]);
});

it('all conditions that cannot be read are named at once', () => {
  const { faults } = refusal(
    changed((d) => {
      for (const t of d.transitions) t.trigger.condition = 'count';
    }),
  );
  expect(faults).toHaveLength(2);
});

const physics = (inputs?: object) =>
  changed((d) => Object.assign(d.transitions[0], { operator: 'PHYS', proof_required: true, inputs }));
const restless = (where: string, who: string) =>
  `/transitions never come to rest: at ${where}, ${who} at every evaluation`;
const to = (from: string, to: string) => ({ from, to, operator: 'KO42' });

it.each([
  ['/transitions/0/operator', 'KO43', 'names the operator "KO43", which is not registered'],
  ['/operators/1', { id: 'X' }, '/operators/1/id names the operator "X", which is not registered'],
  ['/operators/0/kind', 'physics', 'must be "substrate", the kind of KO42'],
  ['/transitions/0/operator', 'PHYS', '/transitions/0/proof_required must be true: PHYS is a physics operator'],
])('an operator that does not fit is refused: %s = %j', (path, value, message) => {
  const fault = message.startsWith('/') ? message : `${path} ${message}`;
  expect(refusal(withValue(path, value))).toMatchObject({ code: 'operator_not_registered' });
  expect(refusal(withValue(path, value)).faults).toContain(fault);
});

it.each([
  ['does not take', { mas: 1 }, '/transitions/0/inputs/mas is no input of PHYS; did you mean "mass"?'],
  ['takes in another range', { mass: 11 }, '/transitions/0/inputs/mass must lie in 0 .. 10 kg'],
])('an input that the operator %s is refused', (_, inputs, fault) => {
  expect(refusal(physics(inputs))).toEqual({ code: 'operator_not_registered', faults: [fault] });
});

// biome-ignore format: one case a line
it.each([
    ['a trigger of an unknown kind', withValue('/transitions/0/trigger', { kind: 'on_timer', after: 3 }),
      '/transitions/0/trigger/kind "on_timer" is not a known kind of trigger; known: on_aggregate'],
    ['no initial state',
      withValue('/states/allowing/initial', undefined), '/states has no initial state; exactly one must be marked initial'],
    ['two initial states',
      withValue('/states/limiting/initial', true), '/states has 2 initial states (allowing, limiting); exactly one must be'],
    ['a transition from nowhere', withValue('/transitions/0/from', 'alowing'),
      '/transitions/0/from names the state "alowing", which does not exist; did you mean "allowing"?'],
    ['a transition to nowhere',
      withValue('/transitions/0/to', 'gone'), '/transitions/0/to names the state "gone", which does not exist; states: allowing, limiting'],
    ['a state that cannot be reached', withValue('/states/lost', {}), '/states/lost cannot be reached from the initial state "allowing"'],
    [
      'states that only reach each other',
      changed((d) => {
        Object.assign(d.states, { a: {}, b: {} });
        d.transitions.push(to('a', 'b'), to('b', 'a'));
      }),
      '/states/a cannot be reached from the initial state "allowing"',
    ],
    ['conditions that overlap', withValue('/transitions/1/trigger/condition', 'count <= 101'),
      restless('count 101 of request in 60 cycles', '"allowing" and "limiting" lead to each other')],
    [
      'a trigger that leads to its own state',
      changed((d) => {
        d.transitions = [{ ...d.transitions[0], to: 'allowing' }];
        delete d.states.limiting;
      }),
      restless('count 101 of request in 60 cycles', '"allowing" leads to itself'),
    ],
    [
      'a circle that is entered from outside',
      changed((d) => {
        Object.assign(d.states, { a: {}, b: {} });
        const ways = [to('allowing', 'limiting'), to('limiting', 'a'), to('a', 'b'), to('b', 'limiting')];
        d.transitions = ways.map((way) => ({ ...d.transitions[0], ...way }));
      }),
      restless('count 101 of request in 60 cycles', '"limiting" and "a" and "b" lead to each other'),
    ],
    ['windows of two lengths that disagree', withValue('/transitions/1/trigger/within', 10),
      restless('count 101 of request in 60 cycles and count 0 of request in 10 cycles', '"allowing" and "limiting" lead to each other')],
    ['to and fro at every count: more transitions than one event may cause',
      toAndFro(65), '/transitions can fire 130 times at one event with a high count, and the most is 128; use fewer states or conditions'],
    [
      'more combinations of windows than can be looked at in a moment',
      changed((d) => {
        const [out] = d.transitions;
        for (let within = 1; within <= 30; within += 1)
          d.transitions.push({ ...out, trigger: { ...out.trigger, within } });
      }),
      '/transitions look at too many different windows and counts at once; use fewer: 2147483648 combinations of counts, times 32 states or transitions, is more than 100000',
    ],
    ['a trigger whose operator lacks inputs',
      physics(), '/transitions/0/inputs are such that the trigger can never fire: a trigger has no inputs, and PHYS lacks mass in kg'],
    ['a trigger whose operator refuses the inputs that it is given', physics({ mass: 6 }),
      '/transitions/0/inputs are such that the trigger can never fire: a trigger has no inputs, and PHYS gave up: too heavy'],
    ['a trigger that no count fulfils', withValue('/transitions/0/trigger/condition', 'count > 100 && count < 50'),
      '/transitions/0/trigger/condition holds for no count: it can never fire'],
  ])('a definition that cannot run is refused: %s', (_, definition, fault) => {
    const refused = refusal(definition);
    expect(refused.code).toBe('definition_unsound');
    expect(refused.faults).toContain(fault);
  });
