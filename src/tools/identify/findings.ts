// The files that an identification writes, and that a later one reads.
//
//   evidence.ndjson   each request: key, sending, answer, decision      identify --from reads it
//   answer.json       the answer
//   scenario.yaml     the rule as the limiter of a scenario              simulate, load, sweep
//   index.html        the answers with the model over them
import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../core/files/make-folder.js';
import { Failure } from '../../core/schema/failure.js';
import type { Answer } from './answer.js';
import type { Seen } from './evidence.js';
import { evidencePage } from './evidence-page.js';
import type { Investigated } from './explanations.js';
import { followUpScenario, type Sent } from './follow-up-scenario.js';
import { identificationOf } from './identification.js';

const EVIDENCE = 'evidence.ndjson';

/** @throws Failure `unwritable_folder` */
export async function writeFindings(
  folder: string,
  target: string,
  found: Investigated,
  answer: Answer,
  sent?: Sent | undefined,
): Promise<string> {
  const path = resolve(folder);
  const lines = found.evidence.seen.map((one) => JSON.stringify(one));
  const identification = identificationOf(answer, found.evidence.seen, target);
  const scenario = followUpScenario(answer, target, found.evidence.seen, sent);
  try {
    makeFolder(path);
    await Promise.all([
      ...(found.evidence.uncertaintyMs > 0 ? [] : [writeFile(join(path, EVIDENCE), `${lines.join('\n')}\n`)]),
      writeFile(join(path, 'answer.json'), `${JSON.stringify(identification, undefined, 2)}\n`),
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

/** Undefined for another kind of file. @throws Failure `invalid_input` for a folder without it, and for unreadable lines */
export async function readEvidence(path: string): Promise<Seen[] | undefined> {
  const isFolder = (await statOf(path))?.isDirectory() === true;
  const file = isFolder ? join(path, EVIDENCE) : path;
  const invalid = (
    why: string,
    fix = `Give the folder of a report of \`weir identify\`, its ${EVIDENCE}, or an access log.`,
  ) => new Failure('invalid_input', { what: `${path} holds no evidence of an identification.`, why, fix });
  if (isFolder && (await statOf(join(path, 'outcome.json')))?.isFile()) {
    throw invalid(
      `${path} is the report of a run: it counts requests by cycle, and keeps no single ones.`,
      'Let `weir identify <url>` ask the same target: its folder keeps each request. Or give the access log of what was run against.',
    );
  }
  if (!isFolder && !(await beginsAsEvidence(path))) return undefined;
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
        // Reported below.
      }
      throw invalid(`Line ${k + 1} is not a request with key, sentMs, answeredMs and decision.`);
    });
  if (seen.length === 0) throw invalid('It is empty.');
  return seen;
}

const statOf = (path: string) => stat(path).catch(() => undefined);

async function beginsAsEvidence(path: string): Promise<boolean> {
  if (!(await statOf(path))?.isFile()) return false;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return /^\s*\{"key":.*"sentMs":/.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await file.close();
  }
}
