// The machine of a contract as its users meet it: data that survives JSON, a chart to which a state can be added, and one truth with
// the gate that answers for it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Actor, type AnyStateMachine, assign, createActor, createMachine, setup, transition } from 'xstate';
import { ContractActor, ContractActors } from '../../../src/core/limiter/contract-actor.js';
import { contractMachine, contractSetup } from '../../../src/core/limiter/contract-machine.js';
import type { ContractDefinition } from '../../../src/core/limiter/definition.js';
import { rangeAround } from '../../../src/core/limiter/expression/integer-set.js';
import { Gate } from '../../../src/core/limiter/gate.js';
import { rateLimiter, rateLimiterMachine } from '../../../src/core/limiter/rate-limiter.js';
import { contractDiagram } from '../../../src/core/limiter/state-diagram.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Chain, Ledger } from '../../../src/node/host/ledger.js';
import { recordTransition } from '../../../src/node/host/transition-row.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { forAll } from '../../draws.js';
import { failureOf, faultsOf } from '../../failures.js';
import { countOf, move, probation } from './defined.js';
import { withoutBands } from './planned-gate.js';

const kinds = ['request', 'beat'] as const;
const names = ['a', 'b', 'c', 'd'] as const;

const trigger = fc.record({
  kind: fc.constant('on_aggregate' as const),
  event: fc.constantFrom(...kinds),
  aggregate: fc.constant('count' as const),
  within: fc.constantFrom(1, 3, 8),
  condition: fc
    .tuple(fc.constantFrom('>', '<=', '==', '!=', '>='), fc.integer({ min: 0, max: 6 }))
    .map(([op, n]) => `count ${op} ${n}`),
});

/** NEWTON2 needs a mass and an acceleration: it refuses at a trigger, which gives none, and where `input.m` is out of its range. */
const anyTransition = fc.record({
  from: fc.constantFrom(...names),
  to: fc.constantFrom(...names),
  operator: fc.constantFrom('KO42', 'KO42', 'NEWTON2'),
  fires_when: fc.constantFrom(null, null, 'count < 5'),
  trigger: fc.option(trigger, { freq: 4 }),
  post_actions: fc.array(
    fc.constantFrom('up', 'down').map((emit) => ({ emit })),
    { maxLength: 2 },
  ),
});

/** Definitions that can run: those that cannot are drawn again. */
const definitions = fc
  .record({
    admits: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    transitions: fc.array(anyTransition, { minLength: 2, maxLength: 7 }),
  })
  .map(({ admits, transitions }): ContractDefinition => {
    const reached = new Set<string>(['a']);
    for (const name of reached) for (const { from, to } of transitions) if (from === name) reached.add(to);
    const states = names.filter((name) => reached.has(name));
    return {
      name: 'drawn',
      version: '1.0',
      states: Object.fromEntries(
        states.map((name, index) => [name, { initial: name === 'a', admits: admits[index]! }]),
      ),
      transitions: transitions.filter(({ from }) => reached.has(from)),
    };
  })
  .filter((definition) => failureOf(() => contractMachine(definition)) === undefined);

const step = fc.record({
  gap: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.constant(12)),
  does: fc.oneof(
    { weight: 5, arbitrary: fc.record({ count: fc.integer({ min: 0, max: 9 }), event: fc.constantFrom(...kinds) }) },
    fc.record({ late: fc.integer({ min: 0, max: 9 }), event: fc.constantFrom(...kinds) }),
    fc.record({
      to: fc.constantFrom(...names),
      holdCycles: fc.integer({ min: 0, max: 5 }),
      m: fc.constantFrom(1, 1e308),
    }),
  ),
});

const counts = fc.array(fc.nat(8), { minLength: 6, maxLength: 6 });
const events = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('aggregate' as const), cycle: fc.nat(30), counts }) },
    fc.record({
      ...{ type: fc.constant('move' as const), to: fc.constantFrom(...names), cycle: fc.nat(30), counts },
      ...{ input: fc.constant({}), holdCycles: fc.nat(9) },
    }),
    fc.record({ type: fc.constant('refused' as const), cycle: fc.nat(30) }),
  ),
  { maxLength: 20 },
);

