// The README and the topics are executed: the blocks of a page run in their order in one folder, as a reader would, and print what stands
// below them. `…` stands for what differs from run to run. Leaves `npm ci && npm start` and `npm test` to .ci/run, which walks as a newcomer does.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { topics } from '../src/cli/topics/topics.js';
import { clientKinds } from '../src/harness/clients/client-schema.js';
import { Scenario } from '../src/harness/scenario/scenario-schema.js';
import { arrivalKinds } from '../src/harness/traffic/arrival/arrival-schema.js';
import { weirHere } from './cli/command-line.js';
import { recordedLogs } from './harness/traffic/log/recorded.js';
import { temporaryFolder } from './left-behind.js';
import { freePort } from './loopback.js';

const root = resolve(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = textOf('README.md');

interface Block {
  readonly language: string;
  readonly text: string;
  /** What stands in the `text` block right below it, if there is one. */
  readonly shown: string | undefined;
}

function blocksOf(page: string): Block[] {
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
const walked = blocksOf(readme).filter(({ text }) => text.includes('npm ci'));
/** What the table of questions answers with. */
const typed = [...readme.matchAll(/^\| .*\? +\| `(weir [^`]+)`/gm)].map(([, command = '']) => command);
const titleOf = ({ text }: Block) => text.split('\n').find((line) => line !== '') ?? '';

const folder = temporaryFolder('weir readme ');
const printed: string[] = [];
/** A limiter of another make, for who asks what stands behind a URL. */
let limited: Server;

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
  limited = app.listen(0, '127.0.0.1');
  await once(limited, 'listening');
});
afterAll(() => limited.close());

const pages = ['README.md', ...topics.flatMap(({ path }) => path ?? [])];
/** The blocks of each page that no page before it has. */
const seen = new Set<string>();
const executed = pages.map((path) => {
  const fresh = blocksOf(textOf(path)).filter(({ text }) => !text.includes('npm ci') && !seen.has(text));
  for (const { text } of fresh) seen.add(text);
  return [path, fresh] as const;
});

describe.each(executed.filter(([, blocks]) => blocks.length > 0))('%s', (_, blocks) => {
  it.each(blocks.map((block) => [titleOf(block), block] as const))(
    'a block of the page runs: %s',
    async (_title, block) => {
      const out = await runBlock(block);
      printed.push(out);
      if (block.shown !== undefined) expect(out).toMatch(patternOf(block.shown));
    },
  );
});

it('CI walks the two lines of the README', () => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8');
  const steps = [...readme.matchAll(/npm ci && (npm \w+)/g)].map(([, step]) => step!);
  expect([
    walked.length,
    ...['npm ci', ...steps].map((step) => new RegExp(`^(walk|judged) ${step}$`, 'm').test(ci)),
  ]).toEqual([1, true, true, true]);
});

it('the README links every topic, and is a screen and a half of short lines', () => {
  expect(topics.filter(({ name, path }) => path !== undefined && !readme.includes(`[${name}](${path})`))).toEqual([]);
  expect(readme.split('\n').length).toBeLessThan(100);
  const prose = readme.replace(/^```[\s\S]*?^```$/gm, '').replace(/^\|.*$|^!.*$/gm, '');
  expect(prose.split('\n').filter((line) => line.replace(/\]\([^)]*\)/g, ']').length > 100)).toEqual([]);
});

it('the README begins with the pull request, and answers each question with a command', () => {
  expect([readme.match(/^## .*/gm)?.[0], typed.length]).toEqual(['## In the pull request', 8]);
});

// The others are blocks of a page.
it.each(typed.filter((text) => !seen.has(`${text}\n`)))('a command of the README runs: %s', async (text) => {
  printed.push(await runBlock({ language: 'sh', text, shown: undefined }));
});

it('the README shows what its first line ends with, as the same scenario prints it at faster cycles', () => {
  expect(walked[0]?.shown).toBeDefined();
  expect(printed.join('\n')).toMatch(patternOf(walked[0]?.shown ?? ''));
});

it('the picture of the README is drawn from the runs', () => {
  const drawn = execFileSync(process.execPath, ['test/moving-picture.mjs'], { cwd: root, encoding: 'utf8' });
  expect(drawn).toBe(textOf('reports/example/storm.svg'));
});

it.each(pages)('%s links to what is there', (path) => {
  const links = [...textOf(path).matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !/^https?:/.test(link) && !existsSync(join(root, dirname(path), link)))).toEqual([]);
});

it('the page of scenarios names every scenario with its question, every arrival, client and field', () => {
  const page = textOf('scenarios/README.md').replace(/ +\|/g, ' |');
  const questions = readdirSync(join(root, 'scenarios'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => {
      const { question } = parse(readFileSync(join(root, 'scenarios', name), 'utf8'));
      return `| [${name.replace('.yaml', '')}](${name}) | ${question} |`;
    });
  const fields = Object.keys(Scenario.properties).filter(
    (field) => !['name', 'start_cycle', 'warm_up'].includes(field),
  );
  const words = [...Object.keys(arrivalKinds), ...Object.keys(clientKinds), ...fields].map((word) => `\`${word}\``);
  expect([...questions, ...words].filter((part) => !page.includes(part))).toEqual([]);
});

