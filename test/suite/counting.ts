// Owns the promise of the port for counting as one suite: test/node/counting.test.ts runs it over memory and SQLite, network and network-cluster over Redis.
// Machines and contracts are made over HTTP; what counts them is asked here without it.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { planRule } from '../../src/core/limiter/planned-rule.js';
import { copyOf, LIMITED, NEVER } from '../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import { Failure } from '../../src/core/schema/failure.js';
import { pause } from '../../src/core/time/wall.js';
import type {
  Counting,
  DecisionResult,
  EventAnswer,
  EventsAnswer,
  TimedDecision,
} from '../../src/node/counting/counting.js';
import type { Decision, DecisionRequest } from '../../src/node/counting/decision.js';
import { type OnceOnly, Replayed } from '../../src/node/counting/once-only.js';
import type { Contract } from '../../src/node/host/contract.js';
import type { RunningNode } from '../../src/node/node.js';
import { type Caller, Holder, inTurn } from '../node/caller.js';

type Node = Pick<RunningNode, 'url' | 'host' | 'counting'>;

/** So long that a test is over within it. */
const LONG_CYCLE_MS = 1_000_000_000;

const NO_KEYS = { after: 0, limit: 10, limited: false, search: '' };

const SHORT_CYCLE_MS = 200;

const HOUR_MS = 3_600_000;
/** The instant at which rules are asked that do not change within a test. */
const NOW_MS = 1e12;
const keyed = { max_keys: 5, idle_cycles: 10, overflow: 'refuse' };
const slow = { rate: 1, per_ms: HOUR_MS, capacity: 20 };
const day = { limit: 20, window_ms: 24 * HOUR_MS };
const slowRules: Readonly<Record<string, RuleDefinition>> = {
  'token bucket': { primitive: 'token_bucket', params: slow },
  'token bucket that counts requests': { primitive: 'token_bucket', params: slow, counts: 'requests' },
  'token bucket that holds': { primitive: 'token_bucket', params: { ...slow, max_wait_ms: 3 * HOUR_MS } },
  gcra: { primitive: 'gcra', params: { T_ms: HOUR_MS, tau_ms: 19 * HOUR_MS } },
  'sliding log': { primitive: 'sliding_log', params: day },
  'sliding log, all count': { primitive: 'sliding_log', params: { ...day, count_refused: true } },
  'fixed window, all count': { primitive: 'fixed_window', params: { ...day, count_refused: true } },
  concurrency: { primitive: 'concurrency', params: { limit: 20 }, hold_ms: 24 * HOUR_MS },
  or: {
    primitive: 'or',
    params: { a: { primitive: 'sliding_log', params: day }, b: { primitive: 'token_bucket', params: slow } },
  },
};