/** Everything that can be seen of a contract: its answers, its rows, and what it emits. */
function seenOf(
  definition: ContractDefinition,
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
  asksAlways = false,
) {
  const planned = planContract(definition);
  const plan = asksAlways ? withoutBands(planned) : planned;
  const store = new MemoryStore();
  store.putMachine({ slug: 'm', owner: '', isPublic: false, displayName: 'm', createdCycle: 0 });
  const ledger = new Ledger(new VirtualClock(0, 777), store);
  const machine = new Chain('m');
  const seen: AuditRow[] = [];
  ledger.durableRows.subscribe((one) => seen.push(one));
  const gate = new Gate(plan, {
    cycle: 0,
    cycleMs: 777,
    nowMs: 0,
    owner: { recordTransition: (due) => recordTransition(ledger, { id: 'c', plan, machine }, due) },
  });
  let cycle = 0;
  const answers = steps.map(({ gap, does }) => {
    cycle += gap;
    gate.advance(cycle);
    const answer = () => {
      if ('to' in does) {
        const input = { m: does.m, a: 2 };
        return gate.send({ ...does, type: 'move', cycle, counts: gate.counts, input });
      }
      const kind = plan.kinds.findIndex(({ event }) => event === does.event);
      if (kind < 0) return 'not heard';
      if ('count' in does) return gate.decide(does.count, cycle, kind);
      return gate.decideLate(2, Math.max(0, cycle - does.late), kind);
    };
    return [answer(), gate.state, gate.counts];
  });
  gate.advance(cycle + 20);
  ledger.commit();
  return { answers, seen, rows: store.rows('m'), end: gate.image(), figures: gate.figures };
}

it('a gate that asks its machine only outside of bands does as one that asks at every event, for any definition', () => {
  forAll([definitions, fc.array(step, { maxLength: 25 })], 200, (definition, steps) => {
    expect(seenOf(definition, steps)).toEqual(seenOf(definition, steps, true));
  });
});

it('XState takes no transition exactly where each count lies in the band of the state, for any definition', () => {
  forAll([definitions, counts], 200, (definition, counted) => {
    const plan = planContract(definition);
    const machine = contractMachine(definition);
    const heldUntilCycle = Number.MIN_SAFE_INTEGER;
    for (const [state, { name }] of plan.states.entries()) {
      const snapshot = machine.resolveState({ value: name, context: { heldUntilCycle, refusals: 0 } });
      const [, actions] = transition(machine, snapshot, { type: 'aggregate', cycle: 1, counts: counted });
      const isQuiet = plan.aggregates.every(
        (_, k) => rangeAround(plan.states[state]!.quiet[k]!, counted[k]!) !== undefined,
      );
      expect([name, actions.length === 0]).toEqual([name, isQuiet]);
    }
  });
});

it('the actor of a contract goes where a plain actor of XState goes, and says before what that emits', () => {
  forAll([definitions, events, fc.boolean()], 200, (definition, sent, isKey) => {
    const plan = planContract(definition);
    const record = { state: plan.initial, heldUntilCycle: Number.MIN_SAFE_INTEGER, refusals: 0 };
    const ours = new ContractActor(plan, record, isKey ? undefined : new ContractActors());
    const theirs = createActor(contractMachine(definition));
    let emitted: unknown[] = [];
    theirs.on('*', (event) => emitted.push(event));
    theirs.start();
    for (const event of sent) {
      const before = theirs.getSnapshot().value;
      const due = ours.due(event);
      if (due !== undefined || event.type === 'refused') ours.take(event);
      emitted = [];
      theirs.send(event);
      const { value, context } = theirs.getSnapshot();
      const { state, ...held } = record;
      expect([plan.states[state]!.name, held, due?.emitted ?? []]).toEqual([value, context, emitted]);
      const { from, to } = due?.transition ?? { from: state, to: state };
      expect([plan.states[from]!.name, plan.states[to]!.name]).toEqual([before, value]);
    }
  });
});

it('the config of a machine is whole as JSON: parsed again it is the same', () => {
  forAll([definitions], 60, (definition) => {
    const { config } = contractMachine(definition);
    expect(JSON.parse(JSON.stringify(config))).toEqual(config);
  });
});

/** The states of an actor at these counts, one a cycle. */
const statesAt = (actor: Actor<AnyStateMachine>, counts: readonly number[]) =>
  counts.map((count, cycle) => {
    actor.send({ type: 'aggregate', cycle, counts: [count] });
    return actor.getSnapshot().value;
  });

it('the config of the rate limiter is the one that its source shows', () => {
  expect(contractMachine(rateLimiter()).config).toMatchObject(rateLimiterMachine);
  const actor = createActor(contractSetup.createMachine(rateLimiterMachine)).start();
  expect(statesAt(actor, [100, 101, 100])).toEqual(['allowing', 'limiting', 'allowing']);
});

