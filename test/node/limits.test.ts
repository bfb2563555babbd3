import { expect, it } from 'vitest';
import { limitsFrom } from '../../src/node/limit-settings.js';
import { defaultLimits } from '../../src/node/limits.js';
import { failureOf } from '../failures.js';
import { Caller, inTurn } from './caller.js';
import { startRunning } from './running.js';

it('the limits are listed for anyone, and for an owner with what they use', async () => {
  const node = await startRunning({
    limits: { machines: { perOwner: 3, onNode: 10 }, contracts: { perOwner: 2, onNode: 10 } },
  });
  const owner = node.owner();
  await owner.contractOn('m', { within: 7 });
  const callers = [new Caller(node.url), owner, node.owner('other')];
  const [stranger, own, other] = await inTurn(callers, async (caller) => (await caller.get('/api/limits')).body);
  const { machines, contracts, window_cycles, definition_bytes, rows } = own;
  expect([stranger.machines, stranger.contracts]).toEqual([
    { per: 'node', most: 3, on_node: 10, free_on_node: 9, refused: 0 },
    { per: 'node', most: 2, on_node: 10, free_on_node: 9, refused: 0 },
  ]);
  expect([machines, contracts]).toEqual([
    { per: 'node', most: 3, used: 1, left: 2, on_node: 10, free_on_node: 9, refused: 0 },
    { per: 'node', most: 2, used: 1, left: 1, on_node: 10, free_on_node: 9, refused: 0 },
  ]);
  expect([window_cycles.used, definition_bytes.used > 500, rows.used]).toEqual([7, true, 2]);
  expect([own.new_machines.left, own.definition_kib.left]).toEqual([999, 2_047]);
  expect([other.machines.used, other.streams.used, other.node.long_body_bytes]).toEqual([0, 0, 128 << 10]);
});

it.each<[string, object]>([
  ['rows', { rows: { perOwner: 4, onNode: 1_000 } }],
  // The rows of both creations and of one move have 1,297 bytes together, and with the other move 1,838.
  ['KiB of rows', { recordKib: { perOwner: 1.5, onNode: 1_000 } }],
])('machines of an owner whose records have all their %s are asked no more, and others go on', async (what, limits) => {
  const node = await startRunning({ limits });
  const told: unknown[] = [];
  for (const [slug, moves] of [
    ['owner', ['limiting', 'allowing']],
    ['other', []],
  ] as const) {
    const owner = node.owner(slug);
    const path = `/api/chain/${slug}/contracts/${await owner.contractOn(slug, {}, true)}`;
    for (const to of moves) told.push((await owner.post(`${path}/transition`, { to, hold_cycles: 1_000 })).status);
    const { status, body } = await owner.get(`${path}/gate`);
    told.push([status, body.code, body.detail?.includes(`have as many ${what} as they may`)]);
    told.push((await node.ask('GET', `/api/chain/${slug}/state`)).status);
  }
  expect(told).toEqual([200, 200, [422, 'limit_reached', true], 200, [200, undefined, undefined], 200]);
});

it('limits that are not named keep their defaults', () => {
  expect({ ...defaultLimits, ...limitsFrom([]) }).toEqual(defaultLimits);
  expect(limitsFrom(['rows=5', 'definition_kib=4096', 'rows=7', 'contracts.on_node=30000'])).toMatchObject({
    rows: { perOwner: 7, onNode: 100_000_000 },
    definitionKib: { threshold: 4_096, within: 60, onNode: 16_384 },
    contracts: { perOwner: 10_000, onNode: 30_000 },
  });
  expect(limitsFrom(['mint=20 in 1h']).mint).toEqual({ threshold: 20, within: '1h', onNode: 1_000 });
});

// biome-ignore format: one case a line
it.each([
  ['contract=5', 'There is no bound "contract" that can be set. Did you mean "contracts"?'],
  ['rows.on_nod=5', 'There is no bound "rows.on_nod" that can be set. Did you mean "rows.on_node"?'],
  ['__proto__=5', /^There is no bound "__proto__" that can be set. Those that can are: mint, mint.on_node, sessions, /],
  ['rows', '"rows" does not set rows. Give a whole number from 1 to 1000000000: rows=50000.'],
  ['rows=1e6', '"rows=1e6" does not set rows. Give a whole number from 1 to 1000000000: rows=50000.'],
  ['rows=10 in 1h', '"rows=10 in 1h" does not set rows. Give a whole number from 1 to 1000000000: rows=50000.'],
  ['mint=10 in 1h burst=3', '"mint=10 in 1h burst=3" does not set mint. Give a whole number from 1 to 1000000000, or off: mint=10.'],
  ['rows=0', '"rows=0" does not set rows. Give a whole number from 1 to 1000000000: rows=50000.'],
  ['rows=1=2', '"rows=1=2" does not set rows. Give a whole number from 1 to 1000000000: rows=50000.'],
  [
    'contracts=60000',
    'contracts=60000 for an owner is more than contracts.on_node=100000 leaves: an owner may have as many as are still free, so never more than half of that. Set contracts.on_node=120000 as well, or more.',
  ],
  ['sessions=4000', 'sessions=4000 for an owner is more than sessions.on_node=3000 leaves. Set sessions.on_node=4000 as well, or more.'],
])('the setting %s is refused in words', (setting, words) => {
  const { code, why, fix } = refusalOf(setting);
  expect(code).toBe('wrong_usage');
  if (typeof words === 'string') expect(`${why} ${fix}`).toBe(words);
  else expect(`${why} ${fix}`).toMatch(words);
});

it('every limit that can be set is one of /api/limits, and what is set stands there', async () => {
  const names = /are: (.*)\.$/.exec(refusalOf('x=1').fix ?? '')![1]!.split(', ');
  // Half of the room of all, so that each holds whatever the others are.
  const settings = names.map((name, index) => `${name}=${(name.endsWith('.on_node') ? 3_000 : 1_000) + index}`);
  const node = await startRunning({ limits: limitsFrom(settings) });
  const { body } = await node.ask('GET', '/api/limits');
  const shown = names.map((name) => {
    const [bound = '', isOnNode] = name.split('.');
    const { most, threshold, on_node } = body[bound];
    return `${name}=${isOnNode === undefined ? (most ?? threshold) : on_node}`;
  });
  expect(shown).toEqual(settings);
});

const refusalOf = (setting: string) => failureOf(() => limitsFrom([setting]))!;
