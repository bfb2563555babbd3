// What 0.1.0 wrote, read by this version: a data folder that it left when it was stopped, a record that it exported, its scenarios.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadScenario, simulate, verifyRecord } from '../../src/weir.js';
import { serve, temporaryFolder, weir } from '../cli/command-line.js';

const written = join(import.meta.dirname, '0.1');
const rows = readFileSync(join(written, 'record.ndjson'), 'utf8').trim().split('\n').slice(0, -1);
const FINGERPRINT = 'SHA256:Kfc2xFM8sWqj484QGQRaAwQ33/IzFKySx6ygr1miL2M';
const KEY = 'weir_eEm1-qxWTvvMBGS6q3IzKGKL1qXYnb1hftEBxxK9Ow8';

it('a record of 0.1 holds, against the key of its node', async () => {
  const { code, out } = await weir(['verify', join(written, 'record.ndjson'), '--pin', FINGERPRINT]);
  expect([code, out]).toEqual([0, expect.stringContaining('6 rows, 3 firings computed again')]);
});

it('a node goes on where 0.1 has ended: the same key, owner, contracts and rows, and a record that holds', async () => {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data, { mode: 0o700 });
  copyFileSync(join(written, 'node.json'), join(data, 'node.json'));
  writeFileSync(join(data, 'weir.db'), gunzipSync(readFileSync(join(written, 'weir.db.gz'))), { mode: 0o600 });
  const node = await serve(['--data', data]);
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    return fetch(`${node.url}/api/chain/edge/${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
  };
  const { contracts } = (await (await ask('contracts')).json()) as any;
  const { contracts: decided } = (await (await ask('event', { type: 'request', count: 9 })).json()) as any;
  const exported = await (await ask('state?format=ndjson')).text();
  await node.stop();
  // 0.1 counted in cycles of 50 ms, and so does who takes over its data. Its counts are long out of both windows.
  expect([
    contracts.map(({ threshold, within }: any) => [threshold, within]),
    decided.map(({ state, admitted, limited }: any) => [state, admitted, limited]),
  ]).toEqual([
    [
      [5, 20],
      [3, 400],
    ],
    [
      ['limiting', 5, 4],
      ['limiting', 3, 6],
    ],
  ]);
  expect(exported.split('\n').slice(0, rows.length)).toEqual(rows);
  expect(await verifyRecord(exported, FINGERPRINT)).toMatchObject({ valid: true, rows: 9 });
});

/** As 0.1.0 gave them for the same files. */
it.each([
  ['backpressure', 590, 5],
  ['burst', 160, 110],
  ['herd', 590, 327],
  ['retry-storm-cured', 608, 362],
  ['shop', 1_458, 14],
  ['spikes', 1_000, 200],
])('the scenario %s gives the figures of 0.1', async (name, admitted, limited) => {
  const { outcome } = await simulate(await loadScenario(`scenarios/${name}.yaml`));
  expect([outcome.admitted, outcome.limited]).toEqual([admitted, limited]);
});
