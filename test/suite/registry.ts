// What a registry promises, whatever it keeps things in: test/node/registry.test.ts runs it over memory and SQLite, network-registry over Redis.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../src/core/limiter/plan.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { Failure } from '../../src/core/schema/failure.js';
import type { Contract } from '../../src/node/host/contract.js';
import type { ContractChange } from '../../src/node/host/contract-change.js';
import type { ContractOptions } from '../../src/node/host/host.js';
import type { Machine } from '../../src/node/host/machine.js';
import { keyedImage } from '../../src/node/keyed.js';
import type { Limits } from '../../src/node/limits.js';
import type { NodeContext } from '../../src/node/node-context.js';
import { keySlugOf } from '../../src/node/registry/registry.js';
import { hashOfSecret } from '../../src/node/secret.js';
import type { Key } from '../../src/node/store/credential-store.js';
import { verifyRows } from '../core/record/verifying.js';

/** Windows of 50 cycles last while a busy machine asks a dozen times. */
export const CYCLE_MS = 1_000;
/** Nothing is asked over HTTP. */
export const surface = { routes: [], openApi: () => Buffer.from(''), isDraining: () => false };
export const onError = (error: unknown) => {
  throw error;
};

/** A node without a port. */
export interface RegistryUnderTest {
  readonly context: NodeContext;
  close(): Promise<void>;
}

