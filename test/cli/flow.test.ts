import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { begin, personAt, run, serve, temporaryFolder, weirHere } from './command-line.js';

const node = await serve(['--data', join(temporaryFolder(), 'data')]);

it('the commands alone lead from no key to a gate that closes and opens, and to a record that is verified', async () => {
  const config = temporaryFolder();
  const env = { WEIR_CONFIG: config, WEIR_URL: node.url };
  const ask = async (...args: string[]) => {
    const { code, out, err } = await weirHere([...args, '--json'], env);
    if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${out}${err}`);
    return JSON.parse(out);
  };
  const minted = await ask('node', 'mint');
  await ask('node', 'machine', 'create', 'edge', '--set', 'is_public=true');
  const { contract } = await ask('node', 'deploy', 'edge', '--threshold', '5', '--within', '10');
  const follow = begin('node follow edge --type rate_restored --count 1 --after 0 --json', env);
  const burst = await ask('node', 'event', 'edge', '--count', '6');
  const restored = JSON.parse(await follow.line(() => true));
  const gate = await weirHere(['node', 'gate', 'edge'], env);
  const moved = await ask('node', 'transition', 'edge', 'limiting', '--for', '100000');
  const closed = await weirHere(['node', 'gate', 'edge', '--json'], env);
  const exported = await ask('node', 'record', 'edge', '--out', join(config, 'edge.ndjson'));
  const verified = await ask('verify', join(config, 'edge.ndjson'));
  const active = await ask('node', 'active', '--within', '3600');

  expect({
    mint: [typeof minted.key, minted.ok],
    deployed: [contract.currentState, contract.threshold, contract.within],
    burst: burst.contracts.map(({ admitted, limited, state }: Record<string, unknown>) => [admitted, limited, state]),
    restored: [restored.type, restored.data.contract_id, restored.data.state],
    gate: [gate.code, gate.out.split(':')[0]],
    moved: [moved.previous_state, moved.new_state, moved.emitted],
    closed: [closed.code, JSON.parse(closed.out).decision],
    exported: [exported.ok, exported.bytes > 1000],
    verified: [verified.valid, verified.rows, verified.checkpoint.pinned, verified.checkpoint.signed_by],
    active: active.machines.map(({ slug, transitions }: Record<string, unknown>) => [slug, transitions]),
  }).toEqual({
    mint: ['string', true],
    deployed: ['allowing', 5, 10],
    burst: [[5, 1, 'limiting']],
    restored: ['weir.rate_restored', contract.id, 'allowing'],
    gate: [0, 'admitted'],
    moved: ['allowing', 'limiting', ['rate_limited']],
    closed: [1, 'limited'],
    exported: [true, true],
    verified: [true, 5, true, node.fingerprint],
    active: [['edge', 3]],
  });
});

it('a window given as a time is said in both units, to the nearest cycle, and a wait is said in seconds', async () => {
  const env = await personAt(node.url, 'timed');
  const { cycle_ms: cycleMs } = JSON.parse((await weirHere(['node', 'clock', '--json'], env)).out);
  const deployed = await weirHere(`node deploy timed --threshold 1 --within ${100 * cycleMs + 1}ms`, env);
  await weirHere(['node', 'gate', 'timed'], env);
  const { out } = await weirHere(['node', 'gate', 'timed'], env);
  expect([deployed.out, deployed.err, out]).toEqual([
    expect.stringMatching(new RegExp(`within +${(100 * cycleMs) / 1000} s \\(100 cycles\\)`)),
    `weir: A window of ${100 * cycleMs + 1}ms is no whole number of cycles of ${cycleMs} ms. The nearest is used: ${(100 * cycleMs) / 1000} s, 100 cycles.\n`,
    expect.stringMatching(/^limited: limiting, 2 requests in the window, limit 1\. Retry in [\d.]+ s\n$/),
  ]);
});

it('limits are shown as --limit takes them, and a candidate that is promoted takes the place of the first', async () => {
  const env = await personAt(node.url, 'changing');
  await weirHere(['node', 'deploy', 'changing', '--limit', 'nginx 10r/s burst=5'], env);
  const { out: checked } = await weirHere(['node', 'candidate', 'changing', '--limit', 'gcra 10/s burst=2'], env);
  const { out: promoted } = await weirHere(['node', 'promote', 'changing'], env);
  const [, shown = ''] =
    /limiter +(nginx_limit_req .*)$/m.exec((await weirHere(['node', 'candidate', 'changing'], env)).out) ?? [];
  const again = await weirHere(['node', 'change', 'changing', '--limit', shown], env);
  await weirHere(['node', 'machine', 'delete', 'changing'], env);
  const gone = await weirHere(['node', 'gate', 'changing'], env);
  expect(checked).toMatch(/^candidate +gcra T_ms=100 tau_ms=200$/m);
  expect(promoted).toMatch(/^rule +nginx_limit_req burst=5 rate_1000=10000 .*gcra T_ms=100 tau_ms=200$/m);
  expect([again.code, again.out]).toEqual([
    0,
    expect.stringMatching(/^rule +gcra T_ms=100 tau_ms=200 +nginx_limit_req/m),
  ]);
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('The machine changing was deleted.')]);
});

it('a candidate has what is not given from the contract', async () => {
  const env = await personAt(node.url, 'partly');
  await weirHere(['node', 'deploy', 'partly', '--threshold', '77', '--within', '30'], env);
  const candidates: string[] = [];
  for (const given of [
    ['--threshold', '10'],
    ['--within', '5'],
    ['--threshold', '10', '--within', '5'],
  ]) {
    const { out, err } = await weirHere(['node', 'candidate', 'partly', ...given], env);
    candidates.push(/^candidate .* (\d+ in \d+ cycles)$/m.exec(out)?.[1] ?? err);
  }
  expect(candidates).toEqual(['10 in 30 cycles', '77 in 5 cycles', '10 in 5 cycles']);
  await weirHere(['node', 'change', 'partly', '--limit', 'gcra 10/s burst=2'], env);
  const refused = await weirHere(['node', 'candidate', 'partly', '--threshold', '10'], env);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('this contract follows gcra')]);
});

it('a contract with keys has a gate for each client', async () => {
  const env = await personAt(node.url, 'clients');
  const keyed = '--keyed 9 --set keyed.overflow=share';
  const deployed = await weirHere(`node deploy clients --threshold 1 --within 10000 ${keyed} --json`, env);
  const ends: [number | null, string][] = [];
  for (const args of [['--client', 'ann'], ['--client', 'ann'], ['--client', 'bob'], []]) {
    const { code, out, err } = await weirHere(['node', 'gate', 'clients', ...args], env);
    ends.push([code, /^(admitted|limited)|fix +.*/.exec(out || err)?.[0] ?? err]);
  }
  const counted = await weirHere(['node', 'event', 'clients', '--client', 'eve', '--count', '3', '--json'], env);
  expect(JSON.parse(deployed.out).contract.keyed).toMatchObject({ max_keys: 9, overflow: 'share', idle_cycles: 60 });
  expect(ends).toEqual([
    [0, 'admitted'],
    [1, 'limited'],
    [0, 'admitted'],
    [2, 'fix  Say who asks: --client 203.0.113.7.'],
  ]);
  expect(JSON.parse(counted.out).contracts).toMatchObject([
    { key: expect.stringMatching(/^[0-9a-f]{32}$/), admitted: 1, limited: 2 },
  ]);
});

it('the commands keep keys and pins in files for their user alone', async () => {
  const config = join(temporaryFolder(), 'config');
  const env = { WEIR_CONFIG: config, WEIR_URL: node.url };
  const { out } = await weirHere(['node', 'mint', '--json'], env);
  await weirHere(['node', 'session'], env);
  const folder = join(config, `${new URL(node.url).host.replace(':', '_')}-*`).replace(config, '');
  const { out: listed } = await run('sh', ['-c', `cd ${config}${folder} && ls -1`]);
  const { out: path } = await run('sh', ['-c', `cd ${config}${folder} && pwd`]);
  const files = listed.trim().split('\n');
  const modes = [config, path.trim(), ...files.map((file) => join(path.trim(), file))].map(
    (one) => statSync(one).mode & 0o777,
  );
  expect({ files, modes }).toEqual({
    files: ['key.json', 'pin.json', 'session.json'],
    modes: [0o700, 0o700, 0o600, 0o600, 0o600],
  });
  expect(readFileSync(join(path.trim(), 'key.json'), 'utf8')).toContain(JSON.parse(out).key);
});

it('weir node mint puts the key before aside when it mints another one', async () => {
  const env = { WEIR_CONFIG: temporaryFolder(), WEIR_URL: node.url };
  const first = JSON.parse((await weirHere(['node', 'mint', '--json'], env)).out);
  const second = await weirHere(['node', 'mint'], env);
  expect([second.code, second.err.includes(`key-${first.key_id}.json`)]).toEqual([0, true]);
});

// biome-ignore format: one case a line
it.each([
  ['machine list', ['node', 'machine', 'list'], (answer: Answer) => Array.isArray(answer['machines'])],
  ['inspect', ['node', 'inspect'], (answer: Answer) => (answer['template'] as Answer)['name'] === 'rate_limiter'],
  ['operators', ['node', 'operators'], (answer: Answer) => Number(answer['count']) > 1],
  ['operators <id>', ['node', 'operators', 'KO42'], (answer: Answer) => (answer['operator'] as Answer)['id'] === 'KO42'],
  ['endpoints', ['node', 'endpoints'], (answer: Answer) => Number(answer['count']) > 20],
  ['clock', ['node', 'clock'], (answer: Answer) => answer['cycle_ms'] === 50],
  ['active', ['node', 'active', '--within', '1'], (answer: Answer) => answer['window_cycles'] === 1],
])('%s --json is the answer of the node', async (_name, args, holds) => {
  const { out, code } = await weirHere([...args, '--json', '--url', node.url], { WEIR_CONFIG: temporaryFolder() });
  expect([code, holds(JSON.parse(out)), out.split('\n').length]).toEqual([0, true, 2]);
});

it('weir node contracts shows the contracts of a machine in pages', async () => {
  const env = await personAt(node.url, 'shown');
  for (let n = 0; n < 3; n += 1) await weirHere(['node', 'deploy', 'shown'], env);
  const first = await weirHere(['node', 'contracts', 'shown', '--top', '2'], env);
  const [, after] = /there are more: --after ([0-9a-f]{16})/.exec(first.err)!;
  const second = await weirHere(['node', 'contracts', 'shown', '--after', after!, '--json'], env);
  const { contracts, next } = JSON.parse(second.out);
  const shown = await weirHere(['node', 'machine', 'show', 'shown'], env);
  expect([first.out.split('\n').length, contracts.length, next]).toEqual([1 + 2 + 1, 1, undefined]);
  expect(shown.out).toMatch(/contract count +3/);
});

it('weir node shift projects operators with the key of a person', async () => {
  const env = await personAt(node.url);
  const { out } = await weirHere(['node', 'shift', '--count', '2', '--cycle', '0', '--set', 'S=101', '--json'], env);
  const { projection } = JSON.parse(out);
  expect(projection.map((step: Answer) => [step['cycle'], step['operator']])).toEqual([
    [0, 'KO42'],
    [1, 'KO42'],
  ]);
  expect(projection[0].result).toBe(101);
});

type Answer = Record<string, unknown>;
