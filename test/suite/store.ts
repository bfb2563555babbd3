// Owns the promise of a store as one suite. Every implementation runs it: test/node/store/memory.test.ts, test/node/store/sqlite.test.ts.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { EMPTY, link } from '../../src/core/record/chain.js';
import type { AuditEntry, AuditRow, Checkpoint, Cut, RowKind } from '../../src/core/record/row.js';
import { Bug, type Failure } from '../../src/core/schema/failure.js';
import type { ContractImage, ContractState, RowQuery, Store } from '../../src/node/store/store.js';
import { forAll } from '../draws.js';
import { codeOf } from '../failures.js';
import { appendAll, entryOf as entry, machineImage as machine } from '../node/store/sample-rows.js';

/** An empty store, opened for one test. */
export interface StoreUnderTest {
  readonly store: Store;
  /** What outlives the process, for stores that promise it. */
  readonly durable?: {
    /** Makes every commit from now on fail, as a full disk does. */
    failCommits(): void;
    /** The same files, opened again after `close`. */
    reopen(): Promise<Store>;
    /** What would be found if the power were cut now: the files as they are, opened without `close`. */
    crash(): Promise<Store>;
  };
  cleanup(): Promise<void>;
}

const KEYED = { maxKeys: 10, idleCycles: 5, overflow: 'share', secret: 'hidden' } as const;

