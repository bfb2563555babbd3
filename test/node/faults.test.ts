// What a node does when the ground gives way: the disk, the process, the file. The real program on a real disk.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publicKeyFrom } from '../../src/record/signing.js';
import { type Serving, serve, temporaryFolder, weir } from '../cli/command-line.js';
import { verifyExport } from '../record/verifying.js';

const CYCLE_MS = 50;

describe.skipIf(!canMount())(
  `a node on a disk of four megabytes${canMount() ? '' : ' (SKIPPED: only root may mount one)'}`,
  () => {
    it('that fills up says so and decides nothing; with room again it goes on by itself from what was acknowledged', async () => {
      const disk = temporaryFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
      try {
        const data = join(disk, 'data');
        const node = await serve(['--data', data]);
        const { key, contract } = await gateOn(node, 1_000_000);
        fillUp(join(disk, 'ballast'));
        const { acknowledged, refused } = await moveUntilRefused(node, key, contract);
        const live = await ask(node, 'GET', '/healthz');
        const ready = await ask(node, 'GET', '/readyz');
        const counted = await ask(node, 'POST', '/api/chain/edge/event', key, { type: 'request' });
        fs.rmSync(join(disk, 'ballast'));
        while ((await ask(node, 'GET', '/readyz')).status !== 200) {}
        const record = await recordOf(node, key);
        const after = await ask(node, 'POST', '/api/chain/edge/event', key, { type: 'request' });
        const moved = await ask(node, 'POST', `/api/chain/edge/contracts/${contract}/transition`, key, {
          to: after.body.contracts[0].state === 'allowing' ? 'limiting' : 'allowing',
          hold_cycles: 1000,
        });
        const ended = await node.stop();
        const again = await serve(['--data', data]);
        const later = await recordOf(again, key);
        await again.stop();
        expect({
          refused: [refused?.status, refused?.body.code],
          live: [live.status, live.body.status],
          ready: [ready.status, ready.body.code],
          counted: counted.body.code,
          // Of what was refused, at most what was in the same write is there.
          record: [record.valid, record.rows >= (acknowledged.at(-1) ?? 0)],
          after: after.status,
          moved: [moved.status, moved.body.seq],
          ended,
          later: [later.valid, later.rows],
        }).toEqual({
          refused: [503, 'disk_full'],
          live: [200, 'disk_full'],
          ready: [503, 'disk_full'],
          counted: 'disk_full',
          record: [true, true],
          after: 200,
          moved: [200, record.rows + 1],
          ended: 0,
          later: [true, record.rows + 1],
        });
      } finally {
        execFileSync('umount', ['--lazy', disk]);
      }
    });

    it('that is full when the node ends: exit code and words name the disk', async () => {
      const disk = temporaryFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
      try {
        const node = await serve(['--data', join(disk, 'data')]);
        const { key, contract } = await gateOn(node, 1_000_000);
        fillUp(join(disk, 'ballast'));
        await moveUntilRefused(node, key, contract);
        const ended = await node.stop();
        expect([ended, node.lines.at(-1)]).toEqual([74, expect.stringContaining('The disk is full')]);
      } finally {
        execFileSync('umount', ['--lazy', disk]);
      }
    });
  },
);

describe('a node that is halted for more than ten cycles', () => {
  it('passes through every one of them when it goes on: a gate opens in the very cycle in which it had to', async () => {
    const within = 5;
    const node = await serve(['--store', 'memory']);
    const { key, contract } = await gateOn(node, 1, within);
    const burst = await ask(node, 'POST', '/api/chain/edge/event', key, { type: 'request', count: 2 });
    node.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, (within + 10) * CYCLE_MS));
    node.child.kill('SIGCONT');
    const { body } = await ask(node, 'GET', `/api/chain/edge/contracts/${contract}`, key);
    const clock = await ask(node, 'GET', '/api/clock');
    await node.stop();
    const moves = body.contract.last_transitions.map(({ cycle, to }: { cycle: number; to: string }) => [
      to,
      cycle - burst.body.cycle,
    ]);
    expect([moves, clock.body.cycle - burst.body.cycle >= within + 10]).toEqual([
      [
        ['limiting', 0],
        ['allowing', within],
      ],
      true,
    ]);
  });
});

