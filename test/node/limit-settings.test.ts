import { expect, it } from 'vitest';
import { limitsFrom } from '../../src/node/limit-settings.js';
import { defaultLimits } from '../../src/node/limits.js';
import { failureOf } from '../failures.js';
import { startRunning } from './running.js';

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
  await node.close();
  const shown = names.map((name) => {
    const [bound = '', isOnNode] = name.split('.');
    const { most, threshold, on_node } = body[bound];
    return `${name}=${isOnNode === undefined ? (most ?? threshold) : on_node}`;
  });
  expect(shown).toEqual(settings);
});

const refusalOf = (setting: string) => failureOf(() => limitsFrom([setting]))!;
