// What a node does when the ground gives way: the disk, the process, the file. The real program on a real disk.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { publicKeyFrom } from '../../src/core/record/signing.js';
import { type Serving, serve, temporaryFolder, weir } from '../cli/command-line.js';
import { verifyExport } from '../core/record/verifying.js';
import { canMount, fillUp, mount } from '../small-disk.js';
import { type Caller, Holder, statusAndCode } from './caller.js';

/** So that the node finds the disk full while it works. */
const PAGES_LEFT = 64;

describe.skipIf(!canMount)(
  `a node on a disk of four megabytes${canMount ? '' : ' (SKIPPED: only root may mount one)'}`,
  () => {
    let disk: string;
    beforeEach(() => {
      disk = mount(4);
    });

    it('a node whose disk fills up says so, decides nothing, and goes on by itself once there is room again', async () => {
      const data = join(disk, 'data');
      const node = await serve(['--data', data]);
      const { owner, contract } = await gateOn(node, 1_000_000);
      fillUp(join(disk, 'ballast'), PAGES_LEFT);
      const { acknowledged, refused } = await moveUntilRefused(owner, contract);
      expect(statusAndCode(refused)).toEqual([503, 'disk_full']);
      const live = await owner.get('/healthz');
      expect([live.status, live.body.status]).toEqual([200, 'disk_full']);
      expect(statusAndCode(await owner.get('/readyz'))).toEqual([503, 'disk_full']);
      expect((await owner.event('edge')).body.code).toBe('disk_full');
      fs.rmSync(join(disk, 'ballast'));
      while ((await owner.get('/readyz')).status !== 200) {}
      const record = await recordOf(owner);
      // Of what was refused, at most what was in the same write is there.
      expect([record.valid, record.rows >= (acknowledged.at(-1) ?? 0)]).toEqual([true, true]);
      const after = await owner.event('edge');
      const to = after.body.contracts[0].state === 'allowing' ? 'limiting' : 'allowing';
      const moved = await owner.post(`/api/chain/edge/contracts/${contract}/transition`, { to, hold_cycles: 1000 });
      expect([after.status, moved.status, moved.body.seq]).toEqual([200, 200, record.rows + 1]);
      expect(await node.stop()).toBe(0);
      const again = await serve(['--data', data]);
      const later = await recordOf(owner.at(again));
      expect([later.valid, later.rows]).toEqual([true, record.rows + 1]);
    });

    it('a node that ends on a full disk names the disk, by its exit code and in words', async () => {
      const node = await serve(['--data', join(disk, 'data')]);
      const { owner, contract } = await gateOn(node, 1_000_000);
      fillUp(join(disk, 'ballast'), PAGES_LEFT);
      await moveUntilRefused(owner, contract);
      const ended = await node.stop();
      expect([ended, node.lines.at(-1)]).toEqual([74, expect.stringContaining('The disk is full')]);
    });
  },
);

it('a killed node whose log is gone names the missing rows, and starts only if it is to go on without them', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(['--data', data]);
  const { owner } = await gateOn(first, 5);
  await first.stop();
  const second = await serve(['--data', data]);
  await owner.at(second).deploy('edge');
  await second.stop('SIGKILL');
  fs.rmSync(join(data, 'weir.db-wal'));
  const { code, out, err } = await weir(['serve', '--data', data, '--port', '0']);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(
    /lacks rows that were acknowledged.*\n {2}why {2}Missing: row 3 of edge\.\n {2}fix .*--allow lost-rows/,
  );
  const again = await serve(['--data', data, '--allow', 'lost-rows']);
  const record = await recordOf(owner.at(again));
  const last = (await owner.at(again).rows('edge')).at(-1);
  const { lost } = JSON.parse(again.lines[0]!);
  expect(lost).toEqual([{ machine: 'edge', from_seq: 3, to_seq: 3 }]);
  expect(record).toMatchObject({ valid: true, rows: 3 });
  expect(last).toMatchObject({ seq: 3, kind: 'rows_lost', lost_to_seq: 3 });
});

/** A machine `edge` with a contract of its own. */
async function gateOn(node: Serving, threshold: number, within = 1000) {
  const owner = await Holder.minted(node.url);
  return { owner, contract: await owner.contractOn('edge', { threshold, within }) };
}

/** Moves a contract to and fro until that is refused. */
async function moveUntilRefused(owner: Caller, contract: string) {
  const path = `/api/chain/edge/contracts/${contract}/transition`;
  const acknowledged: number[] = [];
  for (let n = 0; ; n += 1) {
    const refused = await owner.post(path, { to: n % 2 === 0 ? 'limiting' : 'allowing', hold_cycles: 1000 });
    if (refused.status !== 200) return { acknowledged, refused };
    acknowledged.push(refused.body.seq);
  }
}

async function recordOf(owner: Caller): Promise<{ valid: boolean; rows: number }> {
  const { public_key } = (await owner.get('/api/updates/pubkey')).body;
  return verifyExport(await owner.exported('edge'), { pinned: publicKeyFrom(public_key) });
}
