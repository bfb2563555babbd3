import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import type { AuditEntry } from '../../../src/core/record/row.js';
import type { Failure } from '../../../src/core/schema/failure.js';
import { temporaryFolder } from '../../left-behind.js';
import { describeStore } from '../../suite/store.js';
import { openStore } from './opened.js';
import { appendAll, entryOf, machineImage } from './sample-rows.js';

for (const [when, defer] of [
  ['at once', (flush: () => void) => flush()],
  ['in the next turn of the event loop', (flush: () => void) => setImmediate(flush)],
] as const) {
  describeStore(
    `SQLite, committing ${when}`,
    async () => {
      const dir = temporaryFolder();
      let failing = false;
      return {
        store: openStore({ dir, defer, failCommits: () => failing }),
        durable: {
          failCommits: () => (failing = true),
          reopen: async () => openStore({ dir }),
          crash: async () => {
            const found = temporaryFolder();
            cpSync(dir, found, { recursive: true });
            return openStore({ dir: found });
          },
        },
        cleanup: async () => {},
      };
    },
    { durable: true },
  );
}

it('a flush makes all that was written before durable in one transaction, and settles in order', () => {
  const asked: (() => void)[] = [];
  const store = openStore({ defer: (flush) => asked.push(flush) });
  const settled: number[] = [];
  store.putMachine(machineImage());
  for (const [index, row] of rowsOf(100).entries()) {
    store.append(row);
    store.commit(() => settled.push(index + 1));
  }
  expect([asked.length, store.commits, settled.length]).toEqual([1, 0, 0]);
  asked[0]?.();
  expect([asked.length, store.commits]).toEqual([1, 1]);
  expect(settled).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

it('a commit needs no transaction when nothing was written', () => {
  const store = openStore();
  let settled = 0;
  for (let n = 0; n < 3; n += 1) store.commit(() => (settled += 1));
  expect([settled, store.commits]).toEqual([3, 0]);
});

it('a store settles what a callback commits after all that was committed before it', () => {
  const asked: (() => void)[] = [];
  for (const defer of [(flush: () => void) => asked.push(flush), undefined]) {
    const store = openStore({ defer });
    const order: string[] = [];
    store.commit(() => {
      store.putMachine(machineImage());
      store.commit(() => order.push('inner'));
      order.push('outer');
    });
    store.commit(() => order.push('next'));
    for (const flush of asked.splice(0)) flush();
    for (const flush of asked.splice(0)) flush();
    expect(order).toEqual(defer === undefined ? ['outer', 'inner', 'next'] : ['outer', 'next', 'inner']);
  }
});

it('a store tells the others when one callback throws', () => {
  const asked: (() => void)[] = [];
  const store = openStore({ defer: (flush) => asked.push(flush) });
  let told = 0;
  store.commit(() => {
    throw new Error('mine');
  });
  store.commit(() => (told += 1));
  expect(() => asked[0]?.()).toThrow('mine');
  expect(told).toBe(1);
});

it('a store tells everybody of a failure, once, and takes nothing more', () => {
  const asked: (() => void)[] = [];
  const store = openStore({ defer: (flush) => asked.push(flush), failCommits: () => true });
  const told: (string | undefined)[] = [];
  const tell = (failure?: Failure) => told.push(failure?.code);
  store.putMachine(machineImage());
  store.commit(tell);
  store.commit(tell);
  asked[0]?.();
  store.commit(tell);
  asked[1]?.();
  expect([told, [...store.machines()], store.commits]).toEqual([
    ['store_failed', 'store_failed', 'store_failed'],
    [],
    0,
  ]);
});

it('a store settles on closing what was not flushed', () => {
  const store = openStore({ defer: () => {} });
  const told: (Failure | undefined)[] = [];
  store.putMachine(machineImage());
  store.commit((failure) => told.push(failure));
  store.close();
  expect(told).toEqual([undefined]);
});

it('the write-ahead log does not grow with what is written, but with what is written at once', () => {
  const dir = temporaryFolder();
  const store = openStore({ dir });
  store.putMachine(machineImage());
  for (const row of rowsOf(3_000, { master_equation_block: 'x'.repeat(10_000) })) {
    store.append(row);
    if (row.seq % 100 === 0) store.commit(() => {});
  }
  // 30 MB were written.
  expect(statSync(join(dir, 'weir.db-wal')).size).toBeLessThan(20e6);
});

it('reading of machines may pause while others write', () => {
  const store = openStore();
  const slugs = Array.from({ length: 600 }, (_, index) => `m${1000 + index}`);
  for (const slug of slugs) store.putMachine(machineImage(slug));
  const seen: string[] = [];
  for (const { machine: found } of store.machines()) {
    seen.push(found.slug);
    appendAll(store, [entryOf(found.slug, 1)]);
    if (seen.length % 100 === 0) store.commit(() => {});
  }
  expect(seen).toEqual(slugs);
});

it('contracts with the same definition share one object, with its fields in order', () => {
  const dir = temporaryFolder();
  const store = openStore({ dir });
  store.putMachine(machineImage());
  const definitions = [5, 5, 6].map((threshold) => rateLimiter({ threshold, within: 10 }));
  for (const [index, definition] of definitions.entries()) {
    const id = `c${index}`;
    store.putContract(
      { id, machine: 'm', definition, templateId: undefined, createdCycle: 1, firstFireCycle: 2 },
      { id, state: 'allowing', heldUntilCycle: 0, windows: [] },
    );
  }
  store.close();
  const [found] = [...openStore({ dir }).machines()];
  const [a, b, c] = found?.contracts.map(({ image }) => image.definition) ?? [];
  expect([a === b, b === c, JSON.stringify(a), JSON.stringify(c)]).toEqual([
    true,
    false,
    JSON.stringify(definitions[0]),
    JSON.stringify(definitions[2]),
  ]);
});

it('an endless limit gives all rows, and one below zero gives none', () => {
  const store = openStore();
  store.putMachine(machineImage());
  const rows = rowsOf(150);
  for (const row of rows) store.append(row);
  expect([store.rows('m', { limit: Number.POSITIVE_INFINITY }), store.rows('m', { limit: -1 })]).toEqual([rows, []]);
});

/** Rows of the machine `m`, linked. */
const rowsOf = (count: number, more: Partial<AuditEntry> = {}) =>
  appendAll(
    { append() {} },
    Array.from({ length: count }, (_, n) => entryOf('m', n + 1, more)),
  );