export function describeStore(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { durable }: { durable: boolean },
): void {
  describe(name, () => {
    let under: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.cleanup());

    it('a new store holds nothing', () => {
      expect([[...store.machines()], store.rows('m'), store.checkpoint('m')]).toEqual([[], [], undefined]);
    });

    it('a store gives a removed contract to no reader, with its keys, and takes another by its name', () => {
      store.putMachine(machine('m'));
      for (const id of ['x', 'y']) {
        store.putContract({ ...contract(id, 'm'), keyed: KEYED }, state(id));
        for (const name of ['ann', 'bob']) store.putState({ ...state(id), key: name });
      }
      store.removeContract('x');
      /** The contracts that are left, and how many keys each has. */
      const left = () => {
        const ids = [...store.machines()].flatMap(({ contracts }) => contracts.map(({ image }) => image.id));
        return [ids, ...['x', 'y'].map((id) => [...store.keys(id)].length)];
      };
      expect(left()).toEqual([['y'], 0, 2]);
      while (store.sweep('m', 1) > 0);
      store.putContract({ ...contract('x', 'm'), keyed: KEYED }, state('x'));
      expect([store.unswept(), left()]).toEqual([[], [['y', 'x'], 0, 2]]);
      expect(() => store.removeContract('z')).toThrow(Bug);
      store.removeContracts('m');
      expect(left()).toEqual([[], 0, 0]);
    });

    it.each([true, false])('a store gives a changed contract in its place; keys are kept: %s', async (keepsKeys) => {
      store.putMachine(machine('m'));
      for (const id of ['x', 'y']) {
        store.putContract({ ...contract(id, 'm'), keyed: KEYED }, state(id));
        store.putState({ ...state(id), key: 'ann' });
      }
      const change = { name: 'login', candidate: rateLimiter(), revision: 1, keyed: KEYED };
      const changed = { ...contract('x', 'm'), ...change, definition: rateLimiter({ threshold: 7, within: 9 }) };
      store.changeContract(changed, { ...state('x'), heldUntilCycle: 77 }, keepsKeys);
      store.putState({ ...state('x'), key: 'bob' });
      const seen = (from: Store) => {
        const contracts = [...from.machines()].flatMap((one) => one.contracts);
        const keys = ['x', 'y'].map((id) => [...from.keys(id)].map(({ key }) => key));
        return [contracts.map(({ image }) => image), contracts.map((one) => one.state.heldUntilCycle), keys];
      };
      const expected = [
        [changed, { ...contract('y', 'm'), keyed: KEYED }],
        [77, state('y').heldUntilCycle],
        [keepsKeys ? ['ann', 'bob'] : ['bob'], ['ann']],
      ];
      expect(seen(store)).toEqual(expected);
      while (store.sweep('m', 1) > 0);
      expect(seen(store)).toEqual(expected);
      await settled(store);
      if (under.durable !== undefined) expect(seen(await under.durable.crash())).toEqual(expected);
    });

    it.each([1, 2, 3, 100])('a store removes a machine with its record, %i rows at a time, and no other', (most) => {
      for (const slug of ['m', 'other']) {
        store.putMachine(machine(slug));
        appendAll(store, entries(slug, 5));
      }
      store.putContract(contract('x', 'm'), state('x'));
      store.removeContract('x');
      let last = most;
      for (let calls = 0; last === most && calls < 20; calls += 1) {
        const heads = [...store.machines()].map(({ machine: { slug }, head }) => [slug, head.seq]);
        // Until the last call the end of the record says what it is.
        expect(Object.fromEntries(heads)).toEqual({ m: 5, other: 5 });
        last = store.removeMachine('m', most);
      }
      const slugs = () => [...store.machines()].map(({ machine: { slug } }) => slug);
      const found = [slugs(), store.rows('m').length, store.rows('other').length, store.recordBytes('m')];
      store.putMachine(machine('m'));
      appendAll(store, entries('m', 2));
      expect([...found, slugs(), store.rows('m').length]).toEqual([['other'], 0, 5, 0, ['m', 'other'], 2]);
    });

    it('a store lists machines by slug, contracts in order of creation, each as it was put', async () => {
      for (const slug of ['b', 'a-10', 'a-9', 'a']) store.putMachine(machine(slug));
      store.putContract(contract('z', 'a-9'), state('z'));
      store.putContract(contract('y', 'b'), state('y'));
      store.putContract(contract('x', 'a-9'), state('x'));
      const stored = (id: string, slug: string) => ({ image: contract(id, slug), state: state(id) });
      const expected = [
        { machine: machine('a'), contracts: [], head: EMPTY },
        { machine: machine('a-10'), contracts: [], head: EMPTY },
        { machine: machine('a-9'), contracts: ['z', 'x'].map((id) => stored(id, 'a-9')), head: EMPTY },
        { machine: machine('b'), contracts: [stored('y', 'b')], head: EMPTY },
      ];
      expect([...store.machines()]).toEqual(expected);
      await settled(store);
      expect([...store.machines()]).toEqual(expected);
    });

    it('a store keeps the states of keys, each by its contract and name, until they are forgotten', async () => {
      store.putMachine(machine('m'));
      for (const id of ['c', 'd']) store.putContract({ ...contract(id, 'm'), keyed: KEYED }, state(id));
      const names = ['__proto__', 'a', 'a\u0000b', '北門 ⛩', ' ', 'x'.repeat(256)];
      for (const key of names) store.putState({ ...state('c'), key });
      const later = { ...state('d'), key: 'a', state: 'limiting', heldUntilCycle: 7, refusals: 3 };
      for (const one of [{ ...state('d'), key: 'a' }, later]) store.putState(one);
      store.deleteKey('c', ' ');
      store.deleteKey('c', 'never there');
      await settled(store);
      const keysOf = (id: string) => [...store.keys(id)].sort((a, b) => (a.key! < b.key! ? -1 : 1));
      const kept = names.filter((key) => key !== ' ').sort();
      expect(keysOf('c')).toEqual(kept.map((key) => ({ ...state('c'), key })));
      expect(keysOf('d')).toEqual([later]);
      expect([...store.machines()][0]!.contracts.map(({ image }) => image.keyed)).toEqual([KEYED, KEYED]);
    });

    it('a store replaces the image of a machine, and the state of a contract with all its windows', () => {
      store.putMachine(machine('m'));
      store.putContract(contract('c', 'm'), state('c'));
      const image = { ...machine('m'), isPublic: true, displayName: 'Gate of the north — 北門 ⛩' };
      const counts = [0, 2 ** 31, 59, 1, 99_999, 2 ** 53 - 1];
      const later: ContractState = {
        ...{ id: 'c', state: 'limiting', heldUntilCycle: 2_400_000_000 },
        windows: [
          { cycle: 2_345_678_901, counts },
          { cycle: 0, counts: [] },
        ],
      };
      store.putMachine(image);
      store.putState(later);
      expect([...store.machines()]).toEqual([
        { machine: image, contracts: [{ image: contract('c', 'm'), state: later }], head: EMPTY },
      ]);
    });

    it('a store counts the bytes of the rows of each machine', async () => {
      for (const slug of ['m', 'n']) store.putMachine(machine(slug));
      const bytes: number[] = [0, 0];
      for (const [index, slug] of ['m', 'n'].entries()) {
        for (const row of appendAll(store, entries(slug, 5 + index))) bytes[index]! += JSON.stringify(row).length;
      }
      const before = [store.recordBytes('m'), store.recordBytes('n')];
      await settled(store);
      expect([before, [store.recordBytes('m'), store.recordBytes('n')]]).toEqual([bytes, bytes]);
    });

    it('a store gives the checkpoint with the greatest seq, of each machine its own', () => {
      for (const slug of ['m', 'n', 'o']) store.putMachine(machine(slug));
      for (const seq of [2, 5, 3]) store.putCheckpoint(checkpoint('m', seq));
      store.putCheckpoint(checkpoint('n', 7));
      const newest = ['m', 'n', 'o'].map((slug) => store.checkpoint(slug));
      expect(newest).toEqual([checkpoint('m', 5), checkpoint('n', 7), undefined]);
    });

    it('rows come back as they were appended, with every field', () => {
      store.putMachine(machine('m'));
      const definition_digest = 'ab'.repeat(32);
      const rows = appendAll(store, [
        entry('m', 1, { kind: 'machine_created', cause: 'system' }),
        entry('m', 1, { kind: 'contract_created', contract_id: 'c', to: 'allowing', definition_digest }),
        entry('m', 2_345_678_901, {
          ...{ contract_id: 'c', from: 'allowing', to: 'limiting', operator: 'newton', operator_version: '1.0' },
          inputs: { m: 5.972e24, a: -0.30000000000000004, 'ключ "\\\u2028': 1e-300 },
          ...{ result: 0.1, master_equation_block: 'F = m · a', proof_digest: 'cd'.repeat(32) },
          substrate: { operator: 'KO42', inputs: { S: 101 }, result: 101.12345678901235 },
          emitted: ['rate_limited', 'again'],
        }),
        entry('m', 2_345_678_901, {
          ...{ kind: 'transition_failed', failure: { code: 'prove_failed', detail: 'a\nb' } },
        }),
      ]);
      expect(store.rows('m')).toEqual(rows);
    });

    it('a store gives the first 100 rows in order of seq unless told otherwise', () => {
      store.putMachine(machine('m'));
      appendAll(store, entries('m', 120));
      expect(store.rows('m').map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    });

    it('a store finds for every query what a walk over all rows finds', () => {
      for (const slug of ['m', 'n']) store.putMachine(machine(slug));
      const rows = { m: appendAll(store, mixedEntries('m', 40)), n: appendAll(store, mixedEntries('n', 9)) };
      forAll([fc.constantFrom('m', 'n'), anyQuery], (slug, query) => {
        expect(store.rows(slug, query)).toEqual(walk(rows[slug], query));
      });
    });

    it.each([
      ['a first row that is not 1', 0, 2],
      ['seq 0', 0, 0],
      ['the first row again', 1, 1],
      ['the last row again', 3, 3],
      ['an earlier row', 3, 1],
      ['a row after a hole', 3, 5],
      ['half a row', 3, 3.5],
    ])('a store refuses %s and stays as it was', (_, before, seq) => {
      store.putMachine(machine('m'));
      const rows = appendAll(store, entries('m', before));
      const wrong = { ...link(EMPTY, entry('m', 1)), seq };
      expect(() => store.append(wrong)).toThrow(Bug);
      expect(store.rows('m')).toEqual(rows);
      const next = link(rows.at(-1) ?? EMPTY, entry('m', 99));
      store.append(next);
      expect(store.rows('m', { afterSeq: rows.length })).toEqual([next]);
    });

    it('rows are gone up to a cut for every query, whether their room is free yet or not; the others are as before', () => {
      for (const slug of ['m', 'n']) store.putMachine(machine(slug));
      const m = appendAll(store, mixedEntries('m', 40));
      const n = appendAll(store, mixedEntries('n', 9));
      for (const [seq, sweeps] of [
        [7, 0],
        [7, 1],
        [25, 2],
        [39, 20],
      ] as const) {
        store.putCut(cut('m', seq));
        for (let left = sweeps; left > 0; left -= 1) store.sweep('m', 3);
        forAll([anyQuery], (query) => {
          expect(store.rows('m', query)).toEqual(walk(m.slice(seq), query));
          expect(store.rows('n', query)).toEqual(walk(n, query));
        });
        expect([store.cut('m'), store.cut('n'), store.cut('o')]).toEqual([cut('m', seq), undefined, undefined]);
      }
      expect([store.sweep('m', 100), store.recordBytes('m')]).toEqual([0, JSON.stringify(m.at(-1)).length]);
      const next = link(m.at(-1)!, entry('m', 2_345_678_999));
      store.append(next);
      expect([store.rows('m'), [...store.machines()][0]!.head]).toEqual([
        [m.at(-1), next],
        { seq: 41, hash: next.hash },
      ]);
    });

    it('a cut never removes the last row, nor puts rows back', () => {
      store.putMachine(machine('m'));
      const rows = appendAll(store, entries('m', 5));
      store.putCut(cut('m', 3));
      for (const seq of [2, 5, 6]) expect(() => store.putCut(cut('m', seq))).toThrow(Bug);
      expect(() => store.putCut(cut('none', 1))).toThrow(Bug);
      expect([store.rows('m'), store.cut('m')]).toEqual([rows.slice(3), cut('m', 3)]);
      const anew = { ...cut('m', 3), cycle: 2_345_679_000 };
      store.putCut(anew);
      expect(store.cut('m')).toEqual(anew);
    });

    it('a store calls back once for every commit, in their order, also when nothing was written', async () => {
      const order: number[] = [];
      store.putMachine(machine('m'));
      await Promise.all([1, 2, 3].map((n) => settled(store).then(() => order.push(n))));
      await settled(store);
      expect(order).toEqual([1, 2, 3]);
    });

    it('a store lets a callback write and commit again', async () => {
      store.putMachine(machine('m'));
      const inner = new Promise<Failure | undefined>((resolve) => {
        store.commit(() => {
          store.append(link(EMPTY, entry('m', 1)));
          store.commit(resolve);
        });
      });
      expect(await inner).toBeUndefined();
      expect(store.rows('m').map(({ seq }) => seq)).toEqual([1]);
    });

    it.runIf(durable)('a store takes nothing after a failed commit, and is read and closed as before', async () => {
      store.putMachine(machine('m'));
      store.putContract(contract('c', 'm'), state('c'));
      await settled(store);
      durableOf(under).failCommits();
      store.putState({ ...state('c'), state: 'limiting' });
      const commits = [await settled(store), await settled(store), await settled(store)];
      expect(commits.map((failure) => failure?.code)).toEqual(Array(3).fill('store_failed'));
      const writes = [
        () => store.putMachine(machine('n')),
        () => store.putContract(contract('d', 'm'), state('d')),
        () => store.putState(state('c')),
        () => store.append(link(EMPTY, entry('m', 1))),
        () => store.putCheckpoint(checkpoint('m', 1)),
      ];
      expect(writes.map(codeOf)).toEqual(writes.map(() => 'store_failed'));
      const others = [
        () => [...store.machines()],
        () => store.rows('m'),
        () => store.checkpoint('m'),
        () => store.close(),
      ];
      expect(others.map(codeOf)).toEqual(others.map(() => 'done'));
    });

    describe.runIf(durable)('what was settled', () => {
      const fill = () => {
        store.putMachine(machine('m'));
        store.putContract(contract('c', 'm'), state('c'));
        store.putCheckpoint(checkpoint('m', 2));
        const rows = appendAll(store, mixedEntries('m', 12));
        store.putCut(cut('m', 4));
        store.sweep('m', 2);
        return rows;
      };
      const all = (found: Store) => ({
        machines: [...found.machines()],
        rows: found.rows('m'),
        checkpoint: found.checkpoint('m'),
        cut: found.cut('m'),
      });

      it('what was settled is there after the power was cut', async () => {
        fill();
        const before = all(store);
        await settled(store);
        expect(all(await durableOf(under).crash())).toEqual(before);
      });

      it('close commits what is left, and all is there when the store is opened again', async () => {
        fill();
        const before = all(store);
        store.close();
        expect(all(await durableOf(under).reopen())).toEqual(before);
      });

      it('a batch is there as a whole, or nothing of it, after the power was cut', async () => {
        const rows = fill();
        await settled(store);
        const before = all(store);
        store.append(link(rows.at(-1)!, entry('m', 99)));
        store.putState({ ...state('c'), state: 'limiting' });
        store.putCheckpoint(checkpoint('m', 13));
        store.putCut(cut('m', 9));
        const after = all(store);
        expect([before, after]).toContainEqual(all(await durableOf(under).crash()));
      });

      it('the chain goes on where it ended when the store is opened again', async () => {
        const rows = fill();
        store.close();
        const again = await durableOf(under).reopen();
        const next = link(rows.at(-1)!, entry('m', 99));
        expect(() => again.append(rows.at(-1)!)).toThrow(Bug);
        again.append(next);
        expect(again.rows('m', { afterSeq: rows.length })).toEqual([next]);
      });

      it('a failed commit leaves what was settled before', async () => {
        fill();
        await settled(store);
        const before = all(store);
        durableOf(under).failCommits();
        store.putState({ ...state('c'), state: 'limiting' });
        expect((await settled(store))?.code).toBe('store_failed');
        expect(all(await durableOf(under).crash())).toEqual(before);
      });
    });
  });
}

