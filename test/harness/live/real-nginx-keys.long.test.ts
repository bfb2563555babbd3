// Many keys over a real nginx: which requests were limited is, key by key, what the model says of what arrived. WEIR_KEYS=100000 asks with
// so many; the suite with 500.
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeGate } from '../../../src/core/limiter/create-limiter.js';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { startOf } from '../../../src/core/time/cycle.js';
import type { Loopback } from '../../loopback.js';
import { someInTurn } from '../../node/caller.js';
import { startEdge } from '../../node/edge.js';
import type { Running as Node } from '../../node/running.js';
import { type App, gateways, startApp } from './gateway-servers.js';
import { isInstalled } from './real-servers.js';

const KEYS = Number(process.env['WEIR_KEYS'] ?? 500);
const AT_A_TIME = 64;
const HOUR_MS = 3_600_000;
/** The cycle at whose beginning the clock of the node is started. Each lasts longer than what happens in it. */
const FIRST = 500_000;
const LIMIT = { threshold: 1, within: 2 };

describe.skipIf(!isInstalled('nginx'))(`${KEYS} keys over nginx`, () => {
  let aheadMs = startOf(FIRST, HOUR_MS) - Date.now();
  const source = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  let node: Node;
  let app: App;
  let gateway: Loopback;
  let pool: Pool;
  beforeAll(async () => {
    // On a busy machine, too, the node answers each: the recipe is open while it does not.
    const overload = { afterMs: HOUR_MS, gateTurnMs: HOUR_MS, otherTurnMs: HOUR_MS };
    const { owner, key, ...edge } = await startEdge({ source, limits: { overload } });
    node = edge.node;
    const keyed = { max_keys: KEYS, idle_cycles: 10, overflow: 'refuse', store_keys: 'plain' };
    const contractId = await owner.deploy('edge', { ...LIMIT, keyed, gate: { key: { header: 'X-Api-Key' } } });
    app = await startApp();
    const places = { node: new URL(node.url).host, contractId, key, app: new URL(app.url).host };
    gateway = await gateways.nginx.start(places);
    pool = new Pool(gateway.url, { connections: AT_A_TIME });
  });
  afterAll(async () => {
    await pool?.close();
    await gateway?.close();
    await app?.close();
    await node?.close();
  });

  it('each key is limited as a limiter of its own would limit it', { timeout: 60_000 + KEYS * 20 }, async () => {
    const plan = planContract(rateLimiter(LIMIT));
    const models = Array.from({ length: KEYS }, () => makeGate(plan, FIRST));
    const figures = { requests: 0, admitted: 0, limited: 0, others: 0 };
    let wrong = 0;
    for (const cycle of [FIRST, FIRST + 1, FIRST + 3]) {
      aheadMs = startOf(cycle, HOUR_MS) + 1_000 - Date.now();
      const wanted = models.map((_, key) => wantedBy(key, cycle));
      const admitted = new Int32Array(KEYS);
      const asked = app.asked.length;
      await someInTurn(mixed(wanted), AT_A_TIME, async (key) => {
        const { statusCode, body } = await pool.request({
          path: '/',
          method: 'GET',
          headers: { 'x-api-key': `client-${key}` },
        });
        await body.dump();
        figures.requests += 1;
        if (statusCode === 200) admitted[key]! += 1;
        else if (statusCode === 429) figures.limited += 1;
        else figures.others += 1;
      });
      const arrived = new Int32Array(KEYS);
      for (const { key } of app.asked.slice(asked)) arrived[Number(key?.slice('client-'.length))]! += 1;
      for (const [key, model] of models.entries()) {
        figures.admitted += admitted[key]!;
        const expected = model.decide(wanted[key]!, cycle);
        if (admitted[key] !== expected || arrived[key] !== expected) wrong += 1;
      }
    }
    process.stdout.write(`${KEYS} keys over nginx: ${JSON.stringify(figures)}\n`);
    expect({ wrong, others: figures.others, sum: figures.admitted + figures.limited }).toEqual({
      wrong: 0,
      others: 0,
      sum: figures.requests,
    });
    expect(Math.min(figures.admitted, figures.limited)).toBeGreaterThan(KEYS / 4);
  });
});

/** 0 to 2 requests, as a hash of key and cycle has it. */
function wantedBy(key: number, cycle: number): number {
  const hash = Math.imul(key + 1, 0x9e3779b1) ^ Math.imul(cycle, 0x85ebca6b);
  return ((hash ^ (hash >>> 15)) >>> 3) % 3;
}

/** Each key as often as it wants, those of one key far from each other. */
function mixed(wanted: readonly number[]): number[] {
  const keys: number[] = [];
  for (let time = 0; time < 2; time += 1) {
    for (const [key, most] of wanted.entries()) if (time < most) keys.push(key);
  }
  return keys;
}