describe('a database that is damaged', () => {
  it.each<[string, (path: string) => void]>([
    ['in its head', (path) => overwrite(path, 0, 'not a database')],
    ['in its middle', (path) => overwrite(path, 3 * 4096, '\u00ff'.repeat(8000))],
    ['by being cut off', (path) => fs.truncateSync(path, 5000)],
    ['by being emptied', (path) => fs.truncateSync(path, 0)],
  ])('%s is refused with what to do about it, and left as it is', async (_name, damage) => {
    const data = join(temporaryFolder(), 'data');
    const node = await serve(['--data', data]);
    await gateOn(node, 5);
    await node.stop();
    const path = join(data, 'weir.db');
    damage(path);
    const before = fs.readFileSync(path);
    const { code, out, err } = await weir(['serve', '--data', data, '--port', '0', '--json']);
    const told = JSON.parse(out);
    expect([code, told.code, told.fix.includes('backup'), err, fs.readFileSync(path).equals(before)]).toEqual([
      2,
      'store_damaged',
      true,
      '',
      true,
    ]);
  });
});

describe('a node that was killed, and whose log is gone', () => {
  it('names the rows that are missing and does not start, unless it is to go on without them', async () => {
    const data = join(temporaryFolder(), 'data');
    const first = await serve(['--data', data]);
    const { key } = await gateOn(first, 5);
    await first.stop();
    const second = await serve(['--data', data]);
    const made = await ask(second, 'POST', '/api/contracts/templates/rate-limiter/deploy', key, { slug: 'edge' });
    await second.stop('SIGKILL');
    fs.rmSync(join(data, 'weir.db-wal'));
    const { code, out, err } = await weir(['serve', '--data', data, '--port', '0']);
    const again = await serve(['--data', data, '--allow', 'lost-rows']);
    const record = await recordOf(again, key);
    const { rows } = (await ask(again, 'GET', '/api/chain/edge/state', key)).body;
    const { seq, kind, lost_to_seq } = rows.at(-1);
    const last = { seq, kind, lost_to_seq };
    const facts = JSON.parse(again.lines[0]!);
    await again.stop();
    expect({ made: made.status, code, out, err, lost: facts.lost, record, last }).toEqual({
      made: 201,
      code: 2,
      out: '',
      err: expect.stringMatching(
        /lacks rows that were acknowledged.*\n {2}why {2}Missing: row 3 of edge\.\n {2}fix .*--allow lost-rows/,
      ),
      lost: [{ machine: 'edge', from_seq: 3, to_seq: 3 }],
      record: expect.objectContaining({ valid: true, rows: 3 }),
      last: { seq: 3, kind: 'rows_lost', lost_to_seq: 3 },
    });
  });
});

interface Told {
  readonly status: number;
  readonly body: any;
}

/** A machine `edge` with a contract of its own. */
async function gateOn(node: Serving, threshold: number, within = 1000): Promise<{ key: string; contract: string }> {
  const { key } = (await ask(node, 'POST', '/api/demo-key/mint')).body;
  await ask(node, 'POST', '/api/chain/state-machines', key, { slug: 'edge' });
  const body = { slug: 'edge', threshold, within };
  const deployed = await ask(node, 'POST', '/api/contracts/templates/rate-limiter/deploy', key, body);
  return { key, contract: deployed.body.contract.id };
}

/** Moves a contract to and fro until that is refused. */
async function moveUntilRefused(node: Serving, key: string, contract: string) {
  const path = `/api/chain/edge/contracts/${contract}/transition`;
  const acknowledged: number[] = [];
  for (let n = 0; ; n += 1) {
    const to = n % 2 === 0 ? 'limiting' : 'allowing';
    const told = await ask(node, 'POST', path, key, { to, hold_cycles: 1000 });
    if (told.status !== 200) return { acknowledged, refused: told };
    acknowledged.push(told.body.seq);
  }
}

async function recordOf(node: Serving, key: string): Promise<{ valid: boolean; rows: number }> {
  const { body } = await ask(node, 'GET', '/api/updates/pubkey');
  const exported = await fetch(`${node.url}/api/chain/edge/state?format=ndjson`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return verifyExport(await exported.text(), { pinned: publicKeyFrom(body.public_key) });
}

async function ask({ url }: Serving, method: string, path: string, key?: string, body?: object): Promise<Told> {
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

function overwrite(path: string, at: number, text: string): void {
  const file = fs.openSync(path, 'r+');
  fs.writeSync(file, Buffer.from(text, 'latin1'), 0, undefined, at);
  fs.closeSync(file);
}

/** Leaves a few pages, so that the node finds the disk full while it works. */
function fillUp(path: string): void {
  const file = fs.openSync(path, 'w');
  try {
    for (;;) fs.writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    const { size } = fs.fstatSync(file);
    fs.ftruncateSync(file, Math.max(0, size - 64 * 4096));
  } finally {
    fs.closeSync(file);
  }
}

function canMount(): boolean {
  const trial = fs.mkdtempSync('/tmp/weir-mount-');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', trial], { stdio: 'ignore' });
    execFileSync('umount', [trial]);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmdirSync(trial);
  }
}
