// A node of which every n-th write or sync fails, half of what was to be written on the disk: what it acknowledged is there for the next.
// The faults are those of a library that is loaded before the C library; it is compiled here. WEIR_FAULTS=50 tries so many intervals.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { serve, temporaryFolder } from '../cli/command-line.js';
import { isInstalled } from '../harness/live/real-servers.js';
import { metricsOf } from './asking.js';
import { until } from './network/redis/server.js';
import { after, compare, type Findings, firstAnswer, type Kept, prepare, startLoad } from './under-load.js';

const TRIES = Number(process.env['WEIR_FAULTS'] ?? 2);
const FAULTY_MS = 600;

/** Every n-th, with n from 1 to 97, each once before one comes again. */
const intervals = Array.from({ length: TRIES }, (_, index) => 1 + ((index * 37 + 5) % 97));

const canCompile = process.platform === 'linux' && isInstalled('cc');

describe.skipIf(!canCompile)(`writes that fail${canCompile ? '' : ' (SKIPPED: needs Linux and a C compiler)'}`, () => {
  it.each([
    ['EIO', 'cycle'],
    ['EIO', 'strict'],
    ['ENOSPC', 'strict'],
  ] as const)(
    `no acknowledged row is lost and no chain broken while every n-th write fails with %s, durability %s`,
    async (error, durability) => {
      const folder = temporaryFolder();
      const library = join(folder, 'failing-writes.so');
      execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
      const data = join(folder, 'data');
      const faults = join(folder, 'faults');
      const args = ['--data', data, '--durability', durability];
      let kept: Kept | undefined;
      const found: (Findings & { readonly every: number })[] = [];
      let failed = 0;
      for (const every of intervals) {
        const node = await serve(args, {
          LD_PRELOAD: library,
          WEIR_FAULTS_WHILE: faults,
          WEIR_FAULTS_BELOW: data,
          WEIR_FAULTS_EVERY: `${every}`,
          WEIR_FAULTS_ERRNO: `${constants.errno[error]}`,
        });
        kept ??= await prepare(node);
        found.push({ ...(await compare(node, kept)), every });
        const load = startLoad(node, kept);
        const known = kept;
        const rows = known.hashes.size;
        await firstAnswer(known);
        while (known.hashes.size < rows + 3) await after(5);
        writeFileSync(faults, '');
        await after(FAULTY_MS);
        const hasStopped = async () => (await metricsOf(node.url)).includes('weir_store_ok 0');
        // On a busy machine the write that fails comes later.
        if (failed === 0) await until(hasStopped);
        if (await hasStopped()) failed += 1;
        await node.stop('SIGKILL');
        await load;
        rmSync(faults);
      }
      const last = await serve(args);
      if (kept !== undefined) found.push({ ...(await compare(last, kept)), every: 0 });
      process.stdout.write(
        `writes that fail, ${error}, ${durability}: ${TRIES} times, of which ${failed} stopped the store; ${kept?.hashes.size} rows acknowledged\n`,
      );
      const wrong = found.filter(({ valid, lostRows, invented }) => !valid || lostRows > 0 || invented);
      expect(wrong).toEqual([]);
      expect([failed > 0, kept!.hashes.size > 3 * TRIES]).toEqual([true, true]);
    },
  );
});

const source = fileURLToPath(new URL('failing-writes.c', import.meta.url));
