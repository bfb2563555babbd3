// `weir load` as a person runs it: a line for each cycle, a report, and what happens when it is stopped or the node goes away.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static } from 'typebox';
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../src/core/schema/compile-schema.js';
import { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { temporaryFiles } from '../left-behind.js';
import { begin, type Serving, serve, weir } from './command-line.js';

const { folder, file } = temporaryFiles();
const schema = compileSchema(Outcome);

function scenario(name: string, cycles: number): string {
  const traffic = 'limiter: { threshold: 9, within: 2 }\narrivals: [{ model: constant, rate: 1 }]\n';
  return file(`${name}.yaml`, `question: Q?\nduration: ${cycles}\n${traffic}`);
}
const long = scenario('long', 100_000);

/** The outcome in the folder of a run, and whether it fits its schema. */
function outcomeIn(out: string): { outcome: Static<typeof Outcome>; faults: readonly unknown[] } {
  const outcome = JSON.parse(readFileSync(join(out, 'outcome.json'), 'utf8'));
  return { outcome, faults: schema.errors(outcome) };
}

/** Resolves once a node has counted requests. */
async function counted({ url }: Serving): Promise<void> {
  const decided = /^weir_decisions_total\{[^}]*\} [1-9]/m;
  while (!decided.test(await (await fetch(`${url}/metrics`)).text()))
    await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('weir load', () => {
  it('starts a node of its own, compares, and leaves the whole report', async () => {
    const out = join(folder, 'own');
    const { code, out: told, err } = await weir(['load', scenario('own', 20), '--cycle-ms', '100', '--out', out]);
    expect(existsSync(out), err).toBe(true);
    const { outcome, faults } = outcomeIn(out);
    // A machine too busy to send in time makes the run invalid; then it says so.
    const agrees = outcome.comparison?.verdict === 'agrees';
    expect([code, faults, outcome.live?.sent]).toEqual([agrees ? 0 : 4, [], 20]);
    expect(told).toContain(`open it here: ${join(out, 'index.html')}`);
    for (const name of ['index.html', 'timeline.csv', 'predicted.ndjson', 'series.json', 'junit.xml', 'summary.md'])
      expect([name, existsSync(join(out, name))]).toEqual([name, true]);
  });

  it('stops on Ctrl-C, and reports what was measured, marked as partial', async () => {
    const node = await serve(['--store', 'memory']);
    const out = join(folder, 'stopped');
    const running = begin(['load', long, '--url', node.url, '--out', out]);
    await counted(node);
    await new Promise((resolve) => setTimeout(resolve, 500));
    running.child.kill('SIGINT');
    const code = await running.ended;
    const { outcome, faults } = outcomeIn(out);
    const { live } = outcome;
    expect([code, faults, outcome.partial]).toEqual([130, [], true]);
    expect(live?.sent).toBeGreaterThan(0);
    expect(live!.answered + live!.failed + live!.timed_out).toBe(live!.sent);
    await node.stop();
  });

  it('accounts for every request when the node is killed in the middle', async () => {
    const node = await serve(['--store', 'memory']);
    const out = join(folder, 'killed');
    const running = begin(['load', long, '--url', node.url, '--out', out]);
    await counted(node);
    await node.stop('SIGKILL');
    const code = await running.ended;
    const { outcome, faults } = outcomeIn(out);
    const { live, comparison } = outcome;
    expect([code, faults, comparison?.verdict]).toEqual([4, [], 'run invalid']);
    expect(comparison?.reason).toMatch(/went away|refused|closed/);
    expect(live!.answered + live!.failed + live!.timed_out).toBe(live!.sent);
  });

  it('mints one key for all scenarios, however many there are', async () => {
    const node = await serve(['--store', 'memory']);
    const short = Array.from({ length: 12 }, (_, k) => scenario(`short-${k}`, 2));
    const { code, out, err } = await weir(['load', ...short, '--url', node.url, '--out', 'none', '--json']);
    // More than a node mints for one address.
    expect([JSON.parse(out).length, [0, 4].includes(code ?? -1), err.includes('too_many_requests')]).toEqual([
      12,
      true,
      false,
    ]);
    await node.stop();
  });

  it('says that nobody listens there', async () => {
    const { code, err } = await weir(['load', long, '--url', 'http://127.0.0.1:9', '--out', 'none']);
    expect([code, err]).toEqual([5, expect.stringContaining('[node_unreachable]')]);
  });
});