/** Resolves when the commit is settled, with its failure if it has one. */
function settled(store: Store): Promise<Failure | undefined> {
  return new Promise((resolve) => store.commit(resolve));
}

function durableOf({ durable }: StoreUnderTest): NonNullable<StoreUnderTest['durable']> {
  if (durable === undefined) throw new Bug('a durable store has to say how it is opened again');
  return durable;
}

function contract(id: string, slug: string): ContractImage {
  const definition = rateLimiter({ threshold: 3, within: 10 });
  return {
    id,
    machine: slug,
    definition,
    templateId: id === 'x' ? undefined : 'rate-limiter',
    createdCycle: 2_345_678_900,
    firstFireCycle: 2_345_678_901,
  };
}

function state(id: string): ContractState {
  return {
    id,
    state: 'allowing',
    heldUntilCycle: 0,
    windows: [{ cycle: 2_345_678_901, counts: [0, 2, 7, 1] }],
  };
}

function checkpoint(slug: string, seq: number): Checkpoint {
  return { machine: slug, seq, hash: 'ab'.repeat(32), cycle: 2_345_678_902, signature: `${'A'.repeat(86)}==` };
}

function cut(slug: string, seq: number): Cut {
  const { hash: removed_hash, cycle, signature } = checkpoint(slug, seq);
  return { machine: slug, removed_to_seq: seq, removed_hash, at: '2026-11-21T00:00:00.000Z', cycle, signature };
}

