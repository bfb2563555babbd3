import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { startOf } from '../../src/core/time/cycle.js';
import { pause } from '../../src/core/time/wall.js';
import { Host } from '../../src/node/host/host.js';
import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { forAll, tries } from '../draws.js';
import { codeOf, failureOf } from '../failures.js';
import { temporaryFolder } from '../left-behind.js';
import { Caller, Holder } from './caller.js';

const dir = temporaryFolder();
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const onError = (error: unknown) => {
  throw error;
};

it('a folder with records and without the key that signed them is refused, and gets no new key', () => {
  const first = openStorage({ dir, onError });
  new Host({ clock: first.clock, store: first.store }).createMachine({ slug: 'm' });
  first.store.close();
  fs.rmSync(join(dir, 'node.json'));
  expect(() => openStorage({ dir, onError })).toThrow('is missing');
  // Refused again: the first refusal has left the folder unlocked, and as it was.
  expect(() => openStorage({ dir, onError })).toThrow('is missing');
  expect(fs.existsSync(join(dir, 'node.json'))).toBe(false);
});

it('a key file in which a bit has flipped is refused in words, wherever it flipped', () => {
  openStorage({ dir, onError }).store.close();
  const path = join(dir, 'node.json');
  const whole = fs.readFileSync(path);
  forAll([fc.nat(8 * whole.length - 1)], { numRuns: tries(300), seed: 13 }, (bit) => {
    const bytes = Buffer.from(whole);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    fs.writeFileSync(path, bytes);
    const code = codeOf(() => openStorage({ dir, onError }).store.close());
    // Only white space may change: what the file says is then the same.
    expect(code === 'unreadable_file' || sameContent(bytes, whole)).toBe(true);
  });
});

it('a key file without a checksum is refused', () => {
  openStorage({ dir, onError }).store.close();
  const path = join(dir, 'node.json');
  const { checksum: _, ...content } = JSON.parse(fs.readFileSync(path, 'utf8'));
  fs.writeFileSync(path, JSON.stringify(content));
  expect(codeOf(() => openStorage({ dir, onError }))).toBe('unreadable_file');
});

it('a key that is changed while the clock is behind changes no earlier than the newest stored cycle', () => {
  const first = openStorage({ dir, onError });
  first.clock.notBefore(first.clock.now() + 3_600_000);
  const newest = first.clock.cycle();
  new Host({ clock: first.clock, store: first.store }).createMachine({ slug: 'm' });
  first.store.close();
  const again = openStorage({ dir, rotateKey: true, onError });
  again.store.close();
  expect(again.identity.successions.map(({ cycle }) => cycle)).toEqual([newest]);
  expect(again.clock.now()).toBeGreaterThanOrEqual(startOf(newest, again.clock.cycleMs));
});

function sameContent(changed: Buffer, whole: Buffer): boolean {
  return JSON.stringify(JSON.parse(changed.toString())) === JSON.stringify(JSON.parse(whole.toString()));
}

it('a database in which a bit of a definition has flipped is refused, and said to be damaged, wherever it flipped', () => {
  const first = openStorage({ dir, onError });
  const host = new Host({ clock: first.clock, store: first.store });
  host.createMachine({ slug: 'm' });
  host.createContract('m', rateLimiter({ threshold: 5, within: 7 }));
  first.store.close();
  const path = join(dir, 'weir.db');
  const whole = fs.readFileSync(path);
  const text = JSON.stringify(rateLimiter({ threshold: 5, within: 7 }));
  const from = whole.indexOf(text.slice(0, 40));
  expect(from).toBeGreaterThan(0);
  forAll(
    [fc.integer({ min: 8 * from, max: 8 * (from + text.length) - 1 })],
    { numRuns: tries(100), seed: 29 },
    (bit) => {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      fs.writeFileSync(path, bytes);
      const said = failureOf(() => {
        const { clock, store } = openStorage({ dir, onError });
        try {
          new Host({ clock, store });
        } finally {
          store.close();
        }
      });
      expect(said).toMatchObject({ code: 'store_damaged', what: expect.stringContaining(dir) });
    },
  );
});

it.skipIf(process.platform === 'win32')(
  'a node whose folder is deleted says so by itself, acknowledges nothing more, and does not begin anew',
  async () => {
    const data = join(dir, 'data');
    const storage = openStorage({ dir: data, cycleMs: 50, onError });
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = { level: 'error', requests: false, destination } as const;
    const node = await startNode({ ...storage, ...storage.identity, log });
    const owner = await Holder.minted(node.url);
    expect((await owner.get('/readyz')).status).toBe(200);
    fs.rmSync(data, { recursive: true });
    // Written before it was noticed, or after: it is refused.
    const refused = [await owner.createMachine('edge'), await owner.get('/readyz'), await owner.get('/healthz')];
    for (const { status, body } of refused) expect([status, body.code]).toEqual([503, 'store_failed']);
    while (!lines.some((line) => line.includes('The data folder was changed while the node runs.'))) await pause(20);
    await node.close().catch(() => {});
    expect(() => openStorage({ dir: data, onError })).toThrow('is missing');
    const { store } = openStorage({ dir: data, acceptLoss: true, onError });
    store.close();
  },
);

it('a node that reads a damaged row takes no more requests', async () => {
  const storage = openStorage({ dir, cycleMs: 777, onError });
  const node = await startNode({ ...storage, ...storage.identity });
  const owner = await Holder.minted(node.url);
  await owner.createMachine('edge');
  storage.stored!.run("UPDATE rows SET text = '{' WHERE machine = (SELECT id FROM machines WHERE slug = 'edge')");
  const answers = [
    await owner.get('/readyz'),
    await owner.get('/api/chain/edge/state?format=ndjson'),
    await owner.get('/readyz'),
    await owner.get('/healthz'),
  ];
  await node.close().catch(() => {});
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [200, undefined],
    [503, 'store_damaged'],
    [503, 'store_damaged'],
    [200, undefined],
  ]);
});

it.skipIf(process.platform === 'win32')('an idle node notices that its database is gone', async () => {
  const storage = openStorage({ dir, cycleMs: 777, onError });
  const node = await startNode({ ...storage, ...storage.identity });
  fs.rmSync(join(dir, 'weir.db'));
  const anyone = new Caller(node.url);
  while ((await anyone.get('/readyz')).status === 200) await pause(50);
  await node.close().catch(() => {});
});
