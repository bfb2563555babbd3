// What an identification leaves in its folder, and what a later one reads from it.
//
//   evidence.ndjson   each request: key, sending, answer, decision      identify --from reads it
//   answer.json       the answer
//   scenario.yaml     the rule as the limiter of a scenario              simulate, load, sweep
//   index.html        the answers with the model over them
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { Failure } from '../schema/failure.js';
import type { Answer } from './answer.js';
import type { Seen } from './evidence.js';
import { evidencePage } from './evidence-page.js';
import type { Investigated } from './explanations.js';

const EVIDENCE = 'evidence.ndjson';

/** @throws Failure `unwritable_folder` */
export async function writeFindings(
  folder: string,
  target: string,
  found: Investigated,
  answer: Answer,
): Promise<string> {
  const path = resolve(folder);
  const lines = found.evidence.seen.map((one) => JSON.stringify(one));
  const scenario = scenarioOf(answer, target);
  try {
    await mkdir(path, { recursive: true });
    await Promise.all([
      writeFile(join(path, EVIDENCE), `${lines.join('\n')}\n`),
      writeFile(join(path, 'answer.json'), `${JSON.stringify(answer, undefined, 2)}\n`),
      writeFile(join(path, 'index.html'), evidencePage(target, found, answer)),
      ...(scenario === undefined ? [] : [writeFile(join(path, 'scenario.yaml'), scenario)]),
    ]);
  } catch (error) {
    throw new Failure('unwritable_folder', {
      what: `The findings could not be written to ${path}.`,
      why: (error as Error).message,
      fix: 'Choose another folder with --out.',
    });
  }
  return path;
}

/**
 * The requests of an earlier identification.
 * @throws Failure `invalid_input` for a file that is none
 */
export async function readEvidence(path: string): Promise<Seen[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const file = isFolder ? join(path, EVIDENCE) : path;
  const invalid = (why: string) =>
    new Failure('invalid_input', {
      what: `${file} is no evidence of an identification.`,
      why,
      fix: `Give the folder of a report of \`weir identify\`, or its ${EVIDENCE}.`,
    });
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw invalid(error.message);
  });
  const seen = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, k) => {
      try {
        const one = JSON.parse(line) as Seen;
        const answeredMs = one.answeredMs ?? Infinity;
        const isOne =
          typeof one.key === 'string' &&
          Number.isFinite(one.sentMs) &&
          answeredMs >= one.sentMs &&
          ['admitted', 'limited', 'unknown'].includes(one.decision);
        if (isOne) return { ...one, answeredMs };
      } catch {
        // Said below.
      }
      throw invalid(`Line ${k + 1} is no request with key, sentMs, answeredMs and decision.`);
    });
  if (seen.length === 0) throw invalid('It is empty.');
  return seen;
}

/** A scenario with the rule in it: a burst of twice the limit, and what comes afterwards. */
function scenarioOf({ rules: [rule] }: Answer, target: string): string | undefined {
  if (rule === undefined) return undefined;
  const { limit, window_ms: window, token_ms: token } = rule.parameters;
  const most = limit!.value;
  const spanMs = window?.value ?? (token?.value ?? 1_000) * most;
  const cycleMs = Math.min(86_400_000, Math.max(1, Math.round(spanMs / 20)));
  const body = {
    question: `What does the limiter of ${target} do with a burst of twice its limit?`,
    cycle_ms: cycleMs,
    duration: 100,
    limiter: rule.limiter,
    arrivals: [
      { model: 'constant', rate: Number((most / 40).toPrecision(3)) },
      { model: 'burst', burst_rate: Math.max(1, Math.round((2 * most) / 5)), at: 30, for: 5 },
    ],
  };
  return `# ${rule.words}, as \`weir identify\` found it.\n${stringify(body)}`;
}
