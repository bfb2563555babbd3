// What 0.2.0 wrote, read by this version: a data folder that it left when it was stopped, a record that it exported, its scenarios.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'node:v8';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { LIMITED, upgraded } from '../../src/limiter/rule/rule.js';
import { ruleOf } from '../../src/limiter/rule/rule-definition.js';
import { countsFromCells } from '../../src/store/state-codec.js';
import { loadScenario, simulate, verifyRecord } from '../../src/weir.js';
import { serve, temporaryFolder, weir } from '../cli/command-line.js';
import { rules } from '../limiter/rule/every-rule.js';

const written = join(import.meta.dirname, '0.2');
const rows = readFileSync(join(written, 'record.ndjson'), 'utf8').trim().split('\n').slice(0, -1);
const FINGERPRINT = 'SHA256:vYM6O6cnPS55fMfUxPaunns91LHf1raV6XkHSb9MJQg';
const KEY = 'weir_VITi57Sq40qh-D_yR6aPB8yUcZmEkE8E1IsIOcFosBI';
/** Its keys expire a month later, and its windows hold what came before. */
const STOPPED_MS = 1_795_549_248_774;
const preload = new URL('../node/shifted-date.mjs', import.meta.url).href;

it('a record of 0.2 holds, against the key of its node', async () => {
  const { code, out } = await weir(['verify', join(written, 'record.ndjson'), '--pin', FINGERPRINT]);
  expect([code, out]).toEqual([0, expect.stringContaining('29 rows, 23 firings computed again')]);
});

it('a node goes on where 0.2 has ended: keys, counts, states, holds and rules', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  copyFileSync(join(written, 'node.json'), join(data, 'node.json'));
  for (const name of ['weir.db', 'weir.heads'])
    writeFileSync(join(data, name), gunzipSync(readFileSync(join(written, `${name}.gz`))), { mode: 0o600 });
  const shift = join(folder, 'shift');
  // Just before: a node starts no earlier than its newest stored cycle, and its cycles run from there.
  writeFileSync(shift, String(STOPPED_MS - 600_000 - Date.now()));
  const node = await serve(['--data', data], { NODE_OPTIONS: `--import=${preload}`, WEIR_TEST_SHIFT: shift });
  const ask = async (path: string, body?: object) =>
    fetch(`${node.url}/api/chain/edge/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const { contracts } = (await (await ask('contracts')).json()) as any;
  const { keys } = (await (await ask('contracts/bac70e91a3af6c5b/keys')).json()) as any;
  const event = { type: 'request', count: 1, key: 'bob' };
  const { contracts: decided } = (await (await ask('event', event)).json()) as any;
  const exported = await (await ask('state?format=ndjson')).text();
  await node.stop();
  expect(contracts.map((one: any) => [one.threshold, one.within, one.rule, one.shadow])).toEqual([
    [5, 20, undefined, undefined],
    [3, 400, undefined, undefined],
    [2, undefined, 'nginx_limit_req', undefined],
    [3, undefined, 'gcra', undefined],
    [2, 100, undefined, true],
  ]);
  // Held for hours, and in a window of 20 s, unless this machine took as long to start; the others may admit again by now.
  const [held, inWindow] = decided;
  expect([held.state, held.admitted, keys[0]?.key ?? 'bob', inWindow.key]).toEqual(['limiting', 0, 'bob', 'bob']);
  expect(inWindow.admitted).toBe(inWindow.count > 3 ? 0 : 1);
  expect(decided.map(({ key }: any) => key)).toContain('65ce83bf51924272639fbfb8f5d6e411');
  expect(decided.at(-1)).toMatchObject({ admitted: 1 });
  expect(exported.split('\n').slice(0, rows.length)).toEqual(rows);
  expect(await verifyRecord(exported, FINGERPRINT)).toMatchObject({ valid: true });
});

/** States of every rule after some requests, and what 0.2 decided next: `gap cost` in ms, and delays in ms, -1 for refused. */
const states: { name: string; fromMs: number; state: string; asked: string; decided: string }[] = JSON.parse(
  gunzipSync(readFileSync(join(written, 'rule-states.json.gz'))).toString(),
);

it.each(Object.keys(rules).filter((name) => states.some((one) => one.name === name)))(
  'a rule goes on where 0.2 has stopped: %s',
  (name) => {
    const rule = ruleOf(rules[name]);
    for (const { fromMs, state, asked, decided } of states.filter((one) => one.name === name)) {
      const kept = upgraded(rule, countsFromCells(deserialize(Buffer.from(state, 'base64'))) as object);
      const numbers = asked.split(' ').map(Number);
      const seen = decided.split(' ').map((_, i) => {
        const delay = rule.decide(kept, fromMs + numbers[2 * i]!, numbers[2 * i + 1]!, 40);
        return delay === LIMITED ? -1 : Math.round(delay * 1000) / 1000;
      });
      expect(seen.join(' ')).toBe(decided);
    }
  },
);

/** As 0.2.0 gave them for the same files. */
it.each([
  ['metastable', 869, 0],
  ['nginx-burst', 110, 0],
])('the scenario %s gives the figures of 0.2', async (name, admitted, limited) => {
  const { outcome } = await simulate(await loadScenario(`scenarios/${name}.yaml`));
  expect([outcome.admitted, outcome.limited]).toEqual([admitted, limited]);
});