const programs = readdirSync(join(root, 'scenarios/programs'));

it.each(programs)('the program %s has some 20 lines, and prints what its last comment says', async (name) => {
  const [code = '', shown = ''] = textOf(`scenarios/programs/${name}`).split(/\n\n(?=(?:\/\/ .*\n)+$)/);
  const how = name.endsWith('.test.mjs') ? '--test --test-reporter=tap' : '';
  const out = await bash(`"${process.execPath}" ${how} "${join(root, 'scenarios/programs', name)}"`);
  expect(out.replace(/ +$/gm, '')).toMatch(patternOf(shown.replace(/^\/\/ /gm, '')));
  expect(code.split('\n').length).toBeLessThanOrEqual(24);
});

it('the page of the library names every program', () => {
  const page = textOf('src/cli/topics/library.md');
  expect(programs.filter((name) => !page.includes(`| \`${name}\``))).toEqual([]);
});

const commands: Readonly<Record<string, string>> = {
  apache: 'access.log',
  azure: 'calls.csv',
  nasa: 'visits.tsv',
  nginx: 'counts.csv',
};

it.each(recordedLogs.filter(({ name }) => name in commands).map((log) => [commands[log.name]!, log] as const))(
  'the command of the page of logs for %s gives the known figures of such a log',
  async (name, { text, figures }) => {
    const known = `known ${name}`;
    writeFileSync(join(folder, known), text!);
    const command = new RegExp(`^weir (replay ${name}.*)$`, 'm').exec(textOf('src/cli/topics/logs.md'))![1]!;
    const words = command.split(' ').map((word) => (word === name ? known : word));
    const { out } = await weirHere([...words, '--within', '60', '--out', 'none'], {}, '', folder);
    expect(out).toMatch(new RegExp(`limited +${figures.limited.toLocaleString('en')} `));
    expect(out).toMatch(new RegExp(`entries into limiting +${figures.entries}\\n`));
  },
);

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

async function runBlock({ language, text }: Block): Promise<string> {
  if (language === 'sh') {
    // Another one for each block: one that was free when the first block ran may be somebody else's by now.
    const port = await freePort();
    const script = text
      .replace('--cycle-ms 100', '--cycle-ms 50')
      .replace('--budget 200', '--budget 60')
      .replace('=60..160:20', '=60..160:100')
      .replaceAll('8080', String((limited.address() as AddressInfo).port))
      .replaceAll('7770', String(port))
      .replace('weir serve ', `weir serve --port ${port} `);
    return bash(`export WEIR_URL=http://127.0.0.1:${port}\n${script}`);
  }
  writeFileSync(join(folder, 'example.mjs'), text);
  return bash(`"${process.execPath}" example.mjs`);
}

/** Runs a script to its end. A busy machine makes a live run invalid, which is honest, and no fault of the README: then at slower cycles. */
async function bash(script: string, attempts = 4): Promise<string> {
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

function patternOf(shown: string): RegExp {
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
