// What takes `weir simulate` long, or a process of its own: every shipped scenario, a run that is stopped, replications over threads.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { valueFaults } from '../../src/core/schema/value-faults.js';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import type { Series } from '../../src/harness/outcome/series.js';
import { ReportedOutcome } from '../../src/report/read-report.js';
import { temporaryFiles } from '../left-behind.js';
import { begin, weirHere } from './command-line.js';

const { folder, file } = temporaryFiles();
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape is what must not be there
const escapes = /\u001b/;

it('weir simulate runs every shipped scenario, with one table', async () => {
  const shipped = readdirSync('scenarios').filter((name) => name.endsWith('.yaml'));
  const { code, out, err } = await weirHere([
    'simulate',
    ...shipped.map((name) => join('scenarios', name)),
    '--out',
    'none',
  ]);
  const held = out.split('\n').filter((line) => /^\S* ?held /.test(line));
  // On a busy machine it takes more than ten seconds, and says how far it is.
  const said = err.replaceAll(/^.* \d+ % .*\n/gm, '');
  expect([code, said, held.length, escapes.test(out)]).toEqual([0, '', shipped.length, false]);
  expect(out).toContain(`All of ${shipped.length} runs held.`);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'weir simulate, stopped by %s, leaves what was done so far, marked, and says where',
  async (signal) => {
    const long = file(
      'long.yaml',
      // A rule decides one by one: few cycles in a second, and so a short outcome to read.
      'question: Q?\nduration: 50000000\ncontracts: 3\nlimiter: { primitive: gcra, params: { T_ms: 1, tau_ms: 100 } }\narrivals: [{ model: poisson, rate: 1000 }]\n',
    );
    const out = join(folder, signal);
    const running = begin(['simulate', long, '--out', out]);
    // The folder is made before the run begins.
    while (!existsSync(out)) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 300));
    running.child.kill(signal);
    const code = await running.ended;
    const outcome = JSON.parse(readFileSync(join(out, 'outcome.json'), 'utf8')) as Outcome;
    expect([code, valueFaults(ReportedOutcome, outcome), outcome.partial]).toEqual([
      signal === 'SIGINT' ? 130 : 143,
      [],
      true,
    ]);
    expect(outcome.last_cycle).toBeLessThan(50_000_000);
    expect(running.lines.join('\n')).toContain('stopped before its end');
    expect(running.lines.join('\n')).toContain(join(out, 'index.html'));
  },
);

it('weir simulate gives one digest and one band whether replications are spread over threads or not', async () => {
  const [one, two] = await Promise.all(
    ['1', '2'].map(async (threads) => {
      const out = join(folder, `band-${threads}`);
      await weirHere(`simulate scenarios/retry-storm-cured.yaml --replications 3 --workers ${threads} --out ${out}`);
      expect(readdirSync(join(out, 'charts'))).toEqual(
        expect.arrayContaining(['band.png', 'queue.png', 'replications.png']),
      );
      const { command: _, ...outcome } = JSON.parse(readFileSync(join(out, 'outcome.json'), 'utf8'));
      return {
        outcome: outcome as Outcome,
        series: JSON.parse(readFileSync(join(out, 'series.json'), 'utf8')) as Series,
      };
    }),
  );
  expect(one).toEqual(two);
  expect([one!.outcome.replications!.n, one!.outcome.digest]).toEqual([3, expect.stringMatching(/^sha256:/)]);
  expect(one!.series.band).toMatchObject({ runs: 3, stretch_cycles: 1 });
});
