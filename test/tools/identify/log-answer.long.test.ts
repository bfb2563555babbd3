// What logs show of the limiter that wrote them: made by models in virtual time, and by a real nginx (skipped where it is not installed).
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { documentText } from '../../../src/report/terminal-blocks.js';
import { readAccessLog } from '../../../src/tools/identify/access-log.js';
import { answerDocument } from '../../../src/tools/identify/answer-document.js';
import { answerOfLog } from '../../../src/tools/identify/log-answer.js';
import { few } from '../../draws.js';
import { isInstalled, startNginx } from '../../harness/live/real-servers.js';
import { temporaryFolder } from '../../left-behind.js';
import { limiterOf } from './virtual.js';

const folder = temporaryFolder();

async function answered(lines: readonly string[], format?: string) {
  const path = join(folder, 'access.log');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { answer } = answerOfLog(await readAccessLog(path, { log: { format } }));
  return { ...answer, structures: answer.rules.map(({ structure }) => structure) };
}

const FROM = Date.UTC(2026, 0, 5, 10);

it('a log without a refusal has no larger budget to ask for', async () => {
  const { verdict, remarks } = await answered(['time,status', `${FROM / 1000},200`]);
  expect(verdict).toBe('never limited');
  expect(remarks).toContain('None of 1 request was refused: either there is no limit, or it is higher.');
});

/** Bursts of up to twice the limit, silences of up to two windows between them; when and how each is answered. */
function traffic(
  definition: RuleDefinition,
  windowMs: number,
  limit: number,
  seed = 1,
): { ms: number; status: number }[] {
  const random = new RandomStream(seed, 'log');
  const decide = limiterOf(definition, 0);
  let ms = FROM;
  return Array.from({ length: 30 }, () => {
    ms += Math.round(2 * windowMs * random.uniform());
    return Array.from({ length: 1 + Math.floor(2 * limit * random.uniform()) }, () => {
      ms += Math.round((random.uniform() * windowMs) / 20);
      return { ms, status: decide(ms, 'a') === LIMITED ? 429 : 200 };
    });
  }).flat();
}

const inMs = ({ ms, status }: { ms: number; status: number }) =>
  `{"time":"${new Date(ms).toISOString()}","client":"192.0.2.1","status":${status},"duration_ms":0}`;
const inSeconds = ({ ms, status }: { ms: number; status: number }) =>
  `192.0.2.1 - - [05/Jan/2026:${new Date(ms).toISOString().slice(11, 19)} +0000] "GET / HTTP/1.1" ${status} 2`;

const fixed = (windowMs: number): RuleDefinition => ({
  primitive: 'fixed_window',
  params: { limit: 6, window_ms: windowMs },
});
const bucket: RuleDefinition = { primitive: 'token_bucket', params: { rate: 1, per_ms: 10_000, capacity: 6 } };

it('a window is named from a log in ms', async () => {
  const { verdict, structures, rules } = await answered(traffic(fixed(10_000), 10_000, 6).map(inMs));
  expect([verdict, structures]).toEqual(['identified', ['fixed']]);
  const { limit, window_ms } = rules[0]!.parameters;
  expect([limit!.value, window_ms!.value]).toEqual([6, 10_000]);
});

it('a window of a second is not named from a log in whole seconds', async () => {
  const { verdict, rules, remarks } = await answered(traffic(fixed(1_000), 1_000, 6).map(inSeconds));
  expect([verdict, rules]).toEqual(['undecided', []]);
  expect(remarks.join(' ')).toContain('Times are known to 1000 ms.');
});

it.each(few([1, 2, 3], 1))('a window of a minute gets no other name from a log in whole seconds: %i', async (seed) => {
  const { verdict, structures } = await answered(traffic(fixed(60_000), 60_000, 6, seed).map(inSeconds));
  expect(['ambiguous', 'undecided']).toContain(verdict);
  expect(structures.length === 0 || structures.includes('fixed'), structures.join()).toBe(true);
});

it('a bucket and a queue are not told apart where the log has no durations, and what would tell is said', async () => {
  const answer = await answered(traffic(bucket, 60_000, 6).map(inSeconds));
  expect([answer.verdict, answer.structures]).toEqual(['ambiguous', expect.arrayContaining(['bucket', 'queue/0'])]);
  expect(documentText(answerDocument(answer, 'a limiter'))).toMatch(/would distinguish .*\n.*holds/);
});

it.skipIf(!isInstalled('nginx')).each([
  ['nodelay', 'bucket'],
  ['', 'queue/0'],
])('what nginx did with burst=5 %s is named from its log', async (more, structure) => {
  const log = join(folder, 'nginx.log');
  const format = '$msec $remote_addr $status $request_time';
  const nginx = await startNginx(
    [`log_format own '${format}';`, 'limit_req_zone $binary_remote_addr zone=z:1m rate=5r/s;'],
    { '/': `limit_req zone=z burst=5 ${more};` },
    `access_log ${log} own;`,
  );
  try {
    const random = new RandomStream(2, 'requests');
    for (let burst = 0; burst < 12; burst += 1) {
      const n = 1 + Math.floor(14 * random.uniform());
      await Promise.all(Array.from({ length: n }, async () => (await fetch(nginx.url)).text()));
      await new Promise((resolve) => setTimeout(resolve, 1_500 * random.uniform()));
    }
  } finally {
    await nginx.close();
  }
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const { verdict, structures, rules } = await answered(lines, format);
  rmSync(log);
  // A busy machine leaves several, or none: a wrong one never.
  expect(structures.length === 0 || structures.includes(structure), structures.join()).toBe(true);
  if (verdict === 'identified') expect(rules[0]!.parameters['limit']!.value).toBe(6);
});