it('the config of a machine says what a person wants to know: guards with parameters, the operator, tags', () => {
  const { states } = contractMachine(rateLimiter({ threshold: 2, within: 10 })).config as { states: object };
  expect(states).toMatchObject({
    allowing: {
      tags: ['admits'],
      on: {
        aggregate: [
          { guard: 'held' },
          {
            guard: { type: 'countIn', params: { event: 'request', within: 10, aggregate: 0, ranges: [[3, null]] } },
            target: 'limiting',
            actions: [
              { type: 'fire', params: { transition: 0, operator: 'KO42' } },
              'hold',
              { type: 'emit', params: { event: 'rate_limited' } },
            ],
            description: 'count > 2 (request, 10 cycles)',
          },
        ],
        move: [{ guard: { type: 'asksFor', params: { to: 'limiting', fires_when: null } } }],
      },
    },
    limiting: { tags: [] },
  });
});

it('a state of one’s own stands in the diagram of its contract', () => {
  /** The template with `probation`: after limiting, half the threshold for as long as more than 2 requests are in the window. */
  const template = rateLimiter({ threshold: 4, within: 5 });
  const definition: ContractDefinition = {
    ...template,
    states: { ...template.states, probation: { admits: true } },
    transitions: [
      template.transitions[0]!,
      move('limiting', 'probation', 'count <= 4', { within: 5, post_actions: [{ emit: 'on_probation' }] }),
      move('probation', 'limiting', 'count > 4', { within: 5 }),
      move('probation', 'allowing', 'count <= 1', { within: 5, post_actions: [{ emit: 'rate_restored' }] }),
    ],
  };
  expect(contractDiagram(definition)).toMatchInlineSnapshot(`
    "stateDiagram-v2
      state "allowing" as s0
      state "limiting" as s1
      state "probation" as s2
      [*] --> s0
      s0 --> s1: count > 4 (request, 5 cycles) / rate_limited
      s1 --> s2: count <= 4 (request, 5 cycles) / on_probation
      s2 --> s1: count > 4 (request, 5 cycles)
      s2 --> s0: count <= 1 (request, 5 cycles) / rate_restored
    "
  `);
});

it('the JSON of a machine decides as the definition that it was made of, event for event', () => {
  forAll([definitions, fc.array(step, { maxLength: 25 })], 100, (definition, steps) => {
    const drawn = JSON.parse(JSON.stringify(contractMachine(definition).config));
    const [ours, theirs] = [seenOf(definition, steps), seenOf(drawn, steps)];
    // Rows name the digest of the definition, and a row is named by the hash of the one before.
    const plain = ({ answers, figures, end }: typeof ours) => ({
      answers: answers.map(([answer, ...rest]) => [String(answer).length === 64 ? 'moved' : answer, ...rest]),
      figures,
      end: { ...end, id: '' },
    });
    expect(plain(theirs)).toEqual(plain(ours));
  });
});

it('a machine is read as editors write it: with ids or dots in targets, empty lists and defaults', () => {
  const state = { type: 'atomic', entry: [], exit: [], invoke: [], meta: {} };
  const edited = {
    ...probation,
    type: 'compound',
    context: {},
    states: {
      open: { ...state, ...probation.states.open },
      shut: {
        ...state,
        on: {
          request: [{ guard: countOf('count <= 1'), target: '#probation.probation', reenter: false }],
          move: [{ target: '.open' }],
        },
      },
      probation: { ...state, ...probation.states.probation },
    },
  };
  expect(planContract(edited).definition).toEqual(planContract(probation).definition);
});

it('a transition from everywhere, an unknown start and a typo in a name are refused, with a guess', () => {
  const configs = [{ on: { request: 'shut' } }, { initial: 'opn' }, { contxt: {} }, { id: 'My machine' }];
  expect(configs.map((config) => faultsOf(() => planContract({ ...probation, ...config })))).toEqual([
    ['/on/request belongs to a state: contracts have no transitions from everywhere'],
    ['/initial names the state "opn", which does not exist; did you mean "open"?'],
    ['/contxt has no meaning in a contract, whose time comes as events; did you mean "context"?'],
    ['/id must match ^[A-Za-z][A-Za-z0-9_-]{0,63}$'],
  ]);
});