function entries(slug: string, count: number): AuditEntry[] {
  return Array.from({ length: count }, (_, index) => entry(slug, index));
}

const kinds: readonly RowKind[] = ['machine_created', 'contract_created', 'transition', 'transition_failed'];

/** Kinds, contracts and cycles in changing company; three rows a cycle. */
function mixedEntries(slug: string, count: number): AuditEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    ...entry(slug, 2_345_678_900 + Math.floor(index / 3)),
    kind: kinds[Math.floor(index * 1.7) % 4]!,
    ...(index % 5 === 0 ? {} : { contract_id: `c${index % 2}` }),
  }));
}

const cycle = fc.integer({ min: 2_345_678_895, max: 2_345_678_920 });

const anyQuery: fc.Arbitrary<RowQuery> = fc.record(
  {
    afterSeq: fc.integer({ min: 0, max: 45 }),
    limit: fc.integer({ min: 0, max: 45 }),
    kind: fc.constantFrom(...kinds),
    contractId: fc.constantFrom('c0', 'c1', 'c2'),
    fromCycle: cycle,
    toCycle: cycle,
  },
  { requiredKeys: [] },
);

/** The rows that a query means, found one by one. */
function walk(rows: readonly AuditRow[], query: RowQuery): AuditRow[] {
  return rows
    .filter(({ seq }) => query.afterSeq === undefined || seq > query.afterSeq)
    .filter(({ kind }) => query.kind === undefined || kind === query.kind)
    .filter(({ contract_id }) => query.contractId === undefined || contract_id === query.contractId)
    .filter((row) => query.fromCycle === undefined || row.cycle >= query.fromCycle)
    .filter((row) => query.toCycle === undefined || row.cycle <= query.toCycle)
    .slice(0, query.limit ?? 100);
}
