// Runs the blocks of a page in one folder, as a reader would: they print what stands below them. `…` stands for what differs from run to run.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from './left-behind.js';
import { freePort, loopback } from './loopback.js';

export const root = resolve(import.meta.dirname, '..');
export const LIVE_PAGE = 'src/cli/topics/live.md';
export const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

export interface Block {
  readonly language: string;
  readonly text: string;
  /** What stands in the `text` block right below it, if there is one. */
  readonly shown: string | undefined;
}

export function blocksOf(page: string): Block[] {
  const fences = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
  return fences.flatMap(({ language, text }, index) => {
    if (language !== 'sh' && language !== 'ts') return [];
    const below = fences[index + 1];
    return [{ language, text, shown: below?.language === 'text' ? below.text : undefined }];
  });
}
const titleOf = ({ text }: Block) => text.split('\n').find((line) => line !== '') ?? '';

export const folder = temporaryFolder('weir readme ');
/** A limiter of another make, for who asks what stands behind a URL. */
let limited: string;

beforeAll(async () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'weir'), `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"\n`);
  chmodSync(join(bin, 'weir'), 0o755);
  mkdirSync(join(folder, 'node_modules/@weir'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/@weir/cli'));
  // Whoever writes machines, and operators on the rows of a run, has XState and RxJS of their own.
  for (const name of ['rxjs', 'xstate'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(join(root, 'scenarios'), join(folder, 'scenarios'));
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(folder, name), text);
  const app = express().use(rateLimit({ windowMs: 1_000, limit: 10, standardHeaders: false, legacyHeaders: false }));
  app.get('/', (_, response) => void response.send('ok'));
  limited = (await loopback(createServer(app))).url;
});

/** Tests of its blocks in their order. @returns what they have printed so far */
export function runsItsBlocks(blocks: readonly Block[]): readonly string[] {
  const printed: string[] = [];
  it.each(blocks.map((block) => [titleOf(block), block] as const))(
    'a block of the page runs: %s',
    async (_title, block) => {
      const out = await runBlock(block);
      printed.push(out);
      if (block.shown !== undefined) expect(out).toMatch(patternOf(block.shown));
    },
  );
  return printed;
}

/** What a reader has at hand in the place of these names. */
const minute = (n: number) => `2026-03-01T10:${String(n).padStart(2, '0')}:00Z`;
const logs: Record<string, string> = {
  'old.conf': textOf('scenarios/gateway/before.conf'),
  'nginx.conf': textOf('scenarios/gateway/before.conf'),
  'new.conf': textOf('scenarios/gateway/after.conf'),
  'access.log': Array.from(
    { length: 150 },
    (_, n) =>
      `10.0.0.${n % 3} - - [01/Mar/2026:10:00:0${n % 10} +0000] "${n % 5 === 0 ? 'POST' : 'GET'} /${n} HTTP/1.1" 200 12 "-" "-" "203.0.113.${n % 7}"\n`,
  ).join(''),
  'own.log': Array.from(
    { length: 20 },
    (_, n) => `10.0.0.${n % 3} example.org [2026-03-01T10:00:${10 + n}+00:00] "GET /${n} HTTP/1.1" 200\n`,
  ).join(''),
  'calls.csv': `TIMESTAMP,tokens\n${Array.from({ length: 20 }, (_, n) => `${minute(n)},${n}\n`).join('')}`,
  'visits.tsv': `host\ttime\n${Array.from({ length: 20 }, (_, n) => `h${n % 2}\t${807256800 + n}\n`).join('')}`,
  'counts.csv': `t_ms,n\n${Array.from({ length: 20 }, (_, n) => `${1_772_000_000_000 + 777 * n},${n}\n`).join('')}`,
  'minutes.csv': `period,count\n${Array.from({ length: 20 }, (_, n) => `${minute(n)},${100 * n}\n`).join('')}`,
};

const INVALID = 4;

export async function runBlock({ language, text }: Block): Promise<string> {
  if (language === 'sh') {
    // Another one for each block: one that was free when the first block ran may be somebody else's by now.
    const port = await freePort();
    const script = text
      .replace('--cycle-ms 100', '--cycle-ms 50')
      .replace('--budget 200', '--budget 60')
      .replace('=60..160:20', '=60..160:100')
      .replaceAll('8080', new URL(limited).port)
      .replaceAll('7770', String(port))
      .replace('weir serve ', `weir serve --port ${port} `);
    return bash(`export WEIR_URL=http://127.0.0.1:${port}\n${script}`);
  }
  writeFileSync(join(folder, 'example.mjs'), text);
  return bash(`"${process.execPath}" example.mjs`);
}

/** Runs a script to its end. A busy machine makes a live run invalid, which is honest, and no fault of the README: then at slower cycles. */
export async function bash(script: string, attempts = 4): Promise<string> {
  const env = {
    ...process.env,
    HOME: folder,
    NO_COLOR: '1',
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  };
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  // That no rule is named beside much other work is an answer, too.
  if (code === INVALID && script.includes('weir identify')) return out;
  if (code === INVALID && attempts > 1) {
    return bash(
      script.replace(/--cycle-ms (\d+)/, (_, ms) => `--cycle-ms ${2 * ms}`),
      attempts - 1,
    );
  }
  if (code !== 0) throw new Error(`exit ${code} of:\n${script}\n${out}\n${err}`);
  return out;
}

export function patternOf(shown: string): RegExp {
  const words = shown
    .trim()
    .split('\n')
    .map((line) =>
      line === '…'
        ? '[^]*'
        : line
            .split('…')
            .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ {2,}/g, ' +'))
            .join('.*'),
    );
  return new RegExp(words.join('\n'));
}