// biome-ignore format: one case a line
it.each([
    ['a delay', { after: { 1000: 'open' } }, '/states/shut/after'],
    ['an entry', { entry: 'ring' }, '/states/shut/entry'],
    ['a nested state', { states: {} }, '/states/shut/states'],
    ['regions', { type: 'parallel' }, '/states/shut/type'],
    ['an unknown guard', { on: { request: { guard: 'tooMany', target: 'open' } } }, '/states/shut/on/request/guard'],
    ['an unknown action',
      { on: { request: { guard: countOf('count > 1'), target: 'open', actions: 'ring' } } }, '/states/shut/on/request/actions'],
    ['ranges of nothing', { on: { request: { guard: { type: 'countIn', params: { ranges: [] } }, target: 'open' } } },
      '/states/shut/on/request/guard/params/ranges'],
    ['a condition that cannot be read',
      { on: { request: { guard: countOf('coun > 1'), target: 'open' } } }, '/states/shut/on/request/guard/params/condition'],
    [
      'an unknown parameter',
      { on: { request: { guard: { type: 'countIn', params: { withn: 2, condition: 'count > 1' } }, target: 'open' } } },
      '/states/shut/on/request/guard/params/withn',
    ],
    ['an unknown field of a transition',
      { on: { request: { guard: countOf('count > 1'), target: 'open', delay: 5 } } }, '/states/shut/on/request/delay'],
    ['a state that does not exist',
      { on: { request: [{ guard: countOf('count > 1'), target: 'opn' }] } }, '/states/shut/on/request/0/target'],
    [
      'an unknown operator',
      { on: { request: { guard: countOf('count > 1'), target: 'open', actions: { type: 'fire', params: { operator: 'KO' } } } } },
      '/states/shut/on/request/actions',
    ],
    [
      'a count of other events',
      { on: { request: { guard: { type: 'countIn', params: { event: 'beat', condition: 'count > 1' } }, target: 'open' } } },
      '/states/shut/on/request/guard/params/event',
    ],
  ])('a machine with %s is refused, with its place', (_, shut, path) => {
    const machine = { ...probation, states: { ...probation.states, shut: { ...probation.states.shut, ...shut } } };
    expect(() => contractMachine(machine as never)).toThrow(
      expect.objectContaining({
        faults: expect.arrayContaining([expect.objectContaining({ path })]),
      }),
    );
  });

const told = (from: string, to: string, condition: string) =>
  move(from, to, condition, { fires_when: null, proof_required: false, post_actions: [{ emit: `now_${to}` }] });
// The names are fields of a config of XState, which must not be taken for them.
const three = {
  ...rateLimiter({ threshold: 2 }),
  states: { guard: { initial: true, role: 'initial' }, actions: { admits: true }, on: {} },
  transitions: [
    told('guard', 'actions', 'count > 2'),
    told('actions', 'on', 'count > 5'),
    told('on', 'guard', 'count <= 1'),
  ],
} as ContractDefinition;
const stored = () => JSON.parse(JSON.stringify(contractMachine(three).config));

it('a stored config of a definition with other states runs with createActor', () => {
  const actor = createActor(contractMachine(stored()));
  const emitted: string[] = [];
  actor.on('*', ({ type, cycle }) => emitted.push(`${cycle} ${type}`));
  actor.start();
  expect(statesAt(actor, [3, 6, 4, 0])).toEqual(['actions', 'on', 'on', 'guard']);
  expect(emitted).toEqual(['0 now_actions', '1 now_on', '3 now_guard']);
});

it('a stored config runs with a plain setup that gives its guards and actions a meaning, and nothing else of Weir', () => {
  const { guards, actions } = stored().meta.needs;
  type Event = { type: 'aggregate'; cycle: number; counts: number[] };
  type CountIn = { aggregate: number; ranges: [number, number | null][] };
  const own = setup({
    types: { context: {} as { heldUntilCycle: number }, events: {} as Event },
    guards: {
      held: ({ context, event }) => event.cycle < context.heldUntilCycle,
      countIn: ({ event: { counts } }, { aggregate, ranges }: CountIn) =>
        ranges.some(([lo, hi]) => lo <= counts[aggregate]! && (hi === null || counts[aggregate]! <= hi)),
      asksFor: () => false,
    },
    actions: {
      fire: () => {},
      hold: assign(({ event }) => ({ heldUntilCycle: event.cycle })),
      backOff: () => {},
      emit: () => {},
    },
  });
  expect([guards, actions]).toEqual([
    ['held', 'countIn', 'asksFor'],
    ['fire', 'hold', 'backOff', 'emit'],
  ]);
  const actor = createActor(own.createMachine(stored()) as AnyStateMachine).start();
  expect(statesAt(actor, [3, 6, 4, 0])).toEqual(['actions', 'on', 'on', 'guard']);
});

it('a stored config says which guards and actions it needs, exactly those that XState alone misses', () => {
  const { needs } = stored().meta;
  const missed = new Set<string>();
  const machine = createMachine(stored());
  const states = [machine.root, ...Object.values(machine.root.states)];
  for (const { guard, actions } of states.flatMap(({ transitions }) => [...transitions.values()].flat()))
    for (const one of [guard, ...actions] as any[]) if (one !== undefined) missed.add(one.type ?? one);
  expect([...missed].sort()).toEqual([...needs.guards, ...needs.actions].sort());
  expect(needs.run).toContain('createActor(contractMachine(config))');
});

it('a stored config that needs what contracts do not have is refused at once', () => {
  const other = stored();
  other.states.guard.on.aggregate[0].guard = 'toString';
  expect(() => contractMachine(other)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
});
