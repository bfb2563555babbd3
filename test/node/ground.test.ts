import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Host } from '../../src/host/host.js';
import { openGround } from '../../src/node/ground.js';

const dir = mkdtempSync(join(tmpdir(), 'weir-ground-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const onError = (error: unknown) => {
  throw error;
};

it('a folder with records and without the key that signed them is refused, and gets no new key', () => {
  const first = openGround({ dir, onError });
  new Host({ clock: first.clock, store: first.store }).createMachine({ slug: 'm' });
  first.store.close();
  rmSync(join(dir, 'node.json'));
  expect(() => openGround({ dir, onError })).toThrow('is missing');
  // Refused again: the first refusal has left the folder unlocked, and as it was.
  expect(() => openGround({ dir, onError })).toThrow('is missing');
  expect(existsSync(join(dir, 'node.json'))).toBe(false);
});
