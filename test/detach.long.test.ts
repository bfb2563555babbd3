// Tools and leaves of the node come off, all together: detach.mjs, which also runs by itself. WEIR_ALL=1: each alone, too.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAll } from './draws.js';

it('types, build and a scenario hold without any of what can be left out, and a part that is missed is named', () => {
  const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'detach.mjs')], {
    encoding: 'utf8',
  });
  const lines = (stdout + stderr).trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('✔ without '))).toEqual([]);
  expect(lines.length).toBe(isAll ? readdirSync('src/tools').length + 3 : 1);
});
