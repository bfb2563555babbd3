// A `weir load` that is stopped for 150 ms and goes on: the limiter of a real node is judged by the requests that arrived. One that limits
// too little is found, and a right one is never accused.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Comparison, Outcome } from '../../../src/harness/outcome/outcome-schema.js';
import { begin, serve, temporaryFolder } from '../../cli/command-line.js';
import { few } from '../../draws.js';
import { metricsOf, seriesIn } from '../../node/asking.js';
import { gateOf, Holder } from '../../node/caller.js';

const CYCLE_MS = 100;
const STOPPED_MS = 150;
/** Runs until one is valid: a busy machine may send too late for a verdict, and the pause alone is too late for cycles of 100 ms. */
const ATTEMPTS = 2;

/** Each lets about a third of the requests pass; with ten times as much, nearly all. */
const limiters = {
  'a bucket in ms': (times: number) => ({ like: 'nginx', rate: `${20 * times}r/s`, burst: 5 * times, nodelay: true }),
  'a window of cycles': (times: number) => ({ threshold: 20 * times, within: 10 }),
  'a fixed window': (times: number) => ({ like: 'express-rate-limit', windowMs: 1000, limit: 20 * times }),
} as const;

const folder = temporaryFolder();
let made = 0;

const node = await serve(['--store', 'memory', '--cycle-ms', `${CYCLE_MS}`]);
const owner = await Holder.minted(node.url);

/** The path of the gate of a new contract. */
async function newGate(limiter: object): Promise<string> {
  made += 1;
  const slug = `stopped-${made}`;
  return gateOf(slug, await owner.contractOn(slug, 'like' in limiter ? { rule: limiter } : limiter));
}

/** The verdict on a new contract of the limiter, by a load that is stopped for a moment once the first requests were counted. */
async function verdictOn(limiter: object, expected: object): Promise<Comparison> {
  const path = await newGate(limiter);
  const target = { method: 'POST', path, headers: { authorization: `Bearer ${owner.key}` } };
  const arrivals = [{ model: 'constant', rate: 6 }];
  const scenario = join(folder, `${made}.yaml`);
  // JSON is YAML.
  writeFileSync(
    scenario,
    JSON.stringify({ question: 'Q?', duration: 40, cycle_ms: CYCLE_MS, limiter: expected, target, arrivals }),
  );
  const load = begin(['load', scenario, '--url', node.url, '--out', 'none', '--json']);
  const before = await decided();
  while ((await decided()) < before + 20) await sleep(20);
  load.child.kill('SIGSTOP');
  await sleep(STOPPED_MS);
  load.child.kill('SIGCONT');
  await load.ended;
  const told = JSON.parse(load.lines.join('\n')) as Outcome | readonly Outcome[];
  return [told].flat()[0]!.comparison!;
}

/** How many requests the node has decided. */
async function decided(): Promise<number> {
  const series = seriesIn(await metricsOf(node.url));
  return [...series].reduce((sum, [name, n]) => sum + (name.startsWith('weir_decisions_total{') ? n : 0), 0);
}

describe.each(few(Object.entries(limiters), 1))('%s', (_, limiter) => {
  it('a limiter that lets ten times as much pass is found', async () => {
    const { verdict, reason } = await verdictOn(limiter(10), limiter(1));
    expect(verdict, reason).toBe('node differs');
  });

  it('a right limiter is not accused', async () => {
    let found: string | undefined;
    for (let n = 0; n < ATTEMPTS && found !== 'agrees'; n += 1) {
      const { verdict, reason, differences } = await verdictOn(limiter(1), limiter(1));
      expect([verdict, differences], reason).toEqual([expect.not.stringContaining('differs'), []]);
      if (verdict === 'run invalid') expect(reason).toMatch(/later cycle|ms late|saturated|too many|no decision/);
      found = verdict;
    }
  });
});