/** @param start gives an empty registry @param another a further node over the same one; undefined where there can be none */
export function describeRegistry(
  name: string,
  start: (limits: Partial<Limits>) => Promise<RegistryUnderTest>,
  another?: (limits: Partial<Limits>) => Promise<RegistryUnderTest>,
): void {
  describe(name, () => {
    const limits: Partial<Limits> = {
      machines: { perOwner: 3, onNode: 12 },
      keysPerOwner: 3,
      contracts: { perOwner: 4, onNode: 100 },
      windowCycles: { perOwner: 100, onNode: 1_000 },
      keyCells: { perOwner: 100_000, onNode: 1_000_000 },
      definitionBytes: { perOwner: 100_000, onNode: 1_000_000 },
    };
    let under: RegistryUnderTest;
    let context: NodeContext;

    beforeEach(async () => {
      under = await start(limits);
      context = under.context;
    });
    afterEach(() => under.close());

    const machine = (slug: string, owner = 'ada') => context.registry.createMachine({ slug, owner, by: 'key_1' });
    const plan = (within = 10) => planContract(rateLimiter({ threshold: 2, within }));
    const contract = (on: Machine, within = 10) => context.registry.createContract(on, plan(within), { by: 'key_1' });
    const codeOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 'done',
        (error) => (error instanceof Failure ? error.code : error),
      );
    const kinds = async (slug: string) => (await context.record.rows(slug)).map(({ kind, by }) => [kind, by]);

    it('a machine is there, is its owner’s, and is durable once it is made', async () => {
      const made = await machine('m');
      expect([made.slug, context.host.machines.get('m') === made, made.durableSeq]).toEqual(['m', true, made.head.seq]);
      expect(context.ownership.machinesOf('ada')).toEqual([made]);
      expect(await kinds('m')).toEqual([['machine_created', 'key_1']]);
    });

    it('a slug is given once, also to two who ask at once', async () => {
      const codes = await Promise.all(['ada', 'bob', 'cyd'].map((owner) => codeOf(machine('m', owner))));
      expect(codes.sort()).toEqual(['done', 'slug_taken', 'slug_taken']);
      expect(await codeOf(machine('m'))).toBe('slug_taken');
      expect(await kinds('m')).toEqual([['machine_created', 'key_1']]);
    });

    it('an owner has as many machines as they may, also if all are asked for at once', async () => {
      const codes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((slug) => codeOf(machine(slug))));
      expect(codes.sort()).toEqual(['done', 'done', 'done', 'limit_reached', 'limit_reached']);
      expect(context.ownership.machinesOf('ada').length).toBe(3);
      expect(await codeOf(machine('f', 'bob'))).toBe('done');
    });

    it('a refusal names the place whose bound it is', async () => {
      for (const slug of ['a', 'b', 'c']) await machine(slug);
      await expect(machine('d')).rejects.toThrow(`An owner has up to 3 machines on this ${context.registry.place}`);
    });

    it('a contract is on its machine, in order, with its template and its keys', async () => {
      const on = await machine('m');
      const first = await contract(on);
      const keyed = keyedImage({ max_keys: 5, store_keys: 'hashed' }, false);
      const options = { by: 'key_1', templateId: 'rate-limiter', keyed };
      const second = await context.registry.createContract(on, plan(), options);
      expect(on.contracts.map(({ id }) => id)).toEqual([first.id, second.id]);
      expect([second.image.templateId, second.image.keyed, first.keys]).toEqual(['rate-limiter', keyed, undefined]);
      const made = ['machine_created', 'contract_created', 'contract_created'];
      expect(await kinds('m')).toEqual(made.map((kind) => [kind, 'key_1']));
    });

    it('contracts are bounded by number and by window, and what is deleted is free', async () => {
      const on = await machine('m');
      const first = await contract(on, 60);
      expect(await codeOf(contract(on, 60))).toBe('limit_reached');
      expect(await context.registry.deleteContract(first, 'key_1')).toMatchObject({ contracts: 1, window_cycles: 60 });
      expect(await codeOf(contract(on, 60))).toBe('done');
      expect(await codeOf(contract(on, 20))).toBe('done');
      expect(await Promise.all([5, 5, 5, 5].map((within) => codeOf(contract(on, within))))).toEqual(
        expect.arrayContaining(['done', 'limit_reached']),
      );
      expect(on.contracts.length).toBe(4);
    });

    it('equal definitions take the room of one, until the last of them is deleted', async () => {
      const on = await machine('m');
      const [first, second] = [await contract(on), await contract(on)];
      const bytes = JSON.stringify(first.plan.definition).length;
      expect(await context.registry.deleteContract(first, 'key_1')).toMatchObject({ definition_bytes: 0 });
      expect(await context.registry.deleteContract(second, 'key_1')).toMatchObject({ definition_bytes: bytes });
    });

    it('a contract is deleted once, also by two at once', async () => {
      const on = await machine('m');
      const one: Contract = await contract(on);
      const codes = await Promise.all([1, 2].map(() => codeOf(context.registry.deleteContract(one, 'key_1'))));
      expect(codes.sort()).toEqual(['contract_not_found', 'done']);
      expect([on.contracts.length, context.host.contracts.has(one.id)]).toEqual([0, false]);
      const deleted = (await kinds('m')).filter(([kind]) => kind === 'contract_deleted');
      expect(deleted).toEqual([['contract_deleted', 'key_1']]);
    });

    it('a machine is deleted with its contracts, its record is left, and nothing is made on it', async () => {
      const on = await machine('m');
      await contract(on, 30);
      const freed = { machines: 1, contracts: 1, window_cycles: 30 };
      expect(await context.registry.deleteMachine(on, 'key_1')).toMatchObject(freed);
      expect([on.deletedMs === undefined, context.ownership.machinesOf('ada')]).toEqual([false, []]);
      expect((await kinds('m')).at(-1)).toEqual(['machine_deleted', 'key_1']);
      expect([await codeOf(contract(on)), await codeOf(machine('m'))]).toEqual(['machine_deleted', 'slug_taken']);
      expect(await codeOf(context.registry.deleteMachine(on, 'key_1'))).toBe('machine_deleted');
      // The node itself finds that there is nothing to do.
      expect(await context.registry.deleteMachine(on)).toBeUndefined();
      for (const slug of ['a', 'b', 'c']) expect(await codeOf(machine(slug))).toBe('done');
    });

    const key = (id: string, more: Partial<Key> = {}): Key => ({
      ...{ id, hash: `hash-${id}`, owner: 'ada', scopes: ['admin'], machine: undefined, isRevoked: false },
      ...{ createdAtMs: 1, expiresAtMs: 4e12, ...more },
    });

    it('an owner has as many keys as they may, also if all are asked for at once', async () => {
      const { registry, credentials } = context;
      const codes = await Promise.all(['a', 'b', 'c', 'd'].map((id) => codeOf(registry.changeKeys({ made: key(id) }))));
      expect(codes.sort()).toEqual(['done', 'done', 'done', 'limit_reached']);
      expect(credentials.keysOf('ada', '', 9).length).toBe(3);
      expect(await codeOf(registry.changeKeys({ made: key('e', { owner: 'bob' }) }))).toBe('done');
      // Revoked keys are among them.
      const [one] = credentials.keysOf('ada', '', 1);
      await registry.changeKeys({ changed: [{ ...one!, isRevoked: true }] });
      expect(await codeOf(registry.changeKeys({ made: key('f') }))).toBe('limit_reached');
    });

    it('a key is found by its hash, and as it was changed last', async () => {
      const { registry, credentials } = context;
      await registry.changeKeys({ made: key('a') });
      expect([credentials.keyByHash('hash-a'), credentials.keyById('b')]).toEqual([key('a'), undefined]);
      await registry.changeKeys({ changed: [key('a', { isRevoked: true })], made: key('b') });
      expect([credentials.keyById('a')?.isRevoked, credentials.hasValidKey('ada', 2)]).toEqual([true, true]);
    });

    it('a caller who was let in by a key is asked again once it has changed', async () => {
      const { registry, access } = context;
      await registry.changeKeys({ made: key('a', { hash: hashOfSecret('secret') }) });
      const caller = () => access.callerByKey('Bearer secret', 'read', 2).owner;
      expect(caller()).toBe('ada');
      await registry.changeKeys({ changed: [key('a', { hash: hashOfSecret('secret'), isRevoked: true })] });
      expect(caller).toThrow(Failure);
    });

    it('what is done to keys is in a record of their owner, which others do not see', async () => {
      const { registry, host } = context;
      const note = { owner: 'ada', by: 'a', action: 'key_made', key_id: 'a' } as const;
      await registry.changeKeys({ made: key('a'), note });
      await Promise.all([1, 2].map(() => registry.changeKeys({ note: { ...note, action: 'key_revoked' } })));
      const slug = keySlugOf('ada');
      const rows = await context.record.rows(slug);
      expect(rows.map(({ kind, action, by }) => [kind, action, by])).toEqual([
        ['machine_created', undefined, undefined],
        ['admin_action', 'key_made', 'a'],
        ['admin_action', 'key_revoked', 'a'],
        ['admin_action', 'key_revoked', 'a'],
      ]);
      expect([host.machine(slug).image.owner, host.machine(slug).image.isPublic]).toEqual(['ada', false]);
      expect(context.ownership.machinesOf('ada')).toEqual([]);
    });

    it('no row is written about a key for which there is no room', async () => {
      for (const id of ['a', 'b', 'c']) await context.registry.changeKeys({ made: key(id) });
      const note = { owner: 'ada', by: 'a', action: 'key_made', key_id: 'd' } as const;
      expect(await codeOf(context.registry.changeKeys({ made: key('d'), note }))).toBe('limit_reached');
      expect(context.host.machines.has(keySlugOf('ada'))).toBe(false);
    });

    it('a session is there until it is ended', async () => {
      const { registry, credentials } = context;
      await registry.changeKeys({ made: key('a') });
      const session = key('session_s', { owner: 'a', hash: 's' });
      await registry.changeKeys({ changed: [session] });
      expect(credentials.keyByHash('s')).toEqual(session);
      const ended = { ...session, isRevoked: true };
      for (let times = 0; times < 2; times += 1) await registry.changeKeys({ changed: [ended] });
      expect(credentials.keyByHash('s')).toEqual(ended);
    });

    it('what has expired is forgotten, and its owner has room again', async () => {
      const { registry, credentials } = context;
      for (const id of ['a', 'b', 'c']) await registry.changeKeys({ made: key(id, { expiresAtMs: 2 }) });
      registry.purgeExpired();
      expect(credentials.keysOf('ada', '', 9)).toEqual([]);
      expect(await codeOf(registry.changeKeys({ made: key('d') }))).toBe('done');
    });

    it('what an owner has, and may still have, is known, and what all have together', async () => {
      const { registry, usage, bounds } = context;
      const on = await machine('m');
      await contract(on, 30);
      await machine('other', 'bob');
      await registry.changeKeys({ made: key('a') });
      await registry.follow?.();
      const names = ['machines', 'contracts', 'windowCycles', 'keyCells'] as const;
      const shown = names.map((name) => [bounds[name].all, usage.of('ada', name), usage.of('nobody', name).used]);
      expect(shown).toMatchObject([
        [2, { used: 1, left: 2 }, 0],
        [1, { used: 1, left: 3 }, 0],
        [30, { used: 30, left: 70 }, 0],
        [0, { used: 0 }, 0],
      ]);
    });

    it('what a minted owner leaves whose keys have all ended is deleted, and of nobody else', async () => {
      const { registry, ownership } = context;
      for (const owner of ['owner_gone', 'owner_here', 'named']) await machine(`of-${owner.replace('_', '-')}`, owner);
      const ended = { owner: 'owner_gone', isRevoked: true } as const;
      await registry.changeKeys({ made: key('a', { owner: 'owner_gone' }) });
      await registry.changeKeys({ made: key('b', { owner: 'owner_here' }), changed: [key('a', ended)] });
      const left = async () => {
        await registry.tick(context.clock.cycle());
        return ownership.machinesOf('owner_gone');
      };
      await expect.poll(left).toEqual([]);
      expect([ownership.machinesOf('owner_here').length, ownership.machinesOf('named').length]).toEqual([1, 1]);
      expect(await kinds('of-owner-gone')).toEqual([
        ['machine_created', 'key_1'],
        ['machine_deleted', undefined],
      ]);
    });

    it('the registry says which nodes there are, from their first answer to their last', async () => {
      const { registry } = context;
      const known = async () => (await registry.nodes()).map(({ is_up, is_this }) => [is_up, is_this]);
      await registry.join('http://127.0.0.1:7770');
      expect(await known()).toEqual(another === undefined ? [] : [[true, true]]);
      await registry.leave();
      await expect.poll(known).toEqual([]);
    });

    it('what the node makes for itself takes no room of an owner', async () => {
      const own = await context.registry.createMachine({ slug: 'weir-own', owner: 'ada' });
      await context.registry.createContract(own, plan(90), {});
      for (const slug of ['a', 'b', 'c']) expect(await codeOf(machine(slug))).toBe('done');
      expect(await codeOf(contract(context.host.machine('a'), 90))).toBe('done');
      expect((await kinds('weir-own')).map(([, by]) => by)).toEqual([undefined, undefined]);
    });

    describe('a contract that changes in place', () => {
      const within = (threshold: number, cycles = 60) => planContract(rateLimiter({ threshold, within: cycles }));
      const bucket = (capacity: number) =>
        planContract(ruleLimiter({ primitive: 'token_bucket', params: { rate: 1, per_ms: 60_000, capacity } }));
      const keyed = keyedImage({ max_keys: 9 }, false);
      const make = async (first: Plan, more: ContractOptions = {}) =>
        context.registry.createContract(await machine('m'), first, { by: 'key_1', ...more });
      /** How many of `n` requests a node admits, of the contract as it knows it. */
      const decide = async (one: Contract, n: number, name?: string, by = context) => {
        const asked = { machine: by.host.machine('m'), contract: by.host.contract(one.id), kind: 0, n: 1, name };
        let admitted = 0;
        for (let sent = 0; sent < n; sent += 1) {
          const outcome = await by.counting.decide(asked, by.clock.now());
          if (outcome instanceof Failure) throw outcome;
          admitted += outcome.decision.admitted;
        }
        return admitted;
      };
      const change = (one: Contract, asked: ContractChange) =>
        context.registry.changeContract(one, { by: 'key_1', ...asked });
      // On a busy machine a transition may come before the change that the test makes.
      const lastAfterTick = async () => {
        await context.registry.tick(context.clock.cycle());
        return (await context.record.rows('m')).findLast(({ kind }) => kind === 'transition');
      };
      const until = (row: object) => expect.poll(lastAfterTick).toMatchObject(row);
      const last = async () => (await context.record.rows('m')).at(-1)!;

      it.each([
        ['threshold that is raised', within(3), within(8), [3, 4]],
        ['threshold that falls', within(8), within(6), [5, 1]],
        ['window that is prolonged', within(3, 50), within(8), [3, 4]],
        ['window that is cut', within(3), within(8, 50), [3, 4]],
        ['bucket', bucket(3), bucket(8), [3, 0]],
      ] as const)('a %s keeps its counts, and those of keys', async (_, before, after, expected) => {
        const one = await make(before, { keyed });
        const first = [await decide(one, expected[0] + 1, 'ann'), await decide(one, 2, 'bob')];
        const { changes } = await change(one, { plan: after });
        expect([changes.length > 0, context.host.contract(one.id), one.id]).toEqual([true, one, one.id]);
        const [most] = after.thresholds;
        const isBucket = after.rule !== undefined;
        const ann = isBucket ? 0 : Math.max(0, most! - (expected[0] + 1));
        const bob = isBucket ? 1 : most! - 2;
        const then = [await decide(one, 9, 'ann'), await decide(one, 9, 'bob')];
        expect([...first, ...then]).toEqual([Math.min(expected[0] + 1, before.thresholds[0]!), 2, ann, bob]);
      });

      it('a change has a row that says what the contract was, and what it is', async () => {
        const one = await make(within(3));
        await change(one, { plan: within(5), name: 'login' });
        expect(await last()).toMatchObject({
          ...{ kind: 'contract_changed', contract_id: one.id, by: 'key_1', from: 'allowing', to: 'allowing' },
          changes: [
            { what: 'name', to: 'login' },
            { what: 'threshold', from: 3, to: 5 },
          ],
        });
        await decide(one, 9);
        await change(one, { plan: within(4) });
        const rows = await context.record.rows('m');
        expect(rows.filter(({ kind }) => kind === 'contract_changed').at(-1)).toMatchObject({ from: 'limiting' });
        expect(verifyRows(rows)).toMatchObject({ valid: true });
      });

      it.each([
        ['limiting', undefined, 3],
        ['nearing', 0.5, 7],
      ])('a contract moves to %s with a change, by a row behind it, before any tick', async (to, near_limit, most) => {
        const plan = (threshold: number) => planContract(rateLimiter({ threshold, within: 60, near_limit }));
        const one = await make(plan(20));
        await decide(one, 5);
        // A node settles what Redis does not count once the change is linked: the cycle may have ended by then.
        const isAtOnce = another === undefined || near_limit === undefined;
        const expectMove = async (threshold: number, state: string) => {
          await change(one, { plan: plan(threshold) });
          await expect.poll(last).toMatchObject({ kind: 'transition', to: state });
          const [changed, moved] = (await context.record.rows('m')).slice(-2);
          expect(changed?.kind).toBe('contract_changed');
          if (isAtOnce) expect(moved?.cycle).toBe(changed?.cycle);
        };
        await expectMove(most, to);
        await expectMove(20, 'allowing');
      });

      it.each([
        ['of a window', within(9)],
        ['by a rule', bucket(9)],
      ])('a contract %s that is renamed stays where it was moved by hand until the next cycle', async (_, plan) => {
        const one = await make(plan);
        const moved = await context.counting.move(one, { to: 'limiting', by: 'key_1' });
        await change(one, { name: 'login' });
        await until({ kind: 'transition', to: 'allowing' });
        expect((await lastAfterTick())?.cycle).toBeGreaterThan(moved.cycle);
      });

      it('the keys of a changed contract move in the next cycle by its new numbers, if nothing arrives', async () => {
        const one = await make(within(9), { keyed });
        await decide(one, 5, 'ann');
        await change(one, { plan: within(3) });
        await until({ key: 'ann', to: 'limiting' });
        await change(one, { plan: within(7) });
        await until({ key: 'ann', to: 'allowing' });
        expect(verifyRows(await context.record.rows('m'))).toMatchObject({ valid: true });
      });

      it('a contract has a name that no other contract of its machine has, until it is deleted', async () => {
        const one = await make(within(3), { name: 'login' });
        const on = context.host.machine('m');
        const other = await contract(on, 5);
        const again = context.registry.createContract(on, plan(5), { by: 'key_1', name: 'login' });
        expect([await codeOf(again), await codeOf(change(other, { name: 'login' }))]).toEqual([
          'name_taken',
          'name_taken',
        ]);
        await change(one, { name: 'signin' });
        await change(other, { name: 'login' });
        expect([...on.named].map(([name, { id }]) => [name, id]).sort()).toEqual([
          ['login', other.id],
          ['signin', one.id],
        ]);
        await context.registry.deleteContract(one, 'key_1');
        expect(await codeOf(change(other, { name: 'signin' }))).toBe('done');
        await change(other, { name: null });
        expect([...on.named]).toEqual([]);
      });

      it('a contract takes the room of its longer window until it is deleted', async () => {
        const one = await make(within(3, 60));
        expect(await codeOf(change(one, { plan: within(3, 101) }))).toBe('limit_reached');
        await change(one, { plan: within(3, 90) });
        expect(context.usage.of('ada', 'windowCycles').used).toBe(90);
        expect(await context.registry.deleteContract(one, 'key_1')).toMatchObject({ window_cycles: 90 });
        expect(context.usage.of('ada', 'windowCycles').used).toBe(0);
      });

      it('a contract may be changed by several at once', async () => {
        const one = await make(within(3));
        await Promise.all([4, 5, 6].map((threshold) => change(one, { plan: within(threshold) })));
        const rows = (await context.record.rows('m')).filter(({ kind }) => kind === 'contract_changed');
        expect(rows.map(({ changes }) => changes?.[0]?.what)).toEqual(['threshold', 'threshold', 'threshold']);
        expect(one.plan.thresholds[0]).toBe(rows.at(-1)?.changes?.[0]?.to);
      });

      it.runIf(another)('a change of a contract is followed by every node', async () => {
        const other = await another!(limits);
        const one = await make(within(3), { keyed });
        await other.context.registry.follow?.();
        expect(await decide(one, 5, 'ann', other.context)).toBe(3);
        await change(one, { plan: within(8), name: 'login' });
        // The keys by the numbers that Redis has, also before the node has heard.
        expect(await decide(one, 9, 'ann', other.context)).toBe(3);
        const named = () => other.context.host.machine('m').named.get('login');
        await expect.poll(() => named()?.plan.thresholds).toEqual([8]);
        await other.context.registry.changeContract(other.context.host.contract(one.id), { plan: within(20) });
        expect(await decide(one, 99, 'ann', context)).toBe(6);
        await other.close();
      });

      it.runIf(another)('a contract has no candidate, and no change that its counts would not outlive', async () => {
        const one = await make(within(3));
        const refused = [{ plan: bucket(3) }, { candidate: within(2) }, { promotes: true }];
        for (const asked of refused) expect(await codeOf(change(one, asked))).toBe('not_on_network');
        expect((await context.record.rows('m')).length).toBe(2);
      });
    });

    it.runIf(another)('two nodes admit as many as one would', async () => {
      const other = await another!(limits);
      const on = (node: NodeContext, slug: string) =>
        codeOf(node.registry.createMachine({ slug, owner: 'ada', by: 'key_1' }));
      const nodes = [context, other.context];
      const codes = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((slug, index) => on(nodes[index % 2]!, slug)));
      expect(codes.filter((code) => code === 'done').length).toBe(3);
      await other.context.registry.follow?.();
      expect(other.context.ownership.machinesOf('ada').length).toBe(3);
      const made = ['a', 'b', 'c', 'd'].map((id, index) =>
        codeOf(nodes[index % 2]!.registry.changeKeys({ made: key(id) })),
      );
      expect((await Promise.all(made)).filter((code) => code === 'done').length).toBe(3);
      await other.close();
    });
  });
}