/** @param start gives nodes over an empty store, with cycles of a length in ms: each keeps the promises, and all together count as one */
export function describeCounting(
  name: string,
  start: (cycleMs: number) => Promise<readonly Node[]>,
  isSkipped = false,
): void {
  describe.skipIf(isSkipped)(`counting over ${name}`, () => {
    let nodes: readonly Node[];
    let owner: Caller;
    let machines = 0;

    beforeAll(async () => {
      nodes = await start(LONG_CYCLE_MS);
      owner = await Holder.minted(nodes[0]!.url);
    });

    /** A machine of a test. */
    class Made {
      readonly slug = `m-${machines++}`;

      /** With limits on it. */
      static async with<const L extends readonly object[]>(
        ...limits: L
      ): Promise<[Made, ...{ [K in keyof L]: string }]> {
        const made = new Made();
        await owner.createMachine(made.slug);
        const ids = await inTurn(limits, (limit) => made.limit(limit));
        return [made, ...(ids as { [K in keyof L]: string })];
      }

      /** Deploys a limit, and sees to it that all nodes know it. */
      async limit(more: object): Promise<string> {
        const id = await owner.deploy(this.slug, { within: 10, ...more });
        const path = `/api/chain/${this.slug}/contracts/${id}`;
        await Promise.all(nodes.map((node) => owner.at(node).get(path)));
        return id;
      }

      async event(more: object = {}): Promise<any> {
        return (await owner.event(this.slug, more)).body;
      }
    }

    const lastNode = () => nodes.at(-1)!;
    /** A contract as the last node has it. */
    const known = (id: string): Contract => lastNode().host.contract(id);
    const refused = async (work: () => unknown): Promise<string | undefined> => {
      try {
        await work();
        return undefined;
      } catch (error) {
        return (error as { code?: string }).code ?? String(error);
      }
    };

    const asked = (id: string, n = 1, key?: string, node = lastNode()): DecisionRequest => {
      const contract = node.host.contract(id);
      const machine = node.host.machine(contract.machine.slug);
      return { machine, contract, kind: 0, n, name: key === undefined ? undefined : contract.nameOf(key) };
    };
    /** What was decided, without what differs from run to run. */
    const said = (outcome: DecisionResult): Partial<Decision> | string => {
      if (outcome instanceof Failure) return outcome.code;
      const { state, count, admitted, limited, remaining, retry_after_cycles } = outcome.decision as Decision;
      return { state, count, admitted, limited, remaining, retry_after_cycles };
    };

    it('a gate admits up to the threshold, counts what it refuses, and says when all that came may come again', async () => {
      const [, id] = await Made.with({ threshold: 5, within: 10 });
      const told = [];
      for (const n of [3, 1, 4, 1, 6]) told.push(said(await decide(lastNode().counting, asked(id, n))));
      const [open, shut] = ['allowing', 'limiting'];
      const retry_after_cycles = 10;
      expect(told).toEqual([
        { state: open, count: 3, admitted: 3, limited: 0, remaining: 2, retry_after_cycles },
        { state: open, count: 4, admitted: 1, limited: 0, remaining: 1, retry_after_cycles: 0 },
        { state: shut, count: 8, admitted: 1, limited: 3, remaining: 0, retry_after_cycles },
        { state: shut, count: 9, admitted: 0, limited: 1, remaining: 0, retry_after_cycles },
        // Six never fit.
        { state: shut, count: 15, admitted: 0, limited: 6, remaining: 0, retry_after_cycles: undefined },
      ]);
    });

    it.each(Object.entries(slowRules))('a gate by a rule charges a whole cost or refuses it: %s', async (_, rule) => {
      const limit = { rule, within: undefined };
      const [, ...ids] = await Made.with(limit, { ...limit, keyed });
      const planned = planRule(rule);
      const draw = new RandomStream(7, 'costs');
      const states = ids.map(() => planned.rule.fresh(0));
      for (let k = 0; k < 24; k += 1) {
        const node = nodes[k % nodes.length]!;
        // Of a new one, and later, also more than it ever admits.
        const n = k % 9 === 0 ? 900 : 1 + Math.floor(draw.uniform() ** 3 * 26);
        for (const [place, id] of ids.entries()) {
          const state = states[place]!;
          const one = asked(id, n, place === 1 ? 'ann' : undefined, node);
          const delay = planned.rule.admit(copyOf(state), NOW_MS, n, planned.holdMs);
          const looked = ((await decide(node.counting, { ...one, peek: true })) as TimedDecision).decision;
          const { decision } = (await decide(node.counting, one)) as TimedDecision;
          planned.rule.admit(state, NOW_MS, n, planned.holdMs);
          const admitted = delay === LIMITED ? 0 : n;
          const found = [k, n, looked.admitted, decision.admitted, decision.limited];
          expect(found).toEqual([k, n, admitted, admitted, n - admitted]);
          const againMs = planned.rule.nextAdmission(state, NOW_MS, n) - NOW_MS;
          const { retry_after_ms = Number.POSITIVE_INFINITY, delay_ms = 0 } = decision as Decision;
          if (againMs === NEVER) expect(retry_after_ms).toBe(againMs);
          else expect(Math.abs(retry_after_ms - againMs)).toBeLessThan(HOUR_MS / 2);
          expect(delay_ms).toBeLessThanOrEqual(Math.max(0, delay));
        }
      }
    });

    it('a gate that is only looked at says the same, and counts nothing', async () => {
      const [, id] = await Made.with({ threshold: 2, within: 10 });
      const { counting } = lastNode();
      const looks = async (n: number) => said(await decide(counting, { ...asked(id, n), peek: true }));
      expect([await looks(1), await looks(2), await looks(3)]).toMatchObject([
        { count: 0, admitted: 1, retry_after_cycles: 0 },
        { count: 0, admitted: 2, retry_after_cycles: 0 },
        { count: 0, admitted: 0, limited: 3, retry_after_cycles: undefined },
      ]);
      await decide(counting, asked(id, 2));
      expect(await looks(1)).toMatchObject({ count: 2, admitted: 0, limited: 1, retry_after_cycles: 10 });
    });

    it('a gate of a shadow admits all, and says what it would limit', async () => {
      const [, id] = await Made.with({ threshold: 1, shadow: true });
      const { counting } = lastNode();
      const of = async (outcome: DecisionResult | Promise<DecisionResult>) => {
        const { admitted, limited, would_limit } = ((await outcome) as TimedDecision).decision as Decision;
        return [admitted, limited, would_limit];
      };
      expect([
        await of(decide(counting, { ...asked(id, 2), peek: true })),
        await of(decide(counting, asked(id))),
        await of(decide(counting, asked(id))),
        await of(decide(counting, { ...asked(id), peek: true })),
      ]).toEqual([
        [2, 0, true],
        [1, 0, false],
        [1, 0, true],
        [1, 0, true],
      ]);
    });

    it('a gate counts each key by itself; one without a place is an outcome, and not an error', async () => {
      const [, id] = await Made.with({ threshold: 1, keyed: { max_keys: 2 } });
      const { counting } = lastNode();
      const told = [];
      for (const key of ['a', 'b', 'a', 'c', 'b']) told.push(said(await decide(counting, asked(id, 1, key))));
      expect(told.map((one) => (typeof one === 'string' ? one : one.count))).toEqual([1, 1, 2, 'too_many_keys', 2]);
    });

    it.each([
      ['a window', { threshold: 7, within: 10 }],
      ['a window that nears its limit', { threshold: 7, within: 10, near_limit: 0.5 }],
    ])('a gate with %s decides as its rules say, whichever node is asked', async (_, limit) => {
      const [, id] = await Made.with(limit);
      const sizes = fc.sample(fc.integer({ min: 1, max: 4 }), { numRuns: 12, seed: 31 });
      let count = 0;
      for (const [index, n] of sizes.entries()) {
        const node = nodes[index % nodes.length]!;
        const outcome = said(await decide(node.counting, asked(id, n, undefined, node)));
        // k events given together have the same outcome as k events one by one.
        const admitted = Math.max(0, Math.min(n, 7 - count));
        count += n;
        expect(outcome).toMatchObject({ count, admitted, limited: n - admitted, remaining: Math.max(0, 7 - count) });
      }
    });

    it('a gate decides many in order, and one that cannot be counted takes no other with it', async () => {
      const [, plain, keyed] = await Made.with({ threshold: 3 }, { threshold: 1, keyed: { max_keys: 1 } });
      const { counting } = lastNode();
      const all = [
        asked(plain, 2),
        asked(keyed, 1, 'a'),
        asked(keyed, 1, 'b'),
        asked(plain, 2),
        { ...asked(plain), peek: true },
      ];
      const told = (await Promise.all(all.map((one) => decide(counting, one)))).map(said);
      expect(told.map((one) => (typeof one === 'string' ? one : [one.admitted, one.count]))).toEqual([
        [2, 2],
        [1, 1],
        'too_many_keys',
        [1, 4],
        [0, 4],
      ]);
    });

    describe('an event', () => {
      const event = async (made: Made, more: object = {}, once?: OnceOnly, node = lastNode()) => {
        const { counting, host } = node;
        return counting.event(host.machine(made.slug), { type: 'request', ...more }, once);
      };
      const counts = async (answer: EventAnswer | Replayed | Promise<EventAnswer | Replayed>) =>
        ((await answer) as EventAnswer).contracts.map((one) => [one.id, (one as Decision).count]);

      it('an event is counted by all who listen, and says when one more is admitted', async () => {
        const [made, a, b] = await Made.with({ threshold: 5 }, { threshold: 1 });
        const answer = (await event(made, { count: 3 })) as EventAnswer;
        expect(answer).toMatchObject({
          ok: true,
          contracts: [
            { id: a, count: 3, admitted: 3, limited: 0, retry_after_cycles: 0 },
            { id: b, count: 3, admitted: 1, limited: 2, retry_after_cycles: 10 },
          ],
        });
        expect(await counts(event(made, { contract_id: b }))).toEqual([[b, 4]]);
      });

      it.each([
        ['that nobody listens to', { type: 'requests' }, 'unknown_event_type'],
        ['for a contract that is not there', { contract_id: 'none' }, 'contract_not_found'],
        ['with a key that has no effect', { key: 'a' }, 'invalid_input'],
        ['of a cycle to come', { cycle: 1e9 }, 'event_in_future'],
        ['of a cycle that has left the window', { cycle: 1 }, 'event_too_old'],
      ])('an event %s is refused, and not counted', async (_, more, code) => {
        const [made, id] = await Made.with({ threshold: 5 });
        expect(await refused(() => event(made, more))).toBe(code);
        expect(await counts(event(made))).toEqual([[id, 1]]);
      });

      it('an event of an earlier cycle is counted in that one', async () => {
        const [made, id] = await Made.with({ threshold: 2, within: 3 });
        const { cycle } = (await event(made)) as EventAnswer;
        // Those of two cycles ago leave the window with the next.
        const late = (await event(made, { count: 3, cycle: cycle - 2 })) as EventAnswer;
        expect(late.contracts).toMatchObject([{ id, count: 4, state: 'limiting', retry_after_cycles: 1 }]);
      });

      it('an event with an idempotency key is counted once and has one answer, whichever node is asked again', async () => {
        const [made, id] = await Made.with({ threshold: 5 });
        const once = { key: 'k', request: 'r' };
        const first = (await event(made, { count: 2 }, once)) as EventAnswer;
        const again = await event(made, { count: 2 }, once, nodes[0]);
        const headers: Record<string, unknown> = {};
        const reply = {
          header(name: string, value: unknown) {
            headers[name] = value;
            return reply;
          },
        };
        expect(JSON.parse((again as Replayed).sentBy(reply as never).toString())).toEqual(
          JSON.parse(JSON.stringify(first)),
        );
        expect(headers).toMatchObject({ 'idempotent-replayed': 'true' });
        expect(await refused(() => event(made, { count: 1 }, { key: 'k', request: 'other' }, nodes[0]))).toBe(
          'idempotency_key_reused',
        );
        expect(await counts(event(made))).toEqual([[id, 3]]);
      });

      it('an event that is refused is not kept: corrected, it is counted under the same key', async () => {
        const [made, id] = await Made.with({ threshold: 5 });
        expect(await refused(() => event(made, { type: 'requets' }, { key: 'k', request: 'wrong' }))).toBe(
          'unknown_event_type',
        );
        expect(await counts(event(made, {}, { key: 'k', request: 'right' }))).toEqual([[id, 1]]);
      });
    });

    describe('many events', () => {
      const events = async (made: Made, values: readonly unknown[], once?: OnceOnly, node = lastNode()) =>
        node.counting.events(node.host.machine(made.slug), values, once);
      const REQUEST = { type: 'request' };
      const shown = ({ outcomes }: EventsAnswer) =>
        outcomes.map((one) =>
          one.ok ? one.contracts.map(({ id, ...of }) => [id, (of as Decision).count, of.admitted]) : one.code,
        );

      it('many events are counted in order, each with its decisions; those that are refused fail no other', async () => {
        const [made, a, b] = await Made.with({ threshold: 3 }, { threshold: 5 });
        const { cycle } = await made.event({ contract_id: b });
        const bad = ['nonsense', { type: 'other' }, { ...REQUEST, count: 0 }, { ...REQUEST, contract_id: 'none' }];
        const odd = [...bad, { ...REQUEST, cycle: cycle + 1 }, { ...REQUEST, cycle: cycle - 10 }];
        const good = [REQUEST, { ...REQUEST, count: 3 }, { ...REQUEST, contract_id: b }, { ...REQUEST, cycle }];
        const values = [good[0], ...odd, ...good.slice(1)];
        const { outcomes, ...sums } = (await events(made, values)) as EventsAnswer;
        expect(sums).toEqual({ ok: true, counted: 4, refused: 6, admitted: 3, limited: 3 });
        const codes = ['invalid_input', 'unknown_event_type', 'invalid_input', 'contract_not_found'];
        expect(shown({ outcomes, ...sums })).toEqual([
          [
            [a, 1, 1],
            [b, 2, 1],
          ],
          ...codes,
          'event_in_future',
          'event_too_old',
          [
            [a, 4, 2],
            [b, 5, 3],
          ],
          [[b, 6, 0]],
          [
            [a, 5, 0],
            [b, 7, 0],
          ],
        ]);
        expect(outcomes[0]).toMatchObject({ ok: true, cycle, contracts: [{ state: 'allowing', remaining: 2 }, {}] });
        expect(outcomes[1]).toMatchObject({ ok: false, status: 400, detail: expect.stringContaining('/ must be') });
        expect(outcomes.at(-1)).toMatchObject({ contracts: [{ state: 'limiting', limited: 1 }, { count: 7 }] });
      });

      it('many events are counted by their keys; one that finds no place is refused', async () => {
        const [made, id] = await Made.with({ threshold: 1, keyed: { max_keys: 2 } });
        const values = ['a', 'a', 'b', 'c', 'b', undefined].map((key) => ({ ...REQUEST, key }));
        const answer = (await events(made, values)) as EventsAnswer;
        expect(shown(answer)).toEqual([
          [[id, 1, 1]],
          [[id, 2, 0]],
          [[id, 1, 1]],
          'too_many_keys',
          [[id, 2, 0]],
          'key_missing',
        ]);
        expect(answer).toMatchObject({ counted: 4, refused: 2, admitted: 2, limited: 2 });
      });

      it('many events of a contract with a rule are decided one after the other', async () => {
        const [made, id] = await Made.with({ rule: slowRules['gcra'], within: undefined });
        const values = Array.from({ length: 4 }, () => ({ ...REQUEST, count: 7 }));
        expect(shown((await events(made, values)) as EventsAnswer)).toEqual(
          [7, 7, 6, 0].map((admitted, n) => [[id, [7, 14, 20, 20][n], admitted]]),
        );
      });

      it('many events with an idempotency key are counted once, refused ones among them, whichever node is asked', async () => {
        const [made, id] = await Made.with({ threshold: 3 });
        const once = { key: 'k', request: 'r' };
        const values = [REQUEST, 7, REQUEST];
        expect(shown((await events(made, values, once)) as EventsAnswer)).toEqual([
          [[id, 1, 1]],
          'invalid_input',
          [[id, 2, 1]],
        ]);
        expect(await events(made, values, once, nodes[0])).toBeInstanceOf(Replayed);
        expect(await refused(() => events(made, values, { ...once, request: 'other' }))).toBe('idempotency_key_reused');
        expect((await made.event()).contracts).toMatchObject([{ count: 3 }]);
      });
    });

    it('the state of a contract and of a key has what was counted; a key that is not there is as a new one', async () => {
      const [made, plain, keyed] = await Made.with(
        { threshold: 2 },
        { threshold: 1, keyed: { max_keys: 2, store_keys: 'plain' } },
      );
      await made.event({ count: 3, contract_id: plain });
      await made.event({ count: 2, contract_id: keyed, key: 'a' });
      const { counting } = lastNode();
      const of = async (id: string, name?: string) => {
        const { count, state } = await counting.state(known(id), name);
        return [count, known(id).plan.states[state]!.name];
      };
      expect(await Promise.all([of(plain), of(keyed, 'a'), of(keyed, 'b')])).toEqual([
        [3, 'limiting'],
        [2, 'limiting'],
        [0, 'allowing'],
      ]);
      const shown = await counting.states([known(plain), known(keyed)]);
      expect(shown.map(({ id, state }) => [id, state])).toEqual([
        [plain, 'limiting'],
        [keyed, 'allowing'],
      ]);
    });

    it('keys come in pages without repetition, and are sifted by name and state', async () => {
      const [made, id] = await Made.with({ threshold: 1, keyed: { max_keys: 10, store_keys: 'plain' } });
      for (const of of ['amber', 'blue', 'cyan', 'bluish']) await made.event({ key: of, count: of === 'blue' ? 3 : 1 });
      const { counting } = lastNode();
      const names: string[] = [];
      for (let after: number | undefined = 0; after !== undefined; ) {
        const query = { ...NO_KEYS, after, limit: 3 };
        const page: Awaited<ReturnType<typeof counting.keys>> = await counting.keys(known(id), query);
        names.push(...page.keys.map((one) => one.key));
        after = page.next;
      }
      expect(names.sort()).toEqual(['amber', 'blue', 'bluish', 'cyan']);
      const { keys } = await counting.keys(known(id), { ...NO_KEYS, search: 'blu' });
      expect(keys.map((one) => one.key).sort()).toEqual(['blue', 'bluish']);
      const limited = await counting.keys(known(id), { ...NO_KEYS, limited: true });
      expect(limited.keys).toEqual([
        { key: 'blue', state: 'limiting', count: 3, remaining: 0, retry_after_cycles: 10 },
      ]);
    });

    it('a contract that counts all together has no keys', async () => {
      const [, id] = await Made.with({ threshold: 1 });
      expect(await lastNode().counting.keys(known(id), NO_KEYS)).toMatchObject({ keys: [] });
    });

    it('a manual move is answered with its row, which is the end of the record, and holds', async () => {
      const [made, id] = await Made.with({ threshold: 2 });
      const { counting, host } = lastNode();
      const row = await counting.move(known(id), { to: 'limiting', holdCycles: 5, by: 'somebody' });
      const moved = { from: 'allowing', to: 'limiting', cause: 'manual', by: 'somebody' };
      expect(row).toMatchObject({ contract_id: id, ...moved });
      expect(await counting.head(host.machine(made.slug))).toEqual({ seq: row.seq, hash: row.hash });
      const { contracts } = await made.event();
      expect(contracts).toMatchObject([{ state: 'limiting', count: 1, limited: 1, retry_after_cycles: 5 }]);
    });

    it('a manual move moves one key and no other', async () => {
      const [, id] = await Made.with({ threshold: 2, keyed: { max_keys: 2 } });
      const { counting } = lastNode();
      const row = await counting.move(known(id), { to: 'limiting', holdCycles: 1 }, 'a');
      const states = await Promise.all(['a', 'b'].map(async (of) => counting.state(known(id), of)));
      expect([row.key, ...states.map(({ state }) => state)]).toEqual(['a', 1, 0]);
    });

    it.each([
      ['to the state in which it is', { to: 'allowing' }, 'no_transition'],
      ['to a state that it does not have', { to: 'elsewhere' }, 'no_transition'],
    ])('a manual move %s is refused', async (_, move, code) => {
      const [, id] = await Made.with({ threshold: 2 });
      expect(await refused(() => lastNode().counting.move(known(id), move))).toBe(code);
    });
  });

  describe.skipIf(isSkipped)(`counting over ${name}, cycle by cycle`, () => {
    let nodes: readonly Node[];
    let id: string;
    const within = 3;

    beforeAll(async () => {
      nodes = await start(SHORT_CYCLE_MS);
      const owner = await Holder.minted(nodes[0]!.url);
      id = await owner.contractOn('timed', { threshold: 2, within });
      for (const node of nodes) await owner.at(node).get(`/api/chain/timed/contracts/${id}`);
    });

    const one = () => {
      const node = nodes.at(-1)!;
      const contract = node.host.contract(id);
      return { node, asked: { machine: node.host.machine('timed'), contract, kind: 0, n: 1, name: undefined } };
    };
    const cycleNow = async () =>
      ((await decide(one().node.counting, { ...one().asked, peek: true })) as TimedDecision).cycle;

    it('one who waits as long as is said is admitted, and a cycle earlier is not', async () => {
      const { node, asked } = one();
      let limited: TimedDecision;
      do limited = (await decide(node.counting, asked)) as TimedDecision;
      while (limited.decision.limited === 0);
      const again = limited.cycle + limited.decision.retry_after_cycles!;
      for (let admitted = 0; admitted === 0; ) {
        const { cycle, decision } = (await decide(node.counting, { ...asked, peek: true })) as TimedDecision;
        admitted = decision.admitted;
        expect([cycle, admitted]).toEqual([cycle, cycle < again ? 0 : 1]);
        expect([cycle, decision.retry_after_cycles]).toEqual([cycle, Math.max(0, again - cycle)]);
      }
    });

    it('the figures of each cycle are taken once, when it is over', async () => {
      const { node, asked } = one();
      const taken = new Map<number, readonly number[]>();
      const sampled = {
        contract: asked.contract,
        begin() {},
        take: (cycle: number, figures: readonly number[]) => void taken.set(cycle, figures),
      };
      node.counting.samples.begin(sampled);
      // Right after a sample, in the next cycle. A sample that a busy machine reads late has what was counted by then: such a try is none.
      let cycle: number;
      let newest: number;
      do {
        while ((await node.counting.state(asked.contract)).count > 0) await pause(20);
        taken.clear();
        while (taken.size === 0) await pause(1);
        newest = Math.max(...taken.keys());
        ({ cycle } = (await decide(node.counting, asked)) as TimedDecision);
      } while (cycle !== newest + 1);
      while (Math.max(...taken.keys()) < cycle + within) await pause(20);
      node.counting.samples.end(sampled);
      const known = taken.size;
      for (const [of, [count]] of taken) expect([of, count]).toEqual([of, of >= cycle && of < cycle + within ? 1 : 0]);
      while ((await cycleNow()) < cycle + within + 4) await pause(20);
      expect(taken.size).toBe(known);
    });
  });
}

/** At the time of its node. */
function decide(counting: Counting, asked: DecisionRequest) {
  return counting.decide(asked, asked.machine.context.clock.now());
}
